//! The engine of DNS over TCP (RFC 7766).

use crate::engine::{LiveCounters, LoadError};
use crate::framed;
use crate::plan::WorkerPlan;
use crate::tally::Tally;

/// Carry out a worker's share.
pub fn run(worker: &WorkerPlan, live: &LiveCounters) -> Result<Tally, LoadError> {
    framed::run(worker, None, live)
}
