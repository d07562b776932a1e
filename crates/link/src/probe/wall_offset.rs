//! Converts from the wall clock, the clock of the kernel's arrival stamps, to the monotonic clock.
//! Both run at the same rate, adjusted alike. Their difference changes only when the wall clock is
//! set. Not for: taking stamps of packets (see `kernel_stamps`).

use crate::clock;
use nix::time::{ClockId, clock_gettime};

/// Number of readings of both clocks; the tightest counts.
const READINGS: usize = 64;
/// Error of a reading, in ns. A smaller difference between start and end is noise.
const READING_ERROR_NS: i64 = 1_000;
/// Largest drift from adjustment, in ns. A larger difference means a clock set by hand.
const LARGEST_DRIFT_NS: i64 = 500_000;

/// The wall clock minus the monotonic clock, at a moment of the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    at_ns: u64,
    offset_ns: i64,
}

impl Offset {
    /// Reads the present offset.
    pub fn now() -> Self {
        let reading = || {
            let before_ns = clock::monotonic_ns();
            let wall_ns = wall_ns();
            let after_ns = clock::monotonic_ns();
            (before_ns, wall_ns, after_ns)
        };
        tightest((0..READINGS).map(|_| reading()))
    }

    /// Returns the offset in ns.
    #[cfg(test)]
    pub fn offset_ns(self) -> i64 {
        self.offset_ns
    }
}

fn wall_ns() -> i64 {
    // As for the monotonic clock, there is no way to fail but a broken kernel interface.
    clock_gettime(ClockId::CLOCK_REALTIME)
        .map_or(0, |now| now.tv_sec() * 1_000_000_000 + now.tv_nsec())
}

/// Returns the offset of the tightest of (monotonic, wall, monotonic) readings.
fn tightest(readings: impl Iterator<Item = (u64, i64, u64)>) -> Offset {
    let (before_ns, wall_ns, after_ns) = readings
        .min_by_key(|(before_ns, _, after_ns)| after_ns - before_ns)
        .unwrap_or_default();
    let at_ns = before_ns.midpoint(after_ns);
    Offset {
        at_ns,
        offset_ns: wall_ns - at_ns as i64,
    }
}

/// A converter from wall time between two offset readings to monotonic time.
#[derive(Debug, Clone, Copy)]
pub struct WallSpan {
    start: Offset,
    end: Offset,
}

impl WallSpan {
    /// Makes a span between two readings. `Err` is the amount in ns by which the wall clock was set
    /// in between.
    pub fn new(start: Offset, end: Offset) -> Result<Self, i64> {
        let moved_ns = end.offset_ns - start.offset_ns;
        if moved_ns.abs() > LARGEST_DRIFT_NS {
            return Err(moved_ns);
        }
        if moved_ns.abs() > READING_ERROR_NS {
            return Ok(Self { start, end });
        }
        let offset_ns = start.offset_ns + moved_ns / 2;
        Ok(Self {
            start: Offset { offset_ns, ..start },
            end: Offset { offset_ns, ..end },
        })
    }

    /// Returns the monotonic time of a wall time.
    pub fn monotonic_ns(&self, wall_ns: i64) -> u64 {
        let span_ns = (self.end.at_ns - self.start.at_ns).max(1) as f64;
        let into_ns = wall_ns - self.start.offset_ns - self.start.at_ns as i64;
        let share = (into_ns as f64 / span_ns).clamp(0.0, 1.0);
        let moved_ns = (self.end.offset_ns - self.start.offset_ns) as f64 * share;
        (wall_ns - self.start.offset_ns - moved_ns.round() as i64).max(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offset(at_ns: u64, offset_ns: i64) -> Offset {
        Offset { at_ns, offset_ns }
    }

    #[test]
    fn the_tightest_reading_counts() {
        let readings = [
            (0, 1_100, 200),
            (1_000, 2_010, 1_020),
            (5_000, 6_500, 5_900),
        ];
        assert_eq!(tightest(readings.into_iter()), offset(1_010, 1_000));
    }

    #[test]
    fn a_steady_clock_is_shifted_only() {
        let span = WallSpan::new(offset(0, 1_000_000), offset(1_000_000_000, 1_000_000)).unwrap();
        for at_ns in [0, 7, 500_000_000, 1_000_000_000, 2_000_000_000] {
            assert_eq!(span.monotonic_ns(at_ns + 1_000_000), at_ns as u64);
        }
    }

    #[test]
    fn errors_of_reading_are_halved_not_followed() {
        let span = WallSpan::new(offset(0, 100), offset(1_000_000_000, 700)).unwrap();
        assert_eq!(span.monotonic_ns(400), 0);
        assert_eq!(span.monotonic_ns(1_000_000_400), 1_000_000_000);
    }

    #[test]
    fn an_adjusted_clock_is_followed() {
        let span = WallSpan::new(offset(0, 0), offset(1_000_000_000, 100_000)).unwrap();
        assert_eq!(span.monotonic_ns(0), 0);
        assert!(span.monotonic_ns(500_050_000).abs_diff(500_000_000) <= 6);
        assert!(span.monotonic_ns(1_000_100_000).abs_diff(1_000_000_000) <= 11);
    }

    #[test]
    fn a_clock_that_was_set_is_said_so() {
        let set = WallSpan::new(offset(0, 0), offset(1_000, -3_000_000_000));
        assert_eq!(set.unwrap_err(), -3_000_000_000);
    }

    #[test]
    fn this_machines_clocks_agree_with_themselves() {
        let span = WallSpan::new(Offset::now(), Offset::now()).unwrap();
        let (before_ns, wall_ns, after_ns) =
            (clock::monotonic_ns(), wall_ns(), clock::monotonic_ns());
        let got_ns = span.monotonic_ns(wall_ns);
        assert!(got_ns + 2_000 >= before_ns && got_ns <= after_ns + 2_000);
    }
}
