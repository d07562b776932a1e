//! A worker's counts, readable by other threads during the run, and the flag to stop the worker.
//! Not for: the result; see the tally.

use super::tally::Tally;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The counts of a running worker. Only the worker writes the counts; any thread may read them.
#[derive(Debug, Default)]
pub struct LiveCounters {
    sent: AtomicU64,
    completed: AtomicU64,
    lost: AtomicU64,
    interrupted: AtomicU64,
    failed: AtomicU64,
    response_time_sum_ns: AtomicU64,
    stopped: Arc<AtomicBool>,
}

/// A reading of live counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LiveCounts {
    /// The number of queries sent.
    pub sent: u64,
    /// The number of queries answered in time.
    pub completed: u64,
    /// The number of queries without an answer in time.
    pub lost: u64,
    /// The number of queries cut off.
    pub interrupted: u64,
    /// The number of queries failed otherwise.
    pub failed: u64,
    /// The sum of the response times of all answered queries.
    pub response_time_sum_ns: u64,
}

impl LiveCounters {
    /// Creates the counters of a worker. The worker ends when `stopped` becomes true.
    pub fn new(stopped: Arc<AtomicBool>) -> Self {
        Self {
            stopped,
            ..Self::default()
        }
    }

    /// Returns true when the worker must end now, without waiting for answers.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Publishes the tally to other threads; cheap enough for every pass of a loop.
    pub fn publish(&self, tally: &Tally) {
        for (counter, count) in [
            (&self.sent, tally.sent_count),
            (&self.completed, tally.completed_count),
            (&self.lost, tally.lost_count),
            (&self.interrupted, tally.interrupted_count),
            (&self.failed, tally.failed_count),
            (&self.response_time_sum_ns, tally.response_time_sum_ns),
        ] {
            counter.store(count, Ordering::Relaxed);
        }
    }

    /// Returns the current counts.
    pub fn read(&self) -> LiveCounts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LiveCounts {
            sent: of(&self.sent),
            completed: of(&self.completed),
            lost: of(&self.lost),
            interrupted: of(&self.interrupted),
            failed: of(&self.failed),
            response_time_sum_ns: of(&self.response_time_sum_ns),
        }
    }
}
