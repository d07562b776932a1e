//! The constant delay after the link: what the way itself takes. Not for variation: that is a
//! process in time (RFC 3393), another element in this place.

/// A constant one-way delay.
#[derive(Debug, Clone, Copy)]
pub struct ConstantDelay {
    delay_ns: u64,
}

impl ConstantDelay {
    /// From milliseconds, to the nearest nanosecond.
    pub fn from_ms(one_way_delay_ms: f64) -> Self {
        Self {
            delay_ns: (one_way_delay_ms * 1e6).round() as u64,
        }
    }

    /// When what left at `departure_ns` is there.
    pub fn arrival_ns(self, departure_ns: u64) -> u64 {
        departure_ns + self.delay_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_become_nanoseconds() {
        assert_eq!(
            ConstantDelay::from_ms(7.383_573_5).arrival_ns(100),
            7_383_674
        );
        assert_eq!(ConstantDelay::from_ms(0.0).arrival_ns(100), 100);
    }
}
