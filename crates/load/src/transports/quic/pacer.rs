//! Hands queries to the slots when due. Not for: the due times (`schedule`).

use super::protocol::QuicProtocol;
use super::worker::Worker;
use crate::error::LoadError;
use crate::plan::LoadPacing;
use crate::timing::schedule::Schedule;
use resolab_transport::clock::monotonic_ns;
use resolab_transport::exact_timer::ExactTimer;
use std::rc::Rc;
use tokio::task::yield_now;

/// The highest rate with a wake for each query; above, queries leave in ticks.
const RATE_OF_SINGLE_SENDS_PER_S: f64 = 20_000.0;
const TICK_NS: u64 = 50_000;

/// Creates the timer of a pacer.
pub fn timer() -> Result<ExactTimer, LoadError> {
    ExactTimer::new().map_err(LoadError::kernel("make a timer"))
}

/// Follows the schedule to the end. Every scheduled query is sent, however late.
pub async fn run<P: QuicProtocol>(
    worker: Rc<Worker<P>>,
    mut schedule: Schedule,
    timer: ExactTimer,
) -> Result<(), LoadError> {
    let tick_ns = tick_ns(&worker);
    let until_ns = worker.send_until_ns();
    let (mut is_left, mut tick_due_ns) = (true, 0);
    while is_left && schedule.next_ns() < until_ns {
        let wake_ns = schedule.next_ns().max(tick_due_ns);
        if worker.share.plan.spin {
            while monotonic_ns() < wake_ns {
                yield_now().await;
            }
        } else {
            let slept = timer.sleep_until(wake_ns).await;
            slept.map_err(LoadError::kernel("wait on a timer"))?;
        }
        let now_ns = monotonic_ns();
        while is_left && schedule.next_ns() <= now_ns.min(until_ns - 1) {
            match worker.take(Some(schedule.next_ns())) {
                Some(wanted) => worker.push(wanted),
                None => is_left = false,
            }
            schedule.advance();
        }
        tick_due_ns = wake_ns + tick_ns;
        // When behind, the timer does not wait: let the slots send.
        yield_now().await;
    }
    worker.end_schedule();
    Ok(())
}

fn tick_ns<P>(worker: &Worker<P>) -> u64 {
    let plan = &worker.share.plan;
    let rate_per_s = match plan.pace {
        LoadPacing::Open { rate_per_s, .. } => rate_per_s / f64::from(plan.threads),
        LoadPacing::Closed => 0.0,
    };
    if rate_per_s > RATE_OF_SINGLE_SENDS_PER_S {
        TICK_NS
    } else {
        0
    }
}
