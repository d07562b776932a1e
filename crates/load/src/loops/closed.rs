//! The closed loop: each ended query makes room for another query. Not for: schedules; see `open`.

use crate::counting::{LiveCounters, Tally};
use crate::error::LoadError;
use crate::gathering::{GatheringState, gathering_limit};
use crate::loops::carrier::{BATCH_MAX, ConnectionSet};
use crate::loops::standstill::Standstill;
use crate::loops::supply::QuerySource;
use crate::plan::WorkerPlan;
use crate::timing::waiting;
use resolab_transport::clock::monotonic_ns;

/// The longest interval between checks of timeouts and of the stop flag.
const TEND_INTERVAL_NS: u64 = 20_000_000;

/// Runs from `start_ns` until the supply is used up and every query has ended, or until the run
/// stands still.
pub fn run(
    worker: &WorkerPlan,
    start_ns: u64,
    carrier: &mut impl ConnectionSet,
    live: &LiveCounters,
    tally: &mut Tally,
) -> Result<(), LoadError> {
    let mut supply = QuerySource::new(worker, start_ns);
    let limit = gathering_limit(worker.plan.resolver.transport);
    let mut gatherer = GatheringState::new(worker.plan.gathering, limit, worker.outstanding);
    let mut batch = Vec::with_capacity(BATCH_MAX);
    let mut standstill = Standstill::new(worker, start_ns);
    waiting::sleep_until(start_ns);
    loop {
        let now_ns = monotonic_ns();
        let mut has_room = false;
        for connection in 0..carrier.connection_count() {
            let room = carrier.room(connection).min(BATCH_MAX);
            if room > 0 {
                has_room = true;
                supply.fill(&mut batch, room, now_ns);
                carrier.send(connection, &batch, tally)?;
            }
        }
        live.publish(tally);
        if supply.is_used_up(now_ns) && carrier.outstanding() == 0 {
            return Ok(());
        }
        if standstill.is_final(has_room || carrier.outstanding() > 0, now_ns) {
            tally.give_up(carrier.obstacle());
            return Ok(());
        }
        if live.is_stopped() {
            carrier.cut_off(tally);
            return Ok(());
        }
        let wait_ns = if worker.plan.spin {
            0
        } else {
            TEND_INTERVAL_NS
        };
        if carrier.wait(wait_ns)? {
            receive(carrier, &mut gatherer, tally)?;
        }
        carrier.tend(now_ns, tally)?;
    }
}

fn receive(
    carrier: &mut impl ConnectionSet,
    gatherer: &mut GatheringState,
    tally: &mut Tally,
) -> Result<(), LoadError> {
    let wait_ns = gatherer.wait_ns();
    if wait_ns > 0 {
        waiting::sleep_for(wait_ns);
        carrier.wait(0)?;
    }
    let (count, sum_ns) = (tally.completed_count, tally.response_time_sum_ns);
    carrier.receive(tally)?;
    let count = tally.completed_count - count;
    if count > 0 {
        gatherer.note_wake(count, tally.response_time_sum_ns - sum_ns);
        tally.note_wake(count, wait_ns);
    }
    Ok(())
}
