//! The varying delay after the link: a stationary process in time. Packets close together therefore
//! meet nearly the same delay and stay in order, as on real access networks (RFC 3393 measures the
//! difference between packets). Independent standard normal numbers have a spacing of one interval.
//! Between two numbers the process is their weighted sum scaled to unit variance, and hence
//! standard normal at every moment. Mean and spread therefore match the profile for any sending
//! times. On request every packet draws separately instead, and packets overtake each other.
//! Not for: the shape of the distribution (see `spread`).

use crate::elements::random::RandomStream;
use crate::elements::spread::{Spread, deviation_ms};
use resolab_record::Jitter;

/// Default interval in standard deviations. At this length, a delay falling as fast as time passes
/// is a matter of a few in thousands; the order of packets would flatten a faster fall.
const INTERVAL_DEVIATIONS: f64 = 10.0;
const MIN_INTERVAL_MS: f64 = 10.0;

/// Returns the interval in force for `wanted`.
pub fn interval_ms(wanted: &Jitter) -> f64 {
    wanted
        .interval_ms
        .unwrap_or_else(|| (INTERVAL_DEVIATIONS * deviation_ms(wanted)).max(MIN_INTERVAL_MS))
}

/// A one-way delay varying in time.
#[derive(Debug, Clone)]
pub struct VaryingDelay {
    spread: Spread,
    interval_ns: u64,
    per_packet: bool,
    numbers: JitterNumbers,
}

/// The random numbers behind a delay, kept over a change of profile.
#[derive(Debug, Clone)]
pub struct JitterNumbers {
    seed: u64,
    stream: RandomStream,
    /// Start of interval 0: the first packet's time. The delays therefore follow from the arrivals
    /// and the seed alone.
    origin_ns: Option<u64>,
    interval: Option<(u64, [f64; 2])>,
}

impl JitterNumbers {
    /// Makes fresh numbers, driven by `stream`.
    pub fn new(mut stream: RandomStream) -> Self {
        Self {
            seed: stream.next_bits(),
            stream,
            origin_ns: None,
            interval: None,
        }
    }

    /// Returns the number of the moment `at_ns`; moments may come in any order.
    fn number_at(&mut self, at_ns: u64, interval_ns: u64) -> f64 {
        let origin_ns = *self.origin_ns.get_or_insert(at_ns);
        let since_ns = at_ns.saturating_sub(origin_ns);
        let index = since_ns / interval_ns;
        let ends = match self.interval {
            Some((current, ends)) if current == index => ends,
            _ => [self.knot(index), self.knot(index + 1)],
        };
        self.interval = Some((index, ends));
        let later = (since_ns % interval_ns) as f64 / interval_ns as f64;
        let earlier = 1.0 - later;
        (earlier * ends[0] + later * ends[1]) / earlier.hypot(later)
    }

    /// Returns the number at the start of an interval, from the index alone: a long silence costs
    /// nothing.
    fn knot(&self, index: u64) -> f64 {
        normal(&mut RandomStream::derive(
            self.seed.wrapping_add(index),
            "knot",
        ))
    }
}

/// Draws a standard normal number (Box and Muller 1958).
fn normal(stream: &mut RandomStream) -> f64 {
    let (radius, angle) = (1.0 - stream.next_ratio(), stream.next_ratio());
    (-2.0 * radius.ln()).sqrt() * (2.0 * std::f64::consts::PI * angle).cos()
}

impl VaryingDelay {
    /// Makes a delay around `mean_ms`, by `wanted` (checked).
    pub fn new(mean_ms: f64, wanted: &Jitter, numbers: JitterNumbers) -> Self {
        Self {
            spread: Spread::new(mean_ms, wanted),
            interval_ns: ((interval_ms(wanted) * 1e6).round() as u64).max(1),
            per_packet: wanted.per_packet_reordering,
            numbers,
        }
    }

    /// Returns true when packets may overtake each other.
    pub fn reorders(&self) -> bool {
        self.per_packet
    }

    /// Returns the delay of a packet leaving at `departure_ns`.
    pub fn delay_ns(&mut self, departure_ns: u64) -> u64 {
        let number = if self.per_packet {
            normal(&mut self.numbers.stream)
        } else {
            self.numbers.number_at(departure_ns, self.interval_ns)
        };
        self.spread.delay_ns(number)
    }

    /// Returns the random numbers, for use by the next delay.
    pub fn into_numbers(self) -> JitterNumbers {
        self.numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use resolab_record::JitterDistribution;

    fn jitter(standard_deviation_ms: f64) -> Jitter {
        Jitter {
            standard_deviation_ms: Some(standard_deviation_ms),
            ..Jitter::default()
        }
    }

    fn varying(mean_ms: f64, wanted: &Jitter, seed: u64) -> VaryingDelay {
        VaryingDelay::new(
            mean_ms,
            wanted,
            JitterNumbers::new(RandomStream::derive(seed, "jitter")),
        )
    }

    /// Returns the mean and standard deviation of the delay seen by packets in order, in ms, and
    /// the share of packets held back by the order.
    fn seen(delay: &mut VaryingDelay, gap_ns: u64, count: u64) -> (f64, f64, f64) {
        let (mut last_ns, mut held, mut sum, mut squares) = (0, 0, 0.0, 0.0);
        for index in 0..count {
            let sent_ns = index * gap_ns;
            let due_ns = sent_ns + delay.delay_ns(sent_ns);
            held += u64::from(due_ns < last_ns && !delay.reorders());
            if !delay.reorders() {
                last_ns = due_ns.max(last_ns);
            }
            let way_ms = (due_ns.max(last_ns) - sent_ns) as f64 / 1e6;
            sum += way_ms;
            squares += way_ms * way_ms;
        }
        let mean = sum / count as f64;
        let deviation = (squares / count as f64 - mean * mean).sqrt();
        (mean, deviation, held as f64 / count as f64)
    }

    #[test]
    fn normal_spread_comes_out_as_asked_and_in_order() {
        for (mean_ms, deviation_ms) in [(26.65, 0.707), (75.0, 5.657), (26.65, 3.0)] {
            let wanted = jitter(deviation_ms);
            // Ten packets an interval over 20,000 intervals.
            let gap_ns = (interval_ms(&wanted) * 1e5) as u64;
            let (mean, deviation, held) = seen(&mut varying(mean_ms, &wanted, 1), gap_ns, 200_000);
            assert!((mean - mean_ms).abs() < 0.03 * deviation_ms, "mean {mean}");
            assert!(
                (deviation / deviation_ms - 1.0).abs() < 0.02,
                "deviation {deviation}"
            );
            assert!(held < 0.000_1, "held back {held}");
        }
    }

    #[test]
    fn a_lognormal_spread_as_large_as_the_mean_comes_out() {
        for (mean_ms, deviation_ms) in [(46.0, 32.5), (56.0, 58.0)] {
            let wanted = Jitter {
                distribution: Some(JitterDistribution::Lognormal),
                ..jitter(deviation_ms)
            };
            let gap_ns = (interval_ms(&wanted) * 1e5) as u64;
            let (mean, deviation, held) = seen(&mut varying(mean_ms, &wanted, 1), gap_ns, 400_000);
            assert!((mean / mean_ms - 1.0).abs() < 0.02, "mean {mean}");
            assert!(
                (deviation / deviation_ms - 1.0).abs() < 0.05,
                "deviation {deviation}"
            );
            assert!(held < 0.01, "held back {held}");
        }
    }

    #[test]
    fn quantiles_come_out_as_asked() {
        let wanted = Jitter {
            quantiles_ms: Some(vec![-3.0, 3.0]),
            ..Jitter::default()
        };
        let (mean, deviation, _) = seen(&mut varying(26.65, &wanted, 1), 2_000_000, 200_000);
        assert!((mean - 26.65).abs() < 0.05, "mean {mean}");
        assert!(
            (deviation - 3.0_f64.sqrt()).abs() < 0.05,
            "deviation {deviation}"
        );
    }

    #[test]
    fn packets_on_their_own_have_the_spread_without_bias() {
        let wanted = Jitter {
            per_packet_reordering: true,
            ..jitter(3.0)
        };
        let (mean, deviation, _) = seen(&mut varying(26.65, &wanted, 1), 1_000_000, 100_000);
        assert!((mean - 26.65).abs() < 0.04, "mean {mean}");
        assert!((deviation - 3.0).abs() < 0.03, "deviation {deviation}");
    }

    #[test]
    fn delays_follow_from_seed_and_time_since_the_first_packet() {
        let delays = |seed, start_ns: u64| -> Vec<u64> {
            let mut delay = varying(20.0, &jitter(2.0), seed);
            (0..500)
                .map(|index| delay.delay_ns(start_ns + index * 3_000_000))
                .collect()
        };
        assert_eq!(delays(1, 0), delays(1, 12_345_678_901));
        assert_ne!(delays(1, 0), delays(2, 0));
    }

    #[test]
    fn packets_close_together_meet_nearly_the_same_delay() {
        let mut delay = varying(20.0, &jitter(2.0), 1);
        let first = delay.delay_ns(1_000_000_000);
        assert!(delay.delay_ns(1_000_010_000).abs_diff(first) < 10_000);
    }
}
