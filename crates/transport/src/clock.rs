//! The single clock: `CLOCK_MONOTONIC` in nanoseconds, the same for every process of a machine.
//! Wall time serves only to convert the kernel's stamps to this clock.

use nix::time::{ClockId, clock_gettime};

/// The number of reading pairs. The tightest pair counts: an interrupted pair is some microseconds
/// wide, the others are well below 100 ns.
const PAIR_COUNT: u32 = 5;

/// Returns `CLOCK_MONOTONIC` now, in nanoseconds.
#[must_use]
pub fn monotonic_ns() -> u64 {
    // CLOCK_MONOTONIC always exists on Linux; a failing call could only mean a broken kernel.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| {
        now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
    })
}

/// Returns `CLOCK_REALTIME` now, in nanoseconds.
#[must_use]
pub fn wall_ns() -> i64 {
    clock_gettime(ClockId::CLOCK_REALTIME)
        .map_or(0, |now| now.tv_sec() * 1_000_000_000 + now.tv_nsec())
}

/// Returns the lead of `CLOCK_REALTIME` over `CLOCK_MONOTONIC` at this moment. Both clocks tick
/// alike, so the value holds for recent instants unless the wall clock was set since.
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
