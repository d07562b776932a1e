//! The one clock: `CLOCK_MONOTONIC` in nanoseconds, the same for every process of a machine.
//! Wall time only to bring the kernel's stamps, which have it, to that clock.

use nix::time::{ClockId, clock_gettime};

/// Pairs of readings of which the tightest counts: one that was interrupted is some microseconds
/// wide, the others well below 100 ns.
const PAIR_COUNT: u32 = 5;

/// `CLOCK_MONOTONIC` now, nanoseconds.
#[must_use]
pub fn monotonic_ns() -> u64 {
    // CLOCK_MONOTONIC always exists on Linux; a failing call could only mean a broken kernel.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| {
        now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
    })
}

/// `CLOCK_REALTIME` now, nanoseconds.
#[must_use]
pub fn wall_ns() -> i64 {
    clock_gettime(ClockId::CLOCK_REALTIME)
        .map_or(0, |now| now.tv_sec() * 1_000_000_000 + now.tv_nsec())
}

/// How far `CLOCK_REALTIME` is ahead of `CLOCK_MONOTONIC` at this moment. Both tick alike, so that
/// it holds for instants just gone by unless the wall clock was set since.
#[must_use]
pub fn wall_minus_monotonic_ns() -> i64 {
    let read = || {
        let (before, wall, after) = (monotonic_ns(), wall_ns(), monotonic_ns());
        (after - before, wall - u64::midpoint(before, after) as i64)
    };
    (0..PAIR_COUNT)
        .map(|_| read())
        .min_by_key(|(width, _)| *width)
        .map_or(0, |(_, difference)| difference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_time_is_brought_to_the_clock() {
        let before = monotonic_ns() as i64;
        let converted = wall_ns() - wall_minus_monotonic_ns();
        let after = monotonic_ns() as i64;
        // A clock being slewed while this runs may move it by nanoseconds.
        assert!((before - 1_000..=after + 1_000).contains(&converted));
    }
}
