//! The closed and the open loop: deciding when to send queries, over any carrier. Not for: sending
//! queries; QUIC has separate loops, made of tasks.

pub mod carrier;
pub mod standstill;

mod closed;
mod open;
mod supply;

use crate::counting::{LiveCounters, Tally};
use crate::error::LoadError;
use crate::plan::{LoadPacing, WorkerPlan};
use carrier::ConnectionSet;

/// Runs from `start_ns` until the supply is used up and every query has ended, or until the run
/// stands still.
pub fn run(
    worker: &WorkerPlan,
    start_ns: u64,
    carrier: &mut impl ConnectionSet,
    live: &LiveCounters,
    tally: &mut Tally,
) -> Result<(), LoadError> {
    match worker.plan.pace {
        LoadPacing::Closed => closed::run(worker, start_ns, carrier, live, tally),
        LoadPacing::Open { .. } => open::run(worker, start_ns, carrier, live, tally),
    }
}
