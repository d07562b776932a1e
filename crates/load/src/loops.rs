//! When queries are sent: in a closed or an open loop, over whatever carries them. Not for:
//! sending them; QUIC has loops of its own, of tasks.

pub mod carrier;
pub mod standstill;

mod closed;
mod open;
mod supply;

use crate::counting::{LiveCounters, Tally};
use crate::error::LoadError;
use crate::plan::{Pace, WorkerPlan};
use carrier::Carrier;

/// Run from `start_ns` until the supply is used up and everything has come to an end, or until
/// nothing goes on any more.
pub fn run(
    worker: &WorkerPlan,
    start_ns: u64,
    carrier: &mut impl Carrier,
    live: &LiveCounters,
    tally: &mut Tally,
) -> Result<(), LoadError> {
    match worker.plan.pace {
        Pace::Closed => closed::run(worker, start_ns, carrier, live, tally),
        Pace::Open { .. } => open::run(worker, start_ns, carrier, live, tally),
    }
}
