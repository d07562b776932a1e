//! The engine of DNS over TLS (RFC 7858). A query is a TLS record of its own, as from as many
//! stubs, but those that are due together leave in one system call.

use crate::counting::{LiveCounters, Tally};
use crate::error::LoadError;
use crate::plan::WorkerPlan;
use crate::transports::framed;

/// Carry out a worker's share.
pub fn run(worker: &WorkerPlan, live: &LiveCounters) -> Result<Tally, LoadError> {
    let tls = worker.plan.tls.as_ref();
    let tls = tls.ok_or(LoadError::Unsupported("load DNS over TLS without TLS"))?;
    framed::run(worker, Some(tls), live)
}
