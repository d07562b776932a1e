//! The time a server takes before it answers: a constant or drawn from a distribution.
//!
//! For: how long one answer waits, the same draws in the same order for the same seed.
//! Not for: waiting.

use super::generated::mixed;
use serde::Deserialize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Longest wait: a connection silent for the edge's 30 s is closed.
pub const LONGEST_MS: f64 = 25_000.0;

/// As configured.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ServerTime {
    /// The same each time, milliseconds.
    Constant(f64),
    /// Drawn anew for each answer.
    Drawn(Distribution),
}

/// A distribution, cut at 0 and at 25 s.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "distribution", rename_all = "snake_case", deny_unknown_fields)]
pub enum Distribution {
    /// Between two values.
    Uniform {
        /// Smallest.
        min_ms: f64,
        /// Largest.
        max_ms: f64,
    },
    /// Memoryless.
    Exponential {
        /// Mean.
        mean_ms: f64,
    },
    /// Its logarithm is normal: most near the median, a few far above.
    Lognormal {
        /// Median.
        median_ms: f64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
}

impl ServerTime {
    /// What is wrong with it.
    pub fn contradiction(self) -> Option<String> {
        let values = match self {
            Self::Constant(ms) => vec![ms],
            Self::Drawn(Distribution::Uniform { min_ms, max_ms }) if min_ms > max_ms => {
                return Some("min_ms is above max_ms".to_owned());
            }
            Self::Drawn(Distribution::Uniform { min_ms, max_ms }) => vec![min_ms, max_ms],
            Self::Drawn(Distribution::Exponential { mean_ms }) => vec![mean_ms],
            Self::Drawn(Distribution::Lognormal { median_ms, sigma }) => vec![median_ms, sigma],
        };
        let fits = |value: &f64| (0.0..=LONGEST_MS).contains(value);
        let all_fit = values.iter().all(fits);
        (!all_fit).then(|| format!("server time must lie between 0 and {LONGEST_MS} ms"))
    }

    /// The wait of the draw of this number.
    fn wait(self, seed: u64, number: u64) -> Duration {
        let ms = match self {
            Self::Constant(ms) => ms,
            Self::Drawn(distribution) => distribution.draw(seed, number),
        };
        Duration::from_secs_f64(ms.clamp(0.0, LONGEST_MS) / 1_000.0)
    }
}

impl Distribution {
    fn draw(self, seed: u64, number: u64) -> f64 {
        let first = unit(mixed(mixed(seed).wrapping_add(2 * number)));
        let second = unit(mixed(mixed(seed).wrapping_add(2 * number + 1)));
        match self {
            Self::Uniform { min_ms, max_ms } => min_ms + (max_ms - min_ms) * first,
            Self::Exponential { mean_ms } => -mean_ms * (1.0 - first).ln(),
            Self::Lognormal { median_ms, sigma } => {
                // Box and Muller (1958).
                let radius = (-2.0 * (1.0 - first).ln()).sqrt();
                let normal = radius * (std::f64::consts::TAU * second).cos();
                median_ms * (sigma * normal).exp()
            }
        }
    }
}

/// From 64 random bits to [0, 1).
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// The waits of one resource, one after the other.
#[derive(Debug)]
pub struct Waits {
    time: ServerTime,
    seed: u64,
    drawn_count: AtomicU64,
}

impl Waits {
    /// None drawn yet.
    pub const fn new(time: ServerTime, seed: u64) -> Self {
        Self {
            time,
            seed,
            drawn_count: AtomicU64::new(0),
        }
    }

    /// The next.
    pub fn next(&self) -> Duration {
        let number = self.drawn_count.fetch_add(1, Ordering::Relaxed);
        self.time.wait(self.seed, number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(distribution: Distribution) -> Vec<f64> {
        let waits = Waits::new(ServerTime::Drawn(distribution), 3);
        let mut draws: Vec<f64> = (0..20_000)
            .map(|_| waits.next().as_secs_f64() * 1_000.0)
            .collect();
        draws.sort_by(f64::total_cmp);
        draws
    }

    #[test]
    fn draws_have_the_moments_of_their_distribution() {
        let mean = |draws: &[f64]| draws.iter().sum::<f64>() / draws.len() as f64;
        let uniform = draws(Distribution::Uniform {
            min_ms: 10.0,
            max_ms: 30.0,
        });
        assert!((mean(&uniform) - 20.0).abs() < 0.2 && uniform[0] >= 10.0);
        let exponential = draws(Distribution::Exponential { mean_ms: 5.0 });
        assert!((mean(&exponential) - 5.0).abs() < 0.15);
        let lognormal = draws(Distribution::Lognormal {
            median_ms: 8.0,
            sigma: 0.5,
        });
        assert!((lognormal[10_000] - 8.0).abs() < 0.2);
        // One standard deviation above the median: exp(0.5) times it.
        assert!((lognormal[16_827] / 8.0 - 0.5_f64.exp()).abs() < 0.05);
    }

    #[test]
    fn a_constant_is_constant_and_nonsense_is_named() {
        let waits = Waits::new(ServerTime::Constant(1.5), 1);
        assert_eq!(
            (waits.next(), waits.next()),
            (Duration::from_micros(1_500), Duration::from_micros(1_500))
        );
        assert!(ServerTime::Constant(-1.0).contradiction().is_some());
        assert!(ServerTime::Constant(f64::NAN).contradiction().is_some());
        let reversed = ServerTime::Drawn(Distribution::Uniform {
            min_ms: 2.0,
            max_ms: 1.0,
        });
        assert!(reversed.contradiction().is_some());
    }
}
