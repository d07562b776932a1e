//! One worker: connects, starts slots and pacer, ends when every query has. What slots share
//! stands here; they all run on one thread.

use super::connector::Connector;
use super::lane::{self, Lane};
use super::protocol::QuicProtocol;
use super::{pacer, slot};
use crate::engine::{LiveCounters, LoadError};
use crate::gathering::Gatherer;
use crate::gathering_runtime::{self, Wakes};
use crate::names::Order;
use crate::plan::{Pace, WorkerPlan, gathering_limit};
use crate::standstill::Standstill;
use crate::tally::Tally;
use crate::waiting;
use resolab_record::Failure;
use resolab_transport::clock::monotonic_ns;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::{JoinSet, spawn_local};

/// How often counts are shown and the wish to stop is looked at.
const WATCH_INTERVAL: Duration = Duration::from_millis(20);
/// What closing may take: the packet that says so must leave.
const CLOSE_LIMIT: Duration = Duration::from_millis(50);

/// A query that is due.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Which one.
    pub index: u32,
    /// Since when; `None` in a closed loop, where it is wanted when it is sent.
    pub since_ns: Option<u64>,
}

/// What the tasks of a worker share.
pub struct Worker<P> {
    pub share: WorkerPlan,
    pub protocol: Rc<P>,
    pub connector: Connector,
    pub tally: RefCell<Tally>,
    pub wakes: Arc<Wakes>,
    pub start_ns: Cell<u64>,
    /// Why the last attempt to connect failed; unless one did, they take too long.
    pub connect_failure: Cell<Failure>,
    order: RefCell<Order>,
    left_count: Cell<u64>,
    /// Of an open loop: due and not yet sent.
    due: RefCell<VecDeque<Wanted>>,
    due_changed: Notify,
    is_scheduled_out: Cell<bool>,
}

impl<P> Worker<P> {
    /// The next query of a schedule or a closed loop is to be asked now; `None` when there are no
    /// more.
    pub fn take(&self, since_ns: Option<u64>) -> Option<Wanted> {
        let left = self.left_count.get().checked_sub(1)?;
        self.left_count.set(left);
        let index = self.order.borrow_mut().take();
        Some(Wanted { index, since_ns })
    }

    /// The next query for a slot; waits in an open loop. `None`: no more.
    pub async fn next(&self) -> Option<Wanted> {
        if self.share.plan.pace == Pace::Closed {
            let is_over = monotonic_ns() >= self.send_until_ns();
            return if is_over { None } else { self.take(None) };
        }
        loop {
            let wanted = self.due.borrow_mut().pop_front();
            if wanted.is_some() || self.is_scheduled_out.get() {
                return wanted;
            }
            self.due_changed.notified().await;
        }
    }

    /// Hand a due query to the slots.
    pub fn push(&self, wanted: Wanted) {
        self.due.borrow_mut().push_back(wanted);
        self.due_changed.notify_one();
    }

    /// Nothing more will be due. What time has ended before it could be sent is not sent any more.
    pub fn end_schedule(&self) {
        if self.share.count.is_none() {
            self.due.borrow_mut().clear();
        }
        self.is_scheduled_out.set(true);
        self.due_changed.notify_waiters();
    }

    pub fn send_until_ns(&self) -> u64 {
        self.share.send_until_ns(self.start_ns.get())
    }
}

/// Carry out a worker's share over QUIC.
pub fn run<P: QuicProtocol>(
    share: &WorkerPlan,
    live: &LiveCounters,
    protocol: P,
) -> Result<Tally, LoadError> {
    let Some(tls) = &share.plan.tls else {
        return Err(LoadError::Unsupported("use QUIC without TLS"));
    };
    let limit = gathering_limit(share.plan.resolver.transport);
    let gatherer = Gatherer::new(share.plan.gathering, limit, share.outstanding);
    let (runtime, wakes) =
        gathering_runtime::build(gatherer).map_err(LoadError::kernel("start a tokio runtime"))?;
    let worker = Rc::new(Worker {
        connector: Connector::new(share, tls)?,
        protocol: Rc::new(protocol),
        tally: RefCell::new(Tally::new(share.plan.pace != Pace::Closed)),
        wakes,
        start_ns: Cell::new(0),
        connect_failure: Cell::new(Failure::QuicHandshakeTimeout),
        order: RefCell::new(share.plan.names.order(share.index, share.plan.threads)),
        left_count: Cell::new(share.count.unwrap_or(u64::MAX)),
        due: RefCell::default(),
        due_changed: Notify::new(),
        is_scheduled_out: Cell::new(false),
        share: share.clone(),
    });
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
        let lane = Lane::open(worker).await;
        lanes.push(lane.map_err(|error| LoadError::Connect {
            resolver: worker.share.plan.resolver_address,
            reason: error.reason,
        })?);
    }
    let start_ns = worker.share.gate.arrive().ok_or(LoadError::CalledOff)?;
    worker.start_ns.set(start_ns);
    waiting::sleep_until(start_ns);
    let keepers: Vec<_> = lanes
        .iter()
        .map(|lane| spawn_local(lane::keep(Rc::clone(worker), Rc::clone(lane))))
        .collect();
    let mut tasks = JoinSet::new();
    for (_, lane) in (0..worker.share.outstanding).zip(lanes.iter().cycle()) {
        tasks.spawn_local(slot::run(Rc::clone(worker), Rc::clone(lane)));
    }
    if let Some(schedule) = worker.share.schedule(start_ns) {
        let timer = pacer::timer()?;
        tasks.spawn_local(pacer::run(Rc::clone(worker), schedule, timer));
    }
    wait_for_end(worker, live, &lanes, &mut tasks).await;
    for keeper in keepers {
        keeper.abort();
    }
    for lane in lanes {
        lane.close(P::CLOSE_CODE, CLOSE_LIMIT).await;
    }
    Ok(())
}

/// Until every task has ended, or nothing goes on any more, or the run is stopped: then what is
/// under way is cut off.
async fn wait_for_end<P: QuicProtocol>(
    worker: &Worker<P>,
    live: &LiveCounters,
    lanes: &[Rc<Lane<P>>],
    tasks: &mut JoinSet<()>,
) {
    let mut standstill = Standstill::new(&worker.share, worker.start_ns.get());
    let mut watch = tokio::time::interval(WATCH_INTERVAL);
    loop {
        tokio::select! {
            ended = tasks.join_next() => match ended {
                None => return,
                Some(Err(error)) if error.is_panic() => {
                    std::panic::resume_unwind(error.into_panic());
                }
                Some(_) => {}
            },
            _ = watch.tick() => {
                live.publish(&worker.tally.borrow());
                let is_under_way = worker.tally.borrow().outstanding_count() > 0;
                let goes_on = is_under_way || lanes.iter().any(|lane| lane.is_usable());
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
                return;
            }
        }
    }
}
