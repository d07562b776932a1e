//! The run of a worker: connects, starts slots and pacer, and ends after the last query. Not for:
//! the shared state (`worker`).

use super::connection_slot::{self, LoadConnectionSlot};
use super::connector::Connector;
use super::protocol::QuicProtocol;
use super::worker::Worker;
use super::{pacer, slot};
use crate::counting::{LiveCounters, Tally};
use crate::error::LoadError;
use crate::gathering::{
    GatheringRule, GatheringState, gathering_limit, runtime as gathering_runtime,
};
use crate::loops::standstill::Standstill;
use crate::plan::{LoadPacing, WorkerPlan};
use crate::timing::waiting;
use resolab_transport::clock::monotonic_ns;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::{JoinSet, spawn_local};
use tokio::time::timeout;

/// The interval for publishing counts and checking the stop flag.
const WATCH_INTERVAL: Duration = Duration::from_millis(20);
/// The time limit for closing; the closing packet needs time to leave.
const CLOSE_LIMIT: Duration = Duration::from_millis(50);

/// Runs a worker's share over QUIC.
pub fn run<P: QuicProtocol>(
    share: &WorkerPlan,
    live: &LiveCounters,
    protocol: P,
) -> Result<Tally, LoadError> {
    let Some(tls) = &share.plan.tls else {
        return Err(LoadError::Unsupported("use QUIC without TLS"));
    };
    let limit = gathering_limit(share.plan.resolver.transport);
    let gathering = match share.plan.pace {
        LoadPacing::Closed => share.plan.gathering,
        // It does not wait for answers at all.
        LoadPacing::Open { .. } => GatheringRule::Fixed(Duration::ZERO),
    };
    let gatherer = GatheringState::new(gathering, limit, share.outstanding);
    let (runtime, wakes) =
        gathering_runtime::build(gatherer).map_err(LoadError::kernel("start a tokio runtime"))?;
    let connector = Connector::new(share, tls)?;
    let worker = Rc::new(Worker::new(share, protocol, connector, wakes));
    runtime.block_on(drive(&worker, live))?;
    drop(runtime);
    let mut tally = worker.tally.borrow().clone();
    worker.wakes.add_to(&mut tally);
    Ok(tally)
}

async fn drive<P: QuicProtocol>(
    worker: &Rc<Worker<P>>,
    live: &LiveCounters,
) -> Result<(), LoadError> {
    let mut lanes = Vec::new();
    for _ in 0..worker.share.connections.max(1) {
        let connection_slot = LoadConnectionSlot::open(worker).await;
        let resolver = worker.share.plan.resolver_address;
        lanes.push(connection_slot.map_err(|error| error.into_load_error(resolver))?);
    }
    let start_ns = worker.share.gate.arrive().ok_or(LoadError::CalledOff)?;
    worker.start_ns.set(start_ns);
    waiting::sleep_until(start_ns);
    let keepers: Vec<_> = lanes
        .iter()
        .map(|connection_slot| {
            spawn_local(connection_slot::keep(
                Rc::clone(worker),
                Rc::clone(connection_slot),
            ))
        })
        .collect();
    let mut tasks: JoinSet<Result<(), LoadError>> = JoinSet::new();
    for (_, connection_slot) in (0..worker.share.outstanding).zip(lanes.iter().cycle()) {
        let slot = slot::run(Rc::clone(worker), Rc::clone(connection_slot));
        tasks.spawn_local(async {
            slot.await;
            Ok(())
        });
    }
    if let Some(schedule) = worker.share.schedule(start_ns) {
        let timer = pacer::timer()?;
        tasks.spawn_local(pacer::run(Rc::clone(worker), schedule, timer));
    }
    let ended = wait_for_end(worker, live, &lanes, &mut tasks).await;
    // What follows is no part of the run.
    worker.tally.borrow_mut().note_end(monotonic_ns());
    for keeper in keepers {
        keeper.abort();
    }
    close_all(&lanes).await;
    ended
}

/// Closes all connections at once, and lets the closing packets leave.
async fn close_all<P: QuicProtocol>(lanes: &[Rc<LoadConnectionSlot<P>>]) {
    for connection_slot in lanes {
        connection_slot.close();
    }
    let left = async {
        for connection_slot in lanes {
            connection_slot.wait_for_close().await;
        }
    };
    let _ = timeout(CLOSE_LIMIT, left).await;
}

/// Waits until every task has ended, the run stands still, or the run is stopped. The queries still
/// in flight are cut off.
async fn wait_for_end<P: QuicProtocol>(
    worker: &Worker<P>,
    live: &LiveCounters,
    lanes: &[Rc<LoadConnectionSlot<P>>],
    tasks: &mut JoinSet<Result<(), LoadError>>,
) -> Result<(), LoadError> {
    let mut standstill = Standstill::new(&worker.share, worker.start_ns.get());
    let mut watch = tokio::time::interval(WATCH_INTERVAL);
    loop {
        tokio::select! {
            ended = tasks.join_next() => match ended {
                None => return Ok(()),
                Some(Err(error)) if error.is_panic() => {
                    std::panic::resume_unwind(error.into_panic());
                }
                Some(Ok(Err(error))) => {
                    tasks.shutdown().await;
                    return Err(error);
                }
                Some(Ok(Ok(())) | Err(_)) => {}
            },
            _ = watch.tick() => {
                live.publish(&worker.tally.borrow());
                let is_under_way = worker.tally.borrow().outstanding_count() > 0;
                let goes_on = is_under_way || lanes.iter().any(|connection_slot| connection_slot.is_usable());
                if standstill.is_final(goes_on, monotonic_ns()) {
                    let failure = worker.connect_failure.get();
                    worker.tally.borrow_mut().give_up(failure);
                } else if !live.is_stopped() {
                    continue;
                }
                tasks.shutdown().await;
                let mut tally = worker.tally.borrow_mut();
                let count = tally.outstanding_count();
                tally.cut_off(count);
                return Ok(());
            }
        }
    }
}
