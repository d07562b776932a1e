//! Checks the resident memory of this process against the limit.
//!
//! For: the last limit, above the limits of single connections. Above this limit the edge refuses
//! new connections and stops reading long messages. Not for: the limits of one connection
//! (`limits`).

use crate::connections::counters::resident_bytes;
use resolab_transport::clock::monotonic_ns;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The maximum age of a check, in ns; asking the kernel takes some microseconds.
const PERIOD_NS: u64 = 100_000_000;
/// The number of bytes received within a period before the next check. A fast client sends hundreds
/// of megabytes in a period.
const STEP_BYTES: u64 = 1 << 20;

/// A limit on resident memory, checked from time to time.
#[derive(Debug)]
pub struct MemoryLimit {
    limit_bytes: u64,
    sampled_ns: AtomicU64,
    taken_bytes: AtomicU64,
    is_exceeded: AtomicBool,
}

impl MemoryLimit {
    /// Makes a limit without a check so far.
    pub fn new(limit_bytes: u64) -> Self {
        Self {
            limit_bytes,
            sampled_ns: AtomicU64::new(0),
            taken_bytes: AtomicU64::new(0),
            is_exceeded: AtomicBool::new(false),
        }
    }

    /// Returns true when the memory exceeds the limit, by a check no older than a period and a
    /// step. The caller passes the number of bytes to be read next if the result is false.
    pub fn is_exceeded(&self, more_bytes: usize) -> bool {
        self.check_at(monotonic_ns(), more_bytes as u64, resident_bytes)
    }

    fn check_at(&self, now_ns: u64, more_bytes: u64, resident_bytes: impl FnOnce() -> u64) -> bool {
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
        assert!(!limit.check_at(1, 0, || 1_000));
        assert!(
            !limit.check_at(PERIOD_NS, 0, || 1_001),
            "the first answer still holds"
        );
        assert!(limit.check_at(PERIOD_NS + 1, 0, || 1_001));
        assert!(
            limit.check_at(PERIOD_NS + 2, 0, || 0),
            "and so does the second"
        );
        assert!(!limit.check_at(2 * PERIOD_NS + 1, 0, || 0));
    }

    #[test]
    fn it_is_looked_at_once_a_step() {
        let limit = MemoryLimit::new(1_000);
        assert!(!limit.check_at(1, STEP_BYTES / 2, || 0));
        assert!(
            !limit.check_at(2, STEP_BYTES, || 1_001),
            "half a step was taken"
        );
        assert!(limit.check_at(3, 1, || 1_001), "more than one was");
        assert!(limit.check_at(4, 1, || 0), "and none since");
    }

    #[test]
    fn the_process_itself_is_measured() {
        assert!(MemoryLimit::new(1).is_exceeded(0));
        assert!(!MemoryLimit::new(u64::MAX).is_exceeded(0));
    }
}
