//! Tests of the policer against closed forms and against a token bucket written the other way round.

use super::*;
use proptest::prelude::*;

fn settings(rate_bps: f64, burst_bytes: u64) -> PolicerSettings {
    PolicerSettings {
        rate_bps,
        burst_bytes,
    }
}

fn policer(rate_bps: f64, burst_bytes: u64) -> Policer {
    Policer::new(Some(settings(rate_bps, burst_bytes)))
}

/// Virtual scheduling (ITU-T I.371, GCRA): no tokens, but the time at which the bucket will be full
/// again, in whole bits times the rate. A packet conforms if that is at most a burst's time away.
struct VirtualScheduling {
    rate_bps: i128,
    burst_bits: i128,
    /// Times the rate, in bits x 1e9.
    full_at: i128,
}

impl VirtualScheduling {
    fn conforms(&mut self, now_ns: u64, bytes: u32) -> bool {
        let now = i128::from(now_ns) * self.rate_bps;
        let full_at = self.full_at.max(now) + i128::from(bytes) * 8 * 1_000_000_000;
        let conforms = full_at - now <= self.burst_bits * 1_000_000_000;
        if conforms {
            self.full_at = full_at;
        }
        conforms
    }
}

/// Arrivals as times and lengths, from the gaps before them.
fn times(packets: Vec<(u64, u32)>) -> Vec<(u64, u32)> {
    let mut now_ns = 0;
    packets
        .into_iter()
        .map(|(gap_ns, bytes)| {
            now_ns += gap_ns;
            (now_ns, bytes)
        })
        .collect()
}

#[test]
fn without_settings_everything_passes() {
    let mut none = Policer::default();
    assert!((0..10_000).all(|_| none.passes(0, 65_535)));
}

#[test]
fn the_burst_passes_at_once_and_then_the_rate_decides() {
    let mut policer = policer(12e6, 4_500);
    let passed: Vec<bool> = (0..5).map(|_| policer.passes(7, 1_500)).collect();
    assert_eq!(passed, [true, true, true, false, false]);
    // 1,500 bytes at 12 Mbit/s are 1 ms; a nanosecond less is too few tokens.
    assert!(!policer.passes(1_000_006, 1_500));
    assert!(policer.passes(1_000_007, 1_500));
}

#[test]
fn who_is_dropped_takes_no_tokens() {
    let mut policer = policer(8_000.0, 1_000);
    assert!(!policer.passes(0, 1_001));
    assert!(policer.passes(0, 600) && !policer.passes(0, 401) && policer.passes(0, 400));
}

#[test]
fn silence_fills_the_bucket_to_the_burst_and_no_further() {
    let mut policer = policer(1e9, 3_000);
    assert!(policer.passes(0, 3_000));
    let long_after_ns = u64::MAX / 2;
    assert!(policer.passes(long_after_ns, 3_000) && !policer.passes(long_after_ns, 1));
}

#[test]
fn a_change_keeps_the_tokens_and_a_seed_fills_the_bucket() {
    let mut policer = policer(8_000.0, 3_000);
    assert!(policer.passes(0, 2_000));
    policer.change(Some(settings(8_000.0, 500)), false);
    assert!(!policer.passes(0, 501) && policer.passes(0, 500));
    policer.change(Some(settings(8_000.0, 2_000)), false);
    assert!(!policer.passes(0, 1));
    policer.change(Some(settings(8_000.0, 2_000)), true);
    assert!(policer.passes(0, 2_000) && !policer.passes(0, 1));
    policer.change(None, false);
    assert!(policer.passes(0, 65_535));
    policer.change(Some(settings(8_000.0, 1_000)), false);
    assert!(policer.passes(0, 1_000));
}

/// Full packets at twice the rate for a second: the bytes that pass are the closed form's whole
/// packets, `burst + rate x t`.
#[test]
fn an_overloaded_policer_passes_the_closed_form() {
    const COUNT: u64 = 3_684; // 44.2 Mbit/s of 1,500 bytes for a second
    let mut policer = policer(22.1e6, 262_144);
    let gap_ns = 1_000_000_000 / COUNT;
    let passed = (0..=COUNT).filter(|index| policer.passes(index * gap_ns, 1_500));
    let most = (262_144.0 + 22.1e6 / 8.0 * (COUNT * gap_ns) as f64 / 1e9) / 1_500.0;
    let passed = passed.count() as f64;
    assert!(passed <= most && passed > most - 1.0, "{passed} of {most}");
}

proptest! {
    /// In no window more passes than the burst and what the rate brings in it.
    #[test]
    fn no_window_passes_more_than_burst_and_rate(
        rate_bps in 1_000_u64..1_000_000_000,
        burst_bytes in 1_500_u64..300_000,
        packets in prop::collection::vec((0_u64..3_000_000, 20_u32..9_000), 1..150),
    ) {
        let mut policer = policer(rate_bps as f64, burst_bytes);
        let passed: Vec<(u64, u32)> = times(packets)
            .into_iter()
            .filter(|(now_ns, bytes)| policer.passes(*now_ns, *bytes))
            .collect();
        for first in 0..passed.len() {
            let mut bytes = 0_u128;
            for (now_ns, own_bytes) in &passed[first..] {
                bytes += u128::from(*own_bytes);
                let window_ns = u128::from(now_ns - passed[first].0);
                let most = u128::from(burst_bytes) * 8_000_000_000
                    + u128::from(rate_bps) * window_ns;
                prop_assert!(bytes * 8_000_000_000 <= most);
            }
        }
    }

    /// Arrivals no faster than the rate are never dropped, if the burst holds the longest.
    #[test]
    fn below_the_rate_nothing_is_dropped(
        rate_bps in 1_000_u64..1_000_000_000,
        packets in prop::collection::vec((20_u32..9_000, 0_u64..1_000_000), 1..300),
    ) {
        let longest = packets.iter().map(|(bytes, _)| u64::from(*bytes)).max().unwrap();
        let mut policer = policer(rate_bps as f64, longest);
        let mut now_ns = 0;
        for (bytes, more_ns) in packets {
            now_ns += (u64::from(bytes) * 8_000_000_000).div_ceil(rate_bps) + more_ns;
            prop_assert!(policer.passes(now_ns, bytes));
        }
    }

    /// Tokens and virtual scheduling say the same of every packet.
    #[test]
    fn virtual_scheduling_says_the_same(
        rate_bps in 1_000_u64..1_000_000_000,
        burst_bytes in 1_u64..300_000,
        packets in prop::collection::vec((0_u64..30_000_000, 20_u32..9_000), 1..300),
    ) {
        let mut policer = policer(rate_bps as f64, burst_bytes);
        let mut oracle = VirtualScheduling {
            rate_bps: i128::from(rate_bps),
            burst_bits: i128::from(burst_bytes) * 8,
            full_at: 0,
        };
        for (now_ns, bytes) in times(packets) {
            prop_assert_eq!(policer.passes(now_ns, bytes), oracle.conforms(now_ns, bytes));
        }
    }
}
