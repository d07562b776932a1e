//! The one clock of the link: `CLOCK_MONOTONIC` in nanoseconds, the same for every process of the
//! machine. Not for: models, which take time as an argument.

use nix::time::{ClockId, clock_gettime};

/// Now.
pub fn monotonic_ns() -> u64 {
    // The clock exists on every Linux; an error would mean a broken kernel interface, and 0 makes
    // every deadline look far away rather than passed.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| {
        now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
    })
}
