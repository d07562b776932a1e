//! The behaviour of single names: an additional delay, drawn for each query, and deliberate
//! failures.
//!
//! For: looking up names and drawing delays; pure, every stream has its seed. Not for: waiting.

use crate::dns::wire::name_wire;
use resolab_record::{DelayDistribution, FailureMode, NameDelay};
use resolab_transport::split_mix::SplitMix64;
use std::collections::HashMap;

/// The delay and failure of one query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueryTreatment {
    /// The additional delay, in ns.
    pub delay_ns: u64,
    /// The deliberate failure, if any.
    pub failure: Option<FailureMode>,
}

/// The behaviour of one name.
#[derive(Debug, Clone)]
struct NameBehaviour {
    delay: Option<DelayStream>,
    failure: Option<FailureMode>,
}

/// All behaviours, by the lower-case wire form of the name.
#[derive(Debug, Clone, Default)]
pub struct Behaviours {
    names: HashMap<Vec<u8>, NameBehaviour>,
    /// The behaviours of wildcards, by the parent name.
    wildcards: HashMap<Vec<u8>, NameBehaviour>,
}

impl Behaviours {
    /// Sets the behaviour of a name (or `*.` and a parent for all names below). Without delay and
    /// failure, the name behaves like all others. Errors with the fault of the delay.
    pub fn set(
        &mut self,
        name: &str,
        delay: Option<&NameDelay>,
        failure: Option<FailureMode>,
    ) -> Result<(), String> {
        let (map, below) = match name.strip_prefix("*.") {
            Some(below) => (&mut self.wildcards, below),
            None => (&mut self.names, name),
        };
        let key = name_wire(below).ok_or_else(|| format!("`{name}` is no name"))?;
        let delay = delay
            .map(DelayStream::new)
            .transpose()
            .map_err(|reason| format!("the delay of {name}: {reason}"))?;
        if delay.is_none() && failure.is_none() {
            map.remove(&key);
        } else {
            map.insert(key, NameBehaviour { delay, failure });
        }
        Ok(())
    }

    /// Draws the treatment of a query; `None` for names without a behaviour.
    pub fn draw(&mut self, name: &[u8]) -> Option<QueryTreatment> {
        if self.names.is_empty() && self.wildcards.is_empty() {
            return None;
        }
        let lower = name.to_ascii_lowercase();
        let behaviour = match self.names.get_mut(&lower) {
            Some(behaviour) => behaviour,
            None => nearest(&mut self.wildcards, &lower)?,
        };
        Some(QueryTreatment {
            delay_ns: behaviour.delay.as_mut().map_or(0, DelayStream::draw_ns),
            failure: behaviour.failure,
        })
    }
}

/// Returns the behaviour of the closest wildcard above a name.
fn nearest<'a>(
    wildcards: &'a mut HashMap<Vec<u8>, NameBehaviour>,
    name: &[u8],
) -> Option<&'a mut NameBehaviour> {
    let mut rest = name;
    let above = loop {
        rest = rest.get(1 + usize::from(*rest.first()?)..)?;
        if wildcards.contains_key(rest) {
            break rest;
        }
        if rest.len() <= 1 {
            return None;
        }
    };
    wildcards.get_mut(above)
}

/// Returns a constant delay in the notation of the configuration and the command.
pub fn constant_delay(mean_ms: f64) -> NameDelay {
    NameDelay {
        distribution: DelayDistribution::Constant,
        mean_ms: Some(mean_ms),
        min_ms: None,
        max_ms: None,
        median_ms: None,
        sigma: None,
        shape: None,
        samples_ms: None,
        share_ratio: None,
        seed: None,
    }
}

/// Returns the delay from either of the two keys. Errors when both keys are given.
pub fn choose_delay(
    delay_ms: Option<f64>,
    delay: Option<NameDelay>,
) -> Result<Option<NameDelay>, String> {
    match (delay_ms, delay) {
        (Some(_), Some(_)) => Err("delay_ms and delay exclude each other".to_owned()),
        (Some(mean_ms), None) => Ok(Some(constant_delay(mean_ms))),
        (None, delay) => Ok(delay),
    }
}

/// A distribution with its stream of random numbers.
#[derive(Debug, Clone)]
pub struct DelayStream {
    law: DelayLaw,
    max_ms: f64,
    share_ratio: f64,
    random: SplitMix64,
}

#[derive(Debug, Clone)]
enum DelayLaw {
    Constant(f64),
    Uniform(f64, f64),
    Exponential { min_ms: f64, mean_ms: f64 },
    Lognormal { median_ms: f64, sigma: f64 },
    Pareto { min_ms: f64, shape: f64 },
    Samples(Vec<f64>),
}

/// The maximum delay, in ms. A longer delay is a mistake: clients time out before.
const DELAY_MAX_MS: f64 = 600_000.0;

impl DelayStream {
    /// Makes a stream at its start. Errors with the fault of the delay.
    pub fn new(delay: &NameDelay) -> Result<Self, String> {
        let max_ms = check_value("max_ms", delay.max_ms)?.unwrap_or(DELAY_MAX_MS);
        let share_ratio = delay.share_ratio.unwrap_or(1.0);
        if !(0.0..=1.0).contains(&share_ratio) {
            return Err(format!("share_ratio {share_ratio} is not between 0 and 1"));
        }
        Ok(Self {
            law: DelayLaw::new(delay)?,
            max_ms,
            share_ratio,
            random: SplitMix64::new(delay.seed.unwrap_or(1)),
        })
    }

    /// Draws the next delay, in ns.
    pub fn draw_ns(&mut self) -> u64 {
        if self.random.draw_ratio() >= self.share_ratio {
            return 0;
        }
        (self.law.draw_ms(&mut self.random).min(self.max_ms) * 1e6).round() as u64
    }
}

impl DelayLaw {
    fn new(delay: &NameDelay) -> Result<Self, String> {
        use DelayDistribution as Shape;
        let law = match delay.distribution {
            Shape::Constant => Self::Constant(require_value("mean_ms", delay.mean_ms)?),
            Shape::Uniform => {
                let min_ms = require_value("min_ms", delay.min_ms)?;
                Self::Uniform(min_ms, require_value("max_ms", delay.max_ms)?)
            }
            Shape::Exponential => Self::Exponential {
                min_ms: check_value("min_ms", delay.min_ms)?.unwrap_or(0.0),
                mean_ms: require_value("mean_ms", delay.mean_ms)?,
            },
            Shape::Lognormal => Self::Lognormal {
                median_ms: require_value("median_ms", delay.median_ms)?,
                sigma: require_value("sigma", delay.sigma)?,
            },
            Shape::Pareto => Self::Pareto {
                min_ms: require_value("min_ms", delay.min_ms)?,
                shape: require_value("shape", delay.shape)?,
            },
            Shape::Samples => {
                let samples = delay.samples_ms.clone().unwrap_or_default();
                for sample in &samples {
                    require_value("samples_ms", Some(*sample))?;
                }
                Self::Samples(samples)
            }
        };
        law.contradiction().map_or(Ok(law), Err)
    }

    /// Returns the contradiction between individually valid numbers, if any.
    fn contradiction(&self) -> Option<String> {
        match self {
            Self::Uniform(min_ms, max_ms) => {
                (min_ms > max_ms).then(|| format!("min_ms {min_ms} is above max_ms {max_ms}"))
            }
            Self::Pareto { shape, .. } => {
                (*shape <= 0.0).then(|| "shape must be above 0".to_owned())
            }
            Self::Samples(samples) => samples.is_empty().then(|| "samples_ms is empty".to_owned()),
            Self::Constant(_) | Self::Exponential { .. } | Self::Lognormal { .. } => None,
        }
    }

    fn draw_ms(&self, random: &mut SplitMix64) -> f64 {
        match self {
            Self::Constant(mean_ms) => *mean_ms,
            Self::Uniform(min_ms, max_ms) => min_ms + random.draw_ratio() * (max_ms - min_ms),
            Self::Exponential { min_ms, mean_ms } => {
                min_ms - mean_ms * (1.0 - random.draw_ratio()).ln()
            }
            Self::Lognormal { median_ms, sigma } => {
                median_ms * (sigma * random.draw_normal()).exp()
            }
            Self::Pareto { min_ms, shape } => {
                min_ms * (1.0 - random.draw_ratio()).powf(-1.0 / shape)
            }
            Self::Samples(samples) => {
                let at = (random.draw_ratio() * samples.len() as f64) as usize;
                samples[at.min(samples.len() - 1)]
            }
        }
    }
}

fn require_value(name: &str, value: Option<f64>) -> Result<f64, String> {
    check_value(name, value)?.ok_or_else(|| format!("{name} is missing"))
}

fn check_value(name: &str, value: Option<f64>) -> Result<Option<f64>, String> {
    match value {
        Some(value) if !(0.0..=DELAY_MAX_MS).contains(&value) => Err(format!(
            "{name} {value} is not between 0 and {DELAY_MAX_MS}"
        )),
        value => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delay(distribution: DelayDistribution) -> NameDelay {
        NameDelay {
            distribution,
            ..constant_delay(10.0)
        }
    }

    fn sorted_draws_ms(delay: &NameDelay) -> Vec<f64> {
        let mut stream = DelayStream::new(delay).unwrap();
        let mut draws: Vec<f64> = (0..20_000).map(|_| stream.draw_ns() as f64 / 1e6).collect();
        draws.sort_by(f64::total_cmp);
        draws
    }

    #[test]
    fn draws_follow_their_distribution() {
        use DelayDistribution as Shape;
        let exponential = delay(Shape::Exponential);
        let mut uniform = delay(Shape::Uniform);
        (uniform.min_ms, uniform.max_ms) = (Some(10.0), Some(30.0));
        let mut lognormal = delay(Shape::Lognormal);
        (lognormal.median_ms, lognormal.sigma) = (Some(20.0), Some(0.5));
        let mut pareto = delay(Shape::Pareto);
        (pareto.min_ms, pareto.shape) = (Some(10.0), Some(2.0));
        let mut samples = delay(Shape::Samples);
        samples.samples_ms = Some(vec![1.0, 2.0, 3.0]);
        // Quartiles of each law.
        for (delay, quartiles) in [
            (exponential, [2.877, 6.931, 13.863]),
            (uniform, [15.0, 20.0, 25.0]),
            (lognormal, [14.275, 20.0, 28.02]),
            (pareto, [11.547, 14.142, 20.0]),
            (samples, [1.0, 2.0, 3.0]),
        ] {
            let draws = sorted_draws_ms(&delay);
            for (quartile, expected) in [5_000, 10_000, 15_000].into_iter().zip(quartiles) {
                let got = draws[quartile];
                assert!(
                    (got / expected - 1.0).abs() < 0.05,
                    "{delay:?} {got} {expected}"
                );
            }
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_and_another_does_not() {
        let mut delay = delay(DelayDistribution::Exponential);
        let seeded = sorted_draws_ms(&delay);
        assert_eq!(seeded, sorted_draws_ms(&delay));
        delay.seed = Some(2);
        assert_ne!(seeded, sorted_draws_ms(&delay));
        delay.max_ms = Some(5.0);
        assert!(sorted_draws_ms(&delay).ends_with(&[5.0]));
        delay.share_ratio = Some(0.25);
        let delayed = sorted_draws_ms(&delay).into_iter().filter(|ms| *ms > 0.0);
        let count = delayed.count();
        assert!((4_700..5_300).contains(&count), "{count}");
    }

    #[test]
    fn the_nearest_name_decides() {
        let mut behaviours = Behaviours::default();
        let draw = |behaviours: &mut Behaviours, name: &str| {
            behaviours
                .draw(&name_wire(name).unwrap())
                .map(|treatment| (treatment.delay_ns, treatment.failure))
        };
        assert_eq!(draw(&mut behaviours, "a.test"), None);
        behaviours
            .set("*.test", Some(&constant_delay(2.5)), None)
            .unwrap();
        behaviours
            .set("*.b.Test.", None, Some(FailureMode::Drop))
            .unwrap();
        behaviours
            .set("a.test", None, Some(FailureMode::Servfail))
            .unwrap();
        assert_eq!(
            draw(&mut behaviours, "A.test"),
            Some((0, Some(FailureMode::Servfail)))
        );
        assert_eq!(draw(&mut behaviours, "c.test"), Some((2_500_000, None)));
        assert_eq!(
            draw(&mut behaviours, "x.y.b.test"),
            Some((0, Some(FailureMode::Drop)))
        );
        assert_eq!(draw(&mut behaviours, "test"), None);
        assert_eq!(draw(&mut behaviours, "."), None);
        behaviours.set("a.test", None, None).unwrap();
        assert_eq!(draw(&mut behaviours, "a.test"), Some((2_500_000, None)));
    }

    #[test]
    fn wrong_values_are_named() {
        use DelayDistribution as Shape;
        let mut behaviours = Behaviours::default();
        let mut uniform = delay(Shape::Uniform);
        (uniform.min_ms, uniform.max_ms) = (Some(3.0), Some(2.0));
        for (delay, part) in [
            (constant_delay(-1.0), "mean_ms -1 is not between"),
            (constant_delay(f64::NAN), "mean_ms NaN"),
            (delay(Shape::Lognormal), "median_ms is missing"),
            (delay(Shape::Samples), "samples_ms is empty"),
            (uniform, "min_ms 3 is above max_ms 2"),
        ] {
            let error = behaviours.set("a.test", Some(&delay), None).unwrap_err();
            assert!(error.contains(part) && error.contains("a.test"), "{error}");
        }
        assert!(behaviours.set("a..test", None, None).is_err());
        assert!(choose_delay(Some(1.0), Some(constant_delay(1.0))).is_err());
    }
}
