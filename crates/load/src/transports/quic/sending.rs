//! When a query leaves: once it has a stream, and not again where it is asked again. Until then a
//! query that is wanted is late, as it is on every other transport, and its exchange has not begun.
//! Not for: asking it (`slot`).

use super::worker::{Wanted, Worker};
use resolab_transport::clock::monotonic_ns;
use std::cell::Cell;
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// One query on its way out.
pub struct Sending<'a, P> {
    worker: &'a Worker<P>,
    wanted: Wanted,
    sent_ns: Cell<Option<u64>>,
}

impl<'a, P> Sending<'a, P> {
    /// Not yet sent.
    pub fn new(worker: &'a Worker<P>, wanted: Wanted) -> Self {
        Self {
            worker,
            wanted,
            sent_ns: Cell::new(None),
        }
    }

    /// Number of its name.
    pub fn index(&self) -> u32 {
        self.wanted.index
    }

    /// It has a stream: it leaves now, if it has not before.
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
            .sent(wanted_ns, now_ns, query_bytes);
        now_ns
    }

    /// When it was wanted and sent. One that never left counts as sent, without a byte, where it
    /// was given up: that late it was.
    pub fn instants(&self) -> (u64, u64) {
        let sent_ns = self.sent_ns.get().unwrap_or_else(|| self.count(0));
        (self.wanted.since_ns.unwrap_or(sent_ns), sent_ns)
    }

    /// Wait for its answer for as long as a query may take from when it left, and as long before
    /// for a stream to leave on; `None` when that is over.
    pub async fn within<T>(
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
                    let left = self.left_of(patience)?;
                    deadline.as_mut().reset(Instant::now() + left);
                }
            }
        }
    }

    /// What is left of a query's time; `None`: nothing, or it has not left.
    fn left_of(&self, patience: Duration) -> Option<Duration> {
        let since = Duration::from_nanos(monotonic_ns().saturating_sub(self.sent_ns.get()?));
        patience.checked_sub(since).filter(|left| !left.is_zero())
    }
}
