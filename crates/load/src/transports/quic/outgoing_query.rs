//! The send time of a query: the opening of the first stream, also when sent again. Until then, a
//! due query is late, as on every other transport. The exchange has not begun yet. Not for: the
//! exchange (`slot`).

use super::worker::{ScheduledQuery, Worker};
use resolab_transport::clock::monotonic_ns;
use std::cell::Cell;
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A query on the way out.
pub struct OutgoingQuery<'a, P> {
    worker: &'a Worker<P>,
    wanted: ScheduledQuery,
    sent_ns: Cell<Option<u64>>,
}

impl<'a, P> OutgoingQuery<'a, P> {
    /// Creates the state of an unsent query.
    pub fn new(worker: &'a Worker<P>, wanted: ScheduledQuery) -> Self {
        Self {
            worker,
            wanted,
            sent_ns: Cell::new(None),
        }
    }

    /// Returns the number of the queried name.
    pub fn index(&self) -> u32 {
        self.wanted.index
    }

    /// Records the send time when the first stream opens; later calls have no effect.
    pub fn leaves(&self) {
        if self.sent_ns.get().is_none() {
            let names = &self.worker.share.plan.names;
            self.count(names.get(self.wanted.index).message.len());
        }
    }

    fn count(&self, query_bytes: usize) -> u64 {
        let now_ns = monotonic_ns();
        self.sent_ns.set(Some(now_ns));
        let wanted_ns = self.wanted.since_ns.unwrap_or(now_ns);
        self.worker
            .tally
            .borrow_mut()
            .note_sent(wanted_ns, now_ns, query_bytes);
        now_ns
    }

    /// Returns the planned and the actual send time. A query without a stream counts as sent
    /// without bytes, at the time of giving up. The lateness includes this wait.
    pub fn instants(&self) -> (u64, u64) {
        let sent_ns = self.sent_ns.get().unwrap_or_else(|| self.count(0));
        (self.wanted.since_ns.unwrap_or(sent_ns), sent_ns)
    }

    /// Waits for the answer for at most `patience` after the send time. The wait for a stream
    /// before has the same limit. Returns `None` after a timeout.
    pub async fn wait_within<T>(
        &self,
        patience: Duration,
        answer: impl Future<Output = T>,
    ) -> Option<T> {
        let mut answer = pin!(answer);
        let mut deadline = pin!(sleep(patience));
        loop {
            tokio::select! {
                biased;
                result = &mut answer => return Some(result),
                () = &mut deadline => {
                    let left = self.remaining_time(patience)?;
                    deadline.as_mut().reset(Instant::now() + left);
                }
            }
        }
    }

    /// Returns the rest of a query's time; `None` after the limit, or before sending.
    fn remaining_time(&self, patience: Duration) -> Option<Duration> {
        let since = Duration::from_nanos(monotonic_ns().saturating_sub(self.sent_ns.get()?));
        patience.checked_sub(since).filter(|left| !left.is_zero())
    }
}
