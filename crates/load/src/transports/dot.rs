//! The engine of DNS over TLS (RFC 7858). Each query is a separate TLS record, as from separate
//! stubs. Queries due together leave in one system call.

use crate::counting::{LiveCounters, Tally};
use crate::error::LoadError;
use crate::plan::WorkerPlan;
use crate::transports::framed;

/// Runs a worker's share of the load.
pub fn run(worker: &WorkerPlan, live: &LiveCounters) -> Result<Tally, LoadError> {
    let tls = worker.plan.tls.as_ref();
    let tls = tls.ok_or(LoadError::Unsupported("load DNS over TLS without TLS"))?;
    framed::run(worker, Some(tls), live)
}
