//! Cross traffic on the link, as arrivals in virtual time: Poisson, or Poisson during random times
//! with silence in between (an interrupted Poisson process). These packets are not carried; they
//! take room in the queue and time on the link. Not for: their fate there.

use crate::elements::random::RandomStream;
use resolab_record::CrossTraffic;
use resolab_record::CrossTrafficModel;

/// Warm-up of the cross traffic, in ns. Arrivals begin this long before the first measured packet,
/// for the packet to meet a link busy for a while. After a longer silence of all other packets,
/// arrivals from before this period are skipped.
pub const WARM_UP_NS: u64 = 2_000_000_000;
/// Length of a packet where the profile says nothing.
pub const DEFAULT_PACKET_BYTES: u32 = 1_500;

/// The arrivals of cross traffic.
#[derive(Debug, Clone)]
pub struct CrossTrafficArrivals {
    wanted: Option<CrossTraffic>,
    stream: RandomStream,
    /// The next arrival and the end of the arrival's burst.
    next: Option<(u64, u64)>,
    seen_ns: u64,
}

impl CrossTrafficArrivals {
    /// Makes arrivals by `wanted` (checked), driven by `stream`.
    pub fn new(wanted: Option<CrossTraffic>, stream: RandomStream) -> Self {
        Self {
            wanted,
            stream,
            next: None,
            seen_ns: 0,
        }
    }

    /// Changes to another kind and, if given, another stream.
    pub fn change(&mut self, wanted: Option<CrossTraffic>, stream: Option<RandomStream>) {
        if self.wanted != wanted || stream.is_some() {
            self.next = None;
        }
        self.wanted = wanted;
        if let Some(stream) = stream {
            self.stream = stream;
        }
    }

    /// Takes the next arrival at or before `now_ns`, with the packet's length. Each arrival is
    /// returned once.
    pub fn take_until(&mut self, now_ns: u64) -> Option<(u64, u32)> {
        let wanted = self.wanted?;
        let begin_ns = now_ns.saturating_sub(WARM_UP_NS).max(self.seen_ns);
        let (at_ns, burst_end_ns) = match self.next {
            Some(next) if next.0 >= now_ns.saturating_sub(WARM_UP_NS) => next,
            _ => self.begin(&wanted, begin_ns),
        };
        if at_ns > now_ns {
            self.next = Some((at_ns, burst_end_ns));
            self.seen_ns = self.seen_ns.max(now_ns);
            return None;
        }
        self.next = Some(self.advance(&wanted, at_ns, burst_end_ns));
        Some((at_ns, wanted.packet_bytes.unwrap_or(DEFAULT_PACKET_BYTES)))
    }

    /// Returns the first arrival after `from_ns` of a stationary process.
    fn begin(&mut self, wanted: &CrossTraffic, from_ns: u64) -> (u64, u64) {
        let Some((on_ns, off_ns)) = mean_on_off_ns(wanted) else {
            return self.advance(wanted, from_ns, u64::MAX);
        };
        let is_on = self.stream.next_ratio() * (on_ns + off_ns) < on_ns;
        let burst_end_ns = if is_on {
            from_ns + self.exponential_ns(on_ns)
        } else {
            from_ns
        };
        self.advance(wanted, from_ns, burst_end_ns)
    }

    /// Returns the arrival after `at_ns` in a burst until `burst_end_ns`, or in a later burst.
    fn advance(
        &mut self,
        wanted: &CrossTraffic,
        mut at_ns: u64,
        mut burst_end_ns: u64,
    ) -> (u64, u64) {
        let packet_bytes = wanted.packet_bytes.unwrap_or(DEFAULT_PACKET_BYTES);
        let gap_ns = f64::from(packet_bytes) * 8e9 / wanted.rate_bps;
        loop {
            at_ns = at_ns.saturating_add(self.exponential_ns(gap_ns));
            let Some((on_ns, off_ns)) = mean_on_off_ns(wanted) else {
                return (at_ns, burst_end_ns);
            };
            if at_ns <= burst_end_ns {
                return (at_ns, burst_end_ns);
            }
            // Memoryless: what was drawn beyond the burst's end does not count.
            at_ns = burst_end_ns.saturating_add(self.exponential_ns(off_ns));
            burst_end_ns = at_ns.saturating_add(self.exponential_ns(on_ns));
        }
    }

    fn exponential_ns(&mut self, mean_ns: f64) -> u64 {
        (-mean_ns * (1.0 - self.stream.next_ratio()).ln()).round() as u64
    }
}

/// Returns the mean times on and off; `None` if always on.
fn mean_on_off_ns(wanted: &CrossTraffic) -> Option<(f64, f64)> {
    match wanted.model {
        CrossTrafficModel::Poisson => None,
        CrossTrafficModel::OnOff => Some((wanted.on_ms? * 1e6, wanted.off_ms? * 1e6)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poisson(rate_bps: f64) -> CrossTraffic {
        CrossTraffic {
            model: CrossTrafficModel::Poisson,
            rate_bps,
            packet_bytes: None,
            on_ms: None,
            off_ms: None,
        }
    }

    fn on_off(rate_bps: f64, on_ms: f64, off_ms: f64) -> CrossTraffic {
        CrossTraffic {
            model: CrossTrafficModel::OnOff,
            on_ms: Some(on_ms),
            off_ms: Some(off_ms),
            ..poisson(rate_bps)
        }
    }

    fn traffic(wanted: CrossTraffic, seed: u64) -> CrossTrafficArrivals {
        CrossTrafficArrivals::new(Some(wanted), RandomStream::derive(seed, "cross"))
    }

    fn arrivals(traffic: &mut CrossTrafficArrivals, seconds: u64) -> Vec<u64> {
        (0..=seconds * 10)
            .flat_map(|tenth| {
                let until_ns = tenth * 100_000_000;
                std::iter::from_fn(|| traffic.take_until(until_ns)).collect::<Vec<_>>()
            })
            .map(|(at_ns, _)| at_ns)
            .collect()
    }

    /// Generates 1,000 packets a second. The number in a window is Poisson: variance and mean are
    /// equal.
    #[test]
    fn poisson_counts_have_the_asked_mean_and_its_variance() {
        let times = arrivals(&mut traffic(poisson(12e6), 1), 200);
        assert!(times.is_sorted());
        assert!(
            (times.len() as f64 / 200_000.0 - 1.0).abs() < 0.01,
            "{}",
            times.len()
        );
        let mut counts = vec![0.0_f64; 20_000];
        for at_ns in &times {
            if let Some(count) = counts.get_mut((at_ns / 10_000_000) as usize) {
                *count += 1.0;
            }
        }
        let squares: f64 = counts.iter().map(|count| (count - 10.0).powi(2)).sum();
        assert!(
            (squares / 20_000.0 - 10.0).abs() < 0.5,
            "{}",
            squares / 20_000.0
        );
    }

    #[test]
    fn on_and_off_share_the_time_as_asked() {
        let times = arrivals(&mut traffic(on_off(12e6, 100.0, 300.0), 1), 2_000);
        let share = times.len() as f64 / 2_000_000.0;
        assert!((share - 0.25).abs() < 0.02, "{share}");
        // Gaps longer than any in a burst are the silences: one per 400 ms.
        let silences = times
            .windows(2)
            .filter(|pair| pair[1] - pair[0] > 20_000_000)
            .count();
        let expected = 2_000.0 / 0.4 * (-20.0_f64 / 300.0).exp();
        assert!(
            (silences as f64 / expected - 1.0).abs() < 0.05,
            "{silences} for {expected}"
        );
    }

    #[test]
    fn same_seed_same_arrivals_and_a_long_silence_is_skipped() {
        let first = arrivals(&mut traffic(poisson(12e6), 1), 5);
        assert_eq!(first, arrivals(&mut traffic(poisson(12e6), 1), 5));
        assert_ne!(first, arrivals(&mut traffic(poisson(12e6), 2), 5));
        let mut late = traffic(poisson(12e6), 1);
        late.take_until(0);
        let hour_ns = 3_600_000_000_000;
        let caught_up: Vec<_> = std::iter::from_fn(|| late.take_until(hour_ns)).collect();
        assert!(
            (1_500..2_500).contains(&caught_up.len()),
            "{}",
            caught_up.len()
        );
        assert!(
            caught_up
                .iter()
                .all(|(at_ns, _)| (hour_ns - WARM_UP_NS..=hour_ns).contains(at_ns))
        );
    }

    #[test]
    fn none_is_none() {
        let mut silent = CrossTrafficArrivals::new(None, RandomStream::derive(1, "cross"));
        assert_eq!(silent.take_until(u64::MAX), None);
    }
}
