//! The shape of a varying delay: from a standard normal number to a delay. Not for: the number's
//! change in time (see `jitter`).

use resolab_record::{Jitter, JitterDistribution};

/// A distribution of one-way delays.
#[derive(Debug, Clone)]
pub enum Spread {
    /// A normal distribution: `mean + deviation x number`.
    Normal {
        /// Mean of the delay, in ms.
        mean_ms: f64,
        /// Standard deviation of the delay, in ms.
        deviation_ms: f64,
    },
    /// A lognormal distribution: `exp(location + scale x number)`.
    Lognormal {
        /// Mean of the logarithm of the delay in ms.
        location: f64,
        /// Standard deviation of the logarithm of the delay.
        scale: f64,
    },
    /// Linear between equally spaced quantiles.
    Quantiles(Vec<f64>),
}

impl Spread {
    /// Makes a distribution around `mean_ms`, by `wanted` (checked).
    pub fn new(mean_ms: f64, wanted: &Jitter) -> Self {
        if let Some(quantiles_ms) = &wanted.quantiles_ms {
            return Self::Quantiles(quantiles_ms.iter().map(|value| mean_ms + value).collect());
        }
        let deviation_ms = wanted.standard_deviation_ms.unwrap_or(0.0);
        if wanted.distribution != Some(JitterDistribution::Lognormal) || mean_ms <= 0.0 {
            return Self::Normal {
                mean_ms,
                deviation_ms,
            };
        }
        let variance = (deviation_ms / mean_ms).powi(2).ln_1p();
        Self::Lognormal {
            location: mean_ms.ln() - variance / 2.0,
            scale: variance.sqrt(),
        }
    }

    /// Returns the delay for a standard normal number, never negative.
    pub fn delay_ns(&self, number: f64) -> u64 {
        let delay_ms = match self {
            Self::Normal {
                mean_ms,
                deviation_ms,
            } => mean_ms + deviation_ms * number,
            Self::Lognormal { location, scale } => (location + scale * number).exp(),
            Self::Quantiles(values_ms) => interpolate(values_ms, normal_share_below(number)),
        };
        (delay_ms.max(0.0) * 1e6).round() as u64
    }
}

/// Returns the standard deviation of the jitter `wanted`, in ms.
pub fn deviation_ms(wanted: &Jitter) -> f64 {
    let Some(quantiles_ms) = &wanted.quantiles_ms else {
        return wanted.standard_deviation_ms.unwrap_or(0.0);
    };
    // Each step between two quantiles is uniform: mean (a + b) / 2, square (a2 + ab + b2) / 3.
    let steps = quantiles_ms.len().saturating_sub(1).max(1) as f64;
    let over_steps = |of: fn(f64, f64) -> f64| {
        let sum: f64 = quantiles_ms
            .windows(2)
            .map(|step| of(step[0], step[1]))
            .sum();
        sum / steps
    };
    let mean = over_steps(f64::midpoint);
    let square = over_steps(|low, high| (low * low + low * high + high * high) / 3.0);
    (square - mean * mean).max(0.0).sqrt()
}

fn interpolate(values: &[f64], share: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else {
        return 0.0;
    };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let low = (place as usize).min(last.saturating_sub(1));
    let high = (low + 1).min(last);
    values[low] + (values[high] - values[low]) * (place - low as f64)
}

/// Computes the normal distribution function by Abramowitz and Stegun 26.2.17, error below 7.5e-8.
fn normal_share_below(number: f64) -> f64 {
    const TERMS: [f64; 5] = [
        1.330_274_429,
        -1.821_255_978,
        1.781_477_937,
        -0.356_563_782,
        0.319_381_530,
    ];
    let step = 1.0 / (1.0 + 0.231_641_9 * number.abs());
    let series = TERMS.iter().fold(0.0, |sum, term| (sum + term) * step);
    let density = (-number * number / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let above = density * series;
    if number < 0.0 { above } else { 1.0 - above }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn milliseconds(spread: &Spread, number: f64) -> f64 {
        spread.delay_ns(number) as f64 / 1e6
    }

    #[test]
    fn the_normal_distribution_function_is_the_tables() {
        for (number, share) in [(0.0, 0.5), (1.0, 0.841_344_746), (-1.959_963_985, 0.025)] {
            assert!((normal_share_below(number) - share).abs() < 1e-7);
        }
    }

    #[test]
    fn quantiles_come_out_where_they_were_put() {
        let wanted = Jitter {
            quantiles_ms: Some(vec![-10.0, 0.0, 50.0]),
            ..Jitter::default()
        };
        let spread = Spread::new(20.0, &wanted);
        for (number, delay_ms) in [(-9.0, 10.0), (0.0, 20.0), (0.674_489_75, 45.0), (9.0, 70.0)] {
            assert!((milliseconds(&spread, number) - delay_ms).abs() < 1e-4);
        }
    }

    #[test]
    fn a_uniform_spread_has_its_known_deviation() {
        let wanted = Jitter {
            quantiles_ms: Some(vec![-3.0, 3.0]),
            ..Jitter::default()
        };
        assert!((deviation_ms(&wanted) - 3.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn delays_are_never_negative() {
        let wanted = Jitter {
            standard_deviation_ms: Some(1.0),
            ..Jitter::default()
        };
        assert_eq!(Spread::new(3.0, &wanted).delay_ns(-5.0), 0);
    }

    proptest! {
        /// Every jitter permitted in profiles gives a finite delay, at every number made of 53
        /// bits.
        #[test]
        fn delays_are_finite(
            mean_ms in prop_oneof![Just(0.0), Just(f64::MIN_POSITIVE), 0.0..10_000.0],
            share in 0.0..=2.0_f64,
            quantiles in proptest::option::of(proptest::collection::vec(0.0..=1.0_f64, 2..1_002)),
            is_lognormal: bool,
            number in -13.0..13.0_f64,
        ) {
            let quantiles_ms = quantiles.map(|shares| {
                let mut values: Vec<f64> =
                    shares.iter().map(|share| share * (10_000.0 + mean_ms) - mean_ms).collect();
                values.sort_by(f64::total_cmp);
                values
            });
            let wanted = Jitter {
                standard_deviation_ms: quantiles_ms.is_none().then_some(share * mean_ms),
                quantiles_ms,
                distribution: is_lognormal.then_some(JitterDistribution::Lognormal),
                ..Jitter::default()
            };
            prop_assert!(deviation_ms(&wanted).is_finite());
            let delay_ns = Spread::new(mean_ms, &wanted).delay_ns(number);
            prop_assert!(delay_ns < 100_000_000_000_000_000, "{}", delay_ns);
        }
    }
}
