//! The one clock: `CLOCK_MONOTONIC` in nanoseconds, the same for every process of a machine.
//! Not for wall time.

use nix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC` now, nanoseconds.
#[must_use]
pub fn monotonic_ns() -> u64 {
    // CLOCK_MONOTONIC always exists on Linux; a failing call could only mean a broken kernel.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| {
        now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
    })
}
