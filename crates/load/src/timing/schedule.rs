//! The send times of an open loop's queries: instants on an absolute clock, fixed before any
//! answer. Not for: waiting until then.

use resolab_transport::split_mix::SplitMix64;

/// The send instants of a worker.
#[derive(Debug, Clone)]
pub struct Schedule {
    next_ns: u64,
    kind: SchedulePattern,
}

#[derive(Debug, Clone)]
enum SchedulePattern {
    /// The instants are multiples of a distance. Each instant is computed anew, hence no error adds
    /// up.
    Constant {
        start_ns: u64,
        distance_ns: f64,
        position: u64,
        workers: u64,
    },
    Poisson {
        start_ns: u64,
        mean_distance_ns: f64,
        elapsed_ns: f64,
        random: SplitMix64,
    },
}

impl Schedule {
    /// Returns the schedule of worker `index` of `workers`. The workers share `rate_per_s` at equal
    /// distances, in turn.
    pub fn constant(start_ns: u64, rate_per_s: f64, index: u32, workers: u32) -> Self {
        let mut schedule = Self {
            next_ns: 0,
            kind: SchedulePattern::Constant {
                start_ns,
                distance_ns: 1e9 / rate_per_s,
                position: u64::from(index),
                workers: u64::from(workers),
            },
        };
        schedule.next_ns = schedule.compute();
        schedule
    }

    /// Returns the schedule of worker `index` of `workers`. The workers share `rate_per_s` as
    /// independent Poisson processes. The sum of the processes is a Poisson process of the whole
    /// rate.
    pub fn poisson(start_ns: u64, rate_per_s: f64, index: u32, workers: u32, seed: u64) -> Self {
        let mut seeds = SplitMix64::new(seed);
        let mut own_seed = seeds.draw();
        for _ in 0..index {
            own_seed = seeds.draw();
        }
        let mut schedule = Self {
            next_ns: 0,
            kind: SchedulePattern::Poisson {
                start_ns,
                mean_distance_ns: 1e9 * f64::from(workers) / rate_per_s,
                elapsed_ns: 0.0,
                random: SplitMix64::new(own_seed),
            },
        };
        schedule.next_ns = schedule.compute();
        schedule
    }

    /// Returns the next instant.
    pub fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// Moves on to the following instant.
    pub fn advance(&mut self) {
        if let SchedulePattern::Constant {
            position, workers, ..
        } = &mut self.kind
        {
            *position += *workers;
        }
        self.next_ns = self.compute();
    }

    fn compute(&mut self) -> u64 {
        match &mut self.kind {
            SchedulePattern::Constant {
                start_ns,
                distance_ns,
                position,
                ..
            } => start_ns.saturating_add((*position as f64 * *distance_ns) as u64),
            SchedulePattern::Poisson {
                start_ns,
                mean_distance_ns,
                elapsed_ns,
                random,
            } => {
                *elapsed_ns += *mean_distance_ns * random.draw_exponential();
                start_ns.saturating_add(*elapsed_ns as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn take(schedule: &mut Schedule, count: usize) -> Vec<u64> {
        let mut instants = Vec::with_capacity(count);
        for _ in 0..count {
            instants.push(schedule.next_ns());
            schedule.advance();
        }
        instants
    }

    #[test]
    fn constant_starts_at_once_and_does_not_drift() {
        let mut schedule = Schedule::constant(1_000, 3.0, 0, 1);
        let instants = take(&mut schedule, 3_000_001);
        assert_eq!(instants[..3], [1_000, 333_334_333, 666_667_666]);
        assert_eq!(instants[3_000_000], 1_000_000 * 1_000_000_000 + 1_000);
    }

    /// Checks a rate of one query a day, and the lowest possible rate. Instants are late, and never
    /// wrap to the beginning.
    #[test]
    fn instants_beyond_the_clock_do_not_wrap() {
        let start_ns = 1_000_000_000_000;
        for rate_per_s in [1e-5, 1e-12, f64::MIN_POSITIVE] {
            for mut schedule in [
                Schedule::constant(start_ns, rate_per_s, 0, 1),
                Schedule::poisson(start_ns, rate_per_s, 0, 1, 7),
            ] {
                assert!(take(&mut schedule, 10).is_sorted());
                assert!(schedule.next_ns() > start_ns + 1_000_000_000);
            }
        }
    }

    #[test]
    fn workers_in_turn_make_the_whole_schedule() {
        let whole = take(&mut Schedule::constant(7, 12_345.0, 0, 1), 3_000);
        let mut merged: Vec<u64> = (0..3)
            .flat_map(|index| take(&mut Schedule::constant(7, 12_345.0, index, 3), 1_000))
            .collect();
        merged.sort_unstable();
        assert_eq!(merged, whole);
    }

    #[test]
    fn poisson_distances_are_exponential() {
        // For an exponential distribution: mean 1, variance 1, P(x > 1) = 1/e, P(x > 3) = 1/e^3.
        let instants = take(&mut Schedule::poisson(0, 1_000.0, 0, 1, 42), 100_001);
        let unit: Vec<f64> = instants
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64 / 1e6)
            .collect();
        let count = unit.len() as f64;
        let mean = unit.iter().sum::<f64>() / count;
        let variance = unit.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        let above = |limit: f64| unit.iter().filter(|x| **x > limit).count() as f64 / count;
        assert!((mean - 1.0).abs() < 0.015, "{mean}");
        assert!((variance - 1.0).abs() < 0.04, "{variance}");
        assert!((above(1.0) - (-1.0_f64).exp()).abs() < 0.007);
        assert!((above(3.0) - (-3.0_f64).exp()).abs() < 0.003);
    }

    #[test]
    fn a_seed_fixes_a_poisson_schedule_and_workers_differ() {
        let of = |index, seed| take(&mut Schedule::poisson(0, 100.0, index, 2, seed), 50);
        assert_eq!(of(0, 1), of(0, 1));
        assert_ne!(of(0, 1), of(0, 2));
        assert_ne!(of(0, 1), of(1, 1));
    }

    proptest! {
        #[test]
        fn instants_never_go_back_and_keep_the_rate(
            rate in 1.0..1_000_000.0_f64,
            workers in 1..8_u32,
            index in 0..8_u32,
            seed: u64,
            start in 0..u64::MAX / 4,
        ) {
            let index = index % workers;
            let count = 2_000;
            let share = rate / f64::from(workers);
            for (mut schedule, tolerance) in [
                (Schedule::constant(start, rate, index, workers), 1e-3),
                // Five standard deviations of a sum of as many draws.
                (Schedule::poisson(start, rate, index, workers, seed), 5.0 / f64::from(count).sqrt()),
            ] {
                let instants = take(&mut schedule, count as usize + 1);
                prop_assert!(instants.is_sorted());
                prop_assert!(instants[0] >= start);
                let took_ns = (instants[count as usize] - instants[0]) as f64;
                let reached = f64::from(count) / took_ns * 1e9;
                // Instants are whole nanoseconds.
                let rounding = 2.0 / took_ns;
                prop_assert!((reached / share - 1.0).abs() < tolerance * 1.15 + rounding, "{reached} {share}");
            }
        }
    }
}
