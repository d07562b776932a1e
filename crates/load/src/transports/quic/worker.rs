//! The state shared by a worker's tasks: queries, counts and the connector. All tasks run on one
//! thread. Not for: the tasks.

use super::connector::Connector;
use crate::counting::Tally;
use crate::gathering::runtime::WakeAccount;
use crate::names::QueryOrder;
use crate::plan::{LoadPacing, WorkerPlan};
use resolab_record::Failure;
use resolab_transport::clock::monotonic_ns;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::Notify;

/// A query due for sending.
#[derive(Debug, Clone, Copy)]
pub struct ScheduledQuery {
    /// The number of the queried name.
    pub index: u32,
    /// The planned send time. `None` in a closed loop: the send time is the planned time.
    pub since_ns: Option<u64>,
}

/// The state shared by the tasks of a worker.
pub struct Worker<P> {
    pub share: WorkerPlan,
    pub protocol: Rc<P>,
    pub connector: Connector,
    pub tally: RefCell<Tally>,
    pub wakes: Arc<WakeAccount>,
    pub start_ns: Cell<u64>,
    /// The failure of the last connection attempt; a timeout without any failure.
    pub connect_failure: Cell<Failure>,
    order: RefCell<QueryOrder>,
    left_count: Cell<u64>,
    /// The due, unsent queries of an open loop.
    due: RefCell<VecDeque<ScheduledQuery>>,
    due_changed: Notify,
    is_scheduled_out: Cell<bool>,
}

impl<P> Worker<P> {
    /// Creates the state before the first query.
    pub fn new(
        share: &WorkerPlan,
        protocol: P,
        connector: Connector,
        wakes: Arc<WakeAccount>,
    ) -> Self {
        Self {
            connector,
            protocol: Rc::new(protocol),
            tally: RefCell::new(Tally::new(
                share.plan.pace != LoadPacing::Closed,
                share.timeout_ns(),
            )),
            wakes,
            start_ns: Cell::new(0),
            connect_failure: Cell::new(Failure::QuicHandshakeTimeout),
            order: RefCell::new(share.plan.names.order(share.index, share.plan.threads)),
            left_count: Cell::new(share.count.unwrap_or(u64::MAX)),
            due: RefCell::default(),
            due_changed: Notify::new(),
            is_scheduled_out: Cell::new(false),
            share: share.clone(),
        }
    }

    /// Takes the next query of a schedule or a closed loop; `None` when no queries are left.
    pub fn take(&self, since_ns: Option<u64>) -> Option<ScheduledQuery> {
        let left = self.left_count.get().checked_sub(1)?;
        self.left_count.set(left);
        let index = self.order.borrow_mut().take();
        Some(ScheduledQuery { index, since_ns })
    }

    /// Returns the next query for a slot; waits in an open loop. `None` when no queries are left.
    pub async fn next(&self) -> Option<ScheduledQuery> {
        if self.share.plan.pace == LoadPacing::Closed {
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

    /// Hands a due query to the slots.
    pub fn push(&self, wanted: ScheduledQuery) {
        self.due.borrow_mut().push_back(wanted);
        self.due_changed.notify_one();
    }

    /// Marks the end of the schedule: no more queries become due.
    pub fn end_schedule(&self) {
        self.is_scheduled_out.set(true);
        self.due_changed.notify_waiters();
    }

    pub fn send_until_ns(&self) -> u64 {
        self.share.send_until_ns(self.start_ns.get())
    }
}
