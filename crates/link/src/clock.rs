//! The only clock of the link: `CLOCK_MONOTONIC` in nanoseconds, the same for every process of the
//! machine. Not for: models, which take time as an argument.

use nix::time::{ClockId, clock_gettime};

/// Returns the present time of `CLOCK_MONOTONIC`, in ns.
pub fn monotonic_ns() -> u64 {
    // The clock exists on every Linux; an error would mean a broken kernel interface, and 0 makes
    // every deadline look far away rather than passed.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| {
        now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
    })
}

/// Returns the present lead of the wall clock (`CLOCK_REALTIME`, since 1970) over the monotonic
/// clock, in ns. Takes the tightest of eight readings, each of the wall clock between two of the
/// monotonic clock.
pub fn wall_clock_offset_ns() -> u64 {
    let readings = (0..8).filter_map(|_| {
        let before_ns = monotonic_ns();
        let wall = clock_gettime(ClockId::CLOCK_REALTIME).ok()?;
        let width_ns = monotonic_ns().saturating_sub(before_ns);
        let wall_ns = wall.tv_sec() as u64 * 1_000_000_000 + wall.tv_nsec() as u64;
        Some((width_ns, wall_ns.wrapping_sub(before_ns + width_ns / 2)))
    });
    readings.min().map_or(0, |(_, offset_ns)| offset_ns)
}
