//! The delay after the link: the one-way delay of the path, constant or varying, and the order of
//! packets. Not for: the variation's shape (see `jitter`).

use crate::elements::jitter::{JitterNumbers, VaryingDelay};
use crate::elements::random::RandomStream;
use resolab_record::DirectionProfile;

/// A one-way delay, constant or varying.
#[derive(Debug, Clone)]
pub struct Delay {
    kind: DelayKind,
}

#[derive(Debug, Clone)]
enum DelayKind {
    Constant {
        delay_ns: u64,
        numbers: JitterNumbers,
    },
    Varying(VaryingDelay),
}

impl Delay {
    /// Makes the profile's delay; `stream` drives the variation.
    pub fn new(profile: &DirectionProfile, stream: RandomStream) -> Self {
        Self {
            kind: DelayKind::new(profile, JitterNumbers::new(stream)),
        }
    }

    /// Changes to another delay. Without a new stream, a varying delay continues from the present
    /// state.
    pub fn change(&mut self, profile: &DirectionProfile, stream: Option<RandomStream>) {
        let numbers = match (&self.kind, stream) {
            (_, Some(stream)) => JitterNumbers::new(stream),
            (DelayKind::Constant { numbers, .. }, None) => numbers.clone(),
            (DelayKind::Varying(varying), None) => varying.clone().into_numbers(),
        };
        self.kind = DelayKind::new(profile, numbers);
    }

    /// Returns true when packets may overtake each other.
    pub fn reorders(&self) -> bool {
        matches!(&self.kind, DelayKind::Varying(varying) if varying.reorders())
    }

    /// Returns the arrival time after a departure at `departure_ns`, without keeping order.
    pub fn arrival_ns(&mut self, departure_ns: u64) -> u64 {
        departure_ns
            + match &mut self.kind {
                DelayKind::Constant { delay_ns, .. } => *delay_ns,
                DelayKind::Varying(varying) => varying.delay_ns(departure_ns),
            }
    }
}

impl DelayKind {
    fn new(profile: &DirectionProfile, numbers: JitterNumbers) -> Self {
        let mean_ms = profile.one_way_delay_ms;
        match &profile.jitter {
            None => Self::Constant {
                delay_ns: to_ns(mean_ms),
                numbers,
            },
            Some(wanted) => Self::Varying(VaryingDelay::new(mean_ms, wanted, numbers)),
        }
    }
}

/// Converts milliseconds to the nearest nanosecond.
pub fn to_ns(delay_ms: f64) -> u64 {
    (delay_ms * 1e6).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(one_way_delay_ms: f64) -> Delay {
        let profile = DirectionProfile {
            one_way_delay_ms,
            ..DirectionProfile::default()
        };
        Delay::new(&profile, RandomStream::derive(1, "delay"))
    }

    #[test]
    fn milliseconds_become_nanoseconds() {
        assert_eq!(constant(7.383_573_5).arrival_ns(100), 7_383_674);
        assert_eq!(constant(0.0).arrival_ns(100), 100);
    }
}
