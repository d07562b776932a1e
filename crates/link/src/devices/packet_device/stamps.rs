//! Converts the kernel's arrival stamps from wall-clock time to times of the link's clock. Not for:
//! trusting the stamps blindly. An operator may set the wall clock during the path's life, hence no
//! arrival is in the future or before the previous arrival.

use crate::clock::monotonic_ns;
use nix::time::{ClockId, clock_gettime};

/// Lifetime of a comparison of the two clocks. Both clocks run at the same pace. Their difference
/// grows only when the wall clock is set.
const FRESH_NS: u64 = 100_000_000;
/// A packet's apparent wait above this limit triggers a new comparison of the clocks.
const PLAUSIBLE_WAIT_NS: u64 = 10_000_000;
const READINGS_COUNT: usize = 3;

/// The wall clock read between two readings of the link's.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::struct_field_names, reason = "the unit is part of every name")]
pub struct ClockReading {
    before_ns: u64,
    wall_ns: u64,
    after_ns: u64,
}

/// Reads both clocks, `READINGS_COUNT` times.
pub fn readings() -> [ClockReading; READINGS_COUNT] {
    std::array::from_fn(|_| ClockReading {
        before_ns: monotonic_ns(),
        wall_ns: wall_ns(),
        after_ns: monotonic_ns(),
    })
}

fn wall_ns() -> u64 {
    // As for the link's clock: it exists on every Linux.
    clock_gettime(ClockId::CLOCK_REALTIME).map_or(0, |now| {
        now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
    })
}

/// A converter from stamps to arrival times.
#[derive(Debug, Default)]
#[allow(clippy::struct_field_names, reason = "the unit is part of every name")]
pub struct StampClock {
    /// Wall clock minus the link's, modulo 2^64.
    offset_ns: u64,
    compared_at_ns: Option<u64>,
    last_arrival_ns: u64,
}

impl StampClock {
    /// Returns true when the clocks need a comparison before using the stamp of a packet read at
    /// `now_ns`.
    pub fn needs_readings(&self, stamp_wall_ns: u64, now_ns: u64) -> bool {
        let Some(compared_at_ns) = self.compared_at_ns else {
            return true;
        };
        let wait_ns = now_ns.wrapping_sub(self.convert(stamp_wall_ns));
        // A stamp in the future makes a huge wait.
        now_ns.saturating_sub(compared_at_ns) > FRESH_NS || wait_ns > PLAUSIBLE_WAIT_NS
    }

    /// Compares the clocks by the tightest of `readings`.
    pub fn compare(&mut self, readings: &[ClockReading]) {
        let width_ns = |reading: &ClockReading| reading.after_ns.saturating_sub(reading.before_ns);
        if let Some(tightest) = readings.iter().min_by_key(|reading| width_ns(reading)) {
            let middle_ns = tightest.before_ns + width_ns(tightest) / 2;
            self.offset_ns = tightest.wall_ns.wrapping_sub(middle_ns);
            self.compared_at_ns = Some(tightest.after_ns);
        }
    }

    /// Returns the arrival time of the packet read at `now_ns`.
    pub fn arrival_ns(&mut self, stamp_wall_ns: u64, now_ns: u64) -> u64 {
        let converted_ns = self.convert(stamp_wall_ns);
        self.last_arrival_ns = converted_ns.max(self.last_arrival_ns).min(now_ns);
        self.last_arrival_ns
    }

    fn convert(&self, stamp_wall_ns: u64) -> u64 {
        stamp_wall_ns.wrapping_sub(self.offset_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wall clock is this far ahead.
    const AHEAD_NS: u64 = 1_700_000_000_000_000_000;

    fn reading(before_ns: u64, after_ns: u64, wall_ns: u64) -> ClockReading {
        ClockReading {
            before_ns,
            wall_ns,
            after_ns,
        }
    }

    fn compared_at(now_ns: u64, ahead_ns: u64) -> StampClock {
        let mut clock = StampClock::default();
        clock.compare(&[reading(now_ns, now_ns, now_ns + ahead_ns)]);
        clock
    }

    #[test]
    fn the_tightest_reading_counts() {
        let mut clock = StampClock::default();
        clock.compare(&[
            reading(1_000, 9_000, AHEAD_NS + 1_500),
            reading(10_000, 10_040, AHEAD_NS + 10_020),
            reading(11_000, 12_000, AHEAD_NS + 11_900),
        ]);
        assert_eq!(clock.arrival_ns(AHEAD_NS + 20_000, 25_000), 20_000);
    }

    #[test]
    fn a_wall_clock_behind_the_links_works_as_well() {
        let mut clock = StampClock::default();
        clock.compare(&[reading(5_000, 5_000, 2_000)]);
        assert_eq!(clock.arrival_ns(3_000, 9_000), 6_000);
    }

    #[test]
    fn arrivals_are_never_in_the_future_nor_out_of_order() {
        let mut clock = compared_at(0, AHEAD_NS);
        assert_eq!(clock.arrival_ns(AHEAD_NS + 900, 1_000), 900);
        assert_eq!(clock.arrival_ns(AHEAD_NS + 2_500, 2_000), 2_000);
        assert_eq!(clock.arrival_ns(AHEAD_NS + 1_500, 3_000), 2_000);
        assert_eq!(clock.arrival_ns(AHEAD_NS + 2_700, 3_000), 2_700);
    }

    #[test]
    fn the_clocks_are_compared_when_old_or_doubtful() {
        assert!(StampClock::default().needs_readings(AHEAD_NS, 0));
        let clock = compared_at(0, AHEAD_NS);
        let needs = |came_ns, now_ns| clock.needs_readings(AHEAD_NS + came_ns, now_ns);
        assert!(!needs(50_000_000, 50_001_000));
        assert!(!needs(99_999_000, 100_000_000));
        assert!(needs(100_000_000, 100_000_001), "old");
        assert!(needs(50_001_001, 50_001_000), "in the future");
        assert!(needs(1_000_000, 50_000_000), "waited long");
    }

    #[test]
    fn a_wall_clock_that_is_set_back_moves_no_arrival() {
        let mut clock = compared_at(1_000, AHEAD_NS);
        let stamp_ns = AHEAD_NS - 3_600_000_000_000 + 50_000;
        assert!(clock.needs_readings(stamp_ns, 60_000));
        clock.compare(&[reading(59_000, 59_000, stamp_ns + 9_000)]);
        assert_eq!(clock.arrival_ns(stamp_ns, 60_000), 50_000);
    }

    #[test]
    fn a_real_stamp_of_now_is_now() {
        let mut clock = StampClock::default();
        clock.compare(&readings());
        let (before_ns, stamp_ns) = (monotonic_ns(), wall_ns());
        let now_ns = monotonic_ns();
        let arrival_ns = clock.arrival_ns(stamp_ns, now_ns);
        assert!(
            arrival_ns + 100_000 >= before_ns,
            "{arrival_ns} {before_ns}"
        );
        assert!(arrival_ns <= now_ns);
    }
}
