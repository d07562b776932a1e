//! Whether this process holds more memory than it may.
//!
//! For: the last bound, above those of single connections: while it is exceeded nobody new is taken
//! and no long message is read to its end. Not for: the limits of one connection (`limits`).

use crate::connections::tallies::resident_bytes;
use resolab_transport::clock::monotonic_ns;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How old an answer may be: asking the kernel takes some microseconds.
const PERIOD_NS: u64 = 100_000_000;
/// How much may come within a period before the kernel is asked again: a fast client sends hundreds
/// of megabytes in one.
const STEP_BYTES: u64 = 1 << 20;

/// A bound on resident memory, looked at now and then.
#[derive(Debug)]
pub struct MemoryLimit {
    limit_bytes: u64,
    sampled_ns: AtomicU64,
    taken_bytes: AtomicU64,
    is_exceeded: AtomicBool,
}

impl MemoryLimit {
    /// Not looked at yet.
    pub fn new(limit_bytes: u64) -> Self {
        Self {
            limit_bytes,
            sampled_ns: AtomicU64::new(0),
            taken_bytes: AtomicU64::new(0),
            is_exceeded: AtomicBool::new(false),
        }
    }

    /// Whether it is exceeded now, or was less than a period and a step ago. Whoever asks says how
    /// many bytes are to be taken in if it is not.
    pub fn is_exceeded(&self, more_bytes: usize) -> bool {
        self.at(monotonic_ns(), more_bytes as u64, resident_bytes)
    }

    fn at(&self, now_ns: u64, more_bytes: u64, resident_bytes: impl FnOnce() -> u64) -> bool {
        let before = self.sampled_ns.load(Ordering::Relaxed);
        let taken = self.taken_bytes.fetch_add(more_bytes, Ordering::Relaxed);
        let is_old = before == 0 || now_ns.saturating_sub(before) >= PERIOD_NS;
        let exchange = |next| {
            self.sampled_ns
                .compare_exchange(before, next, Ordering::Relaxed, Ordering::Relaxed)
        };
        // One thread looks, the others use what it finds.
        if (is_old || taken >= STEP_BYTES) && exchange(now_ns).is_ok() {
            self.taken_bytes.store(0, Ordering::Relaxed);
            let is_exceeded = resident_bytes() > self.limit_bytes;
            self.is_exceeded.store(is_exceeded, Ordering::Relaxed);
        }
        self.is_exceeded.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_looked_at_once_a_period() {
        let limit = MemoryLimit::new(1_000);
        assert!(!limit.at(1, 0, || 1_000));
        assert!(
            !limit.at(PERIOD_NS, 0, || 1_001),
            "the first answer still holds"
        );
        assert!(limit.at(PERIOD_NS + 1, 0, || 1_001));
        assert!(limit.at(PERIOD_NS + 2, 0, || 0), "and so does the second");
        assert!(!limit.at(2 * PERIOD_NS + 1, 0, || 0));
    }

    #[test]
    fn it_is_looked_at_once_a_step() {
        let limit = MemoryLimit::new(1_000);
        assert!(!limit.at(1, STEP_BYTES / 2, || 0));
        assert!(!limit.at(2, STEP_BYTES, || 1_001), "half a step was taken");
        assert!(limit.at(3, 1, || 1_001), "more than one was");
        assert!(limit.at(4, 1, || 0), "and none since");
    }

    #[test]
    fn the_process_itself_is_measured() {
        assert!(MemoryLimit::new(1).is_exceeded(0));
        assert!(!MemoryLimit::new(u64::MAX).is_exceeded(0));
    }
}
