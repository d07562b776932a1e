//! The link's rate: packets are served in turn, each for the duration of the packet's bits. Exact:
//! the remaining fraction of a nanosecond is carried to the next packet during a busy period.
//! Not for: deciding on waiting (see the queue), or anything after the last bit's departure.

/// A packet's time on the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceTime {
    /// Departure of the first bit, in ns; before, the packet waits.
    pub start_ns: u64,
    /// Departure of the last bit, in ns.
    pub finish_ns: u64,
}

/// A server with a constant rate, or without a limit.
#[derive(Debug, Clone)]
pub struct ConstantRate {
    /// Rate in thousandths of a bit per second; `None` is no limit.
    rate_millibits: Option<u64>,
    busy_until_ns: u64,
    /// Excess of the last packet's finish over `busy_until_ns`, in units of 1 ns /
    /// `rate_millibits`.
    remainder: u64,
}

impl ConstantRate {
    /// Serves `rate_bps` bits per second, free from the start.
    pub fn new(rate_bps: Option<f64>) -> Self {
        Self::free_from(rate_bps, 0)
    }

    /// Serves `rate_bps` bits per second, free from `busy_until_ns`.
    pub fn free_from(rate_bps: Option<f64>, busy_until_ns: u64) -> Self {
        Self {
            rate_millibits: rate_bps.map(to_millibits),
            busy_until_ns,
            remainder: 0,
        }
    }

    /// Changes to another rate; packets on the link or waiting keep their times.
    pub fn change(&mut self, rate_bps: Option<f64>) {
        self.rate_millibits = rate_bps.map(to_millibits);
        self.remainder = 0;
    }

    /// Returns the start of service for a packet arriving at `now_ns`.
    pub fn next_start_ns(&self, now_ns: u64) -> u64 {
        now_ns.max(self.busy_until_ns)
    }

    /// Serves a packet of `bytes` arriving at `now_ns`.
    pub fn serve(&mut self, now_ns: u64, bytes: u32) -> ServiceTime {
        let start_ns = self.next_start_ns(now_ns);
        if now_ns > self.busy_until_ns {
            self.remainder = 0;
        }
        let Some(rate) = self.rate_millibits else {
            self.busy_until_ns = start_ns;
            return ServiceTime {
                start_ns,
                finish_ns: start_ns,
            };
        };
        // bits x 10^9 ns x 10^3 millibits: below 2^63 for any 32-bit size up to 1 GB.
        let work = u64::from(bytes) * 8 * 1_000_000_000_000 + self.remainder;
        self.remainder = work % rate;
        self.busy_until_ns = start_ns + work / rate;
        ServiceTime {
            start_ns,
            finish_ns: self.busy_until_ns,
        }
    }
}

fn to_millibits(rate_bps: f64) -> u64 {
    ((rate_bps * 1_000.0).round() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_packet_takes_its_bits() {
        let mut link = ConstantRate::new(Some(12_000_000.0));
        let service = link.serve(5_000, 1_500);
        assert_eq!(
            service,
            ServiceTime {
                start_ns: 5_000,
                finish_ns: 1_005_000
            }
        );
    }

    #[test]
    fn a_second_packet_waits_for_the_first() {
        let mut link = ConstantRate::new(Some(12_000_000.0));
        link.serve(0, 1_500);
        assert_eq!(
            link.serve(1, 1_500),
            ServiceTime {
                start_ns: 1_000_000,
                finish_ns: 2_000_000
            }
        );
    }

    #[test]
    fn no_limit_takes_no_time() {
        let mut link = ConstantRate::new(None);
        assert_eq!(
            link.serve(9, 1_500),
            ServiceTime {
                start_ns: 9,
                finish_ns: 9
            }
        );
    }

    #[test]
    fn a_change_keeps_the_backlog() {
        let mut link = ConstantRate::new(Some(12_000_000.0));
        link.serve(0, 1_500);
        link.change(Some(120_000_000.0));
        assert_eq!(
            link.serve(0, 1_500),
            ServiceTime {
                start_ns: 1_000_000,
                finish_ns: 1_100_000
            }
        );
        link.change(None);
        assert_eq!(link.serve(0, 1_500).finish_ns, 1_100_000);
    }

    proptest! {
        /// A train of packets ends exactly with the last bit: no drift from rounding.
        #[test]
        fn a_busy_link_is_exact(
            rate_bps in 1_000_u64..1_000_000_000,
            sizes in prop::collection::vec(20_u32..9_000, 1..200),
        ) {
            let mut link = ConstantRate::new(Some(rate_bps as f64));
            let bits: u128 = sizes.iter().map(|bytes| u128::from(*bytes) * 8).sum();
            let last = sizes.iter().map(|bytes| link.serve(0, *bytes)).last().unwrap();
            let exact_ns = bits * 1_000_000_000 / u128::from(rate_bps);
            prop_assert_eq!(u128::from(last.finish_ns), exact_ns);
        }

        /// Services never overlap and never start before the packet is there.
        #[test]
        fn one_at_a_time(
            rate_bps in 1_000.0_f64..1e10,
            packets in prop::collection::vec((0_u64..3_000_000, 20_u32..9_000), 1..200),
        ) {
            let mut link = ConstantRate::new(Some(rate_bps));
            let (mut now_ns, mut free_ns) = (0, 0);
            for (gap_ns, bytes) in packets {
                now_ns += gap_ns;
                let service = link.serve(now_ns, bytes);
                prop_assert_eq!(service.start_ns, now_ns.max(free_ns));
                prop_assert!(service.finish_ns >= service.start_ns);
                free_ns = service.finish_ns;
            }
        }
    }
}
