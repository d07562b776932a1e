//! The server's time before an answer: a constant, or drawn from a distribution, with the same
//! settings as the delays of names.
//!
//! For: the wait before an answer, with the same draws in the same order for the same seed.
//! Not for: waiting.

use crate::dns::behaviour::{DelayStream, constant_delay};
use resolab_record::NameDelay;
use serde::Deserialize;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The longest wait. The edge closes a connection after 30 s of silence.
const LONGEST: Duration = Duration::from_secs(25);

/// The configured server time.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ServerTime {
    /// A constant time, in ms.
    Constant(f64),
    /// A time drawn for each answer; above 25 s the wait is 25 s.
    Drawn(NameDelay),
}

impl ServerTime {
    fn stream(&self, seed: u64) -> Result<DelayStream, String> {
        match self {
            Self::Constant(ms) if *ms > LONGEST.as_secs_f64() * 1_000.0 => {
                Err(format!("{ms} ms is longer than {LONGEST:?}"))
            }
            Self::Constant(ms) => DelayStream::new(&constant_delay(*ms)),
            Self::Drawn(delay) => DelayStream::new(&NameDelay {
                seed: Some(delay.seed.unwrap_or(seed)),
                ..delay.clone()
            }),
        }
    }

    /// Returns the fault of the setting, if any.
    pub fn contradiction(&self) -> Option<String> {
        let reason = self.stream(0).err()?;
        Some(format!("server_time_ms: {reason}"))
    }
}

/// The sequence of waits of one resource.
#[derive(Debug)]
pub struct WaitSequence(Mutex<DelayStream>);

impl WaitSequence {
    /// Makes the sequence at its start; `seed` applies unless the setting has a seed.
    pub fn new(time: &ServerTime, seed: u64) -> Result<Self, String> {
        time.stream(seed).map(|stream| Self(Mutex::new(stream)))
    }

    /// Returns the next wait.
    pub fn next(&self) -> Duration {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Duration::from_nanos(stream.draw_ns()).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use resolab_record::DelayDistribution;

    #[test]
    fn a_constant_is_constant_and_draws_depend_on_the_seed() {
        let constant = WaitSequence::new(&ServerTime::Constant(1.5), 1).unwrap();
        let waits = [constant.next(), constant.next()];
        assert_eq!(waits, [Duration::from_micros(1_500); 2]);
        let drawn = ServerTime::Drawn(NameDelay {
            distribution: DelayDistribution::Exponential,
            ..constant_delay(1e5)
        });
        let draws = |seed| {
            let waits = WaitSequence::new(&drawn, seed).unwrap();
            std::array::from_fn::<_, 50, _>(|_| waits.next())
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
        assert_eq!(draws(1).into_iter().max(), Some(LONGEST));
    }

    #[test]
    fn nonsense_is_named() {
        for ms in [-1.0, f64::NAN, 25_001.0] {
            assert!(ServerTime::Constant(ms).contradiction().is_some(), "{ms}");
        }
    }
}
