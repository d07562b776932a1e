//! A worker's counts for others to read while it runs, and the wish that it stop. Not for: the
//! result, which is the tally.

use super::tally::Tally;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What is known of a worker while it runs. It alone writes the counts, anybody may read them.
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
    /// Queries sent.
    pub sent: u64,
    /// Answered in time.
    pub completed: u64,
    /// No answer in time.
    pub lost: u64,
    /// Cut off.
    pub interrupted: u64,
    /// Failed otherwise.
    pub failed: u64,
    /// Sum of what the answered ones took.
    pub response_time_sum_ns: u64,
}

impl LiveCounters {
    /// Counters of a worker that ends when `stopped` becomes true.
    pub fn new(stopped: Arc<AtomicBool>) -> Self {
        Self {
            stopped,
            ..Self::default()
        }
    }

    /// Whether to end now, without waiting for answers.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Let others see the tally; cheap enough for every pass of a loop.
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

    /// The counts now.
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
