//! The engine of DNS over TCP (RFC 7766).

use crate::counting::{LiveCounters, Tally};
use crate::error::LoadError;
use crate::plan::WorkerPlan;
use crate::transports::framed;

/// Runs a worker's share of the load.
pub fn run(worker: &WorkerPlan, live: &LiveCounters) -> Result<Tally, LoadError> {
    framed::run(worker, None, live)
}
