//! The permitted ranges of a profile's values. Not for: reading files or defaults (see `profile`).

use super::error::ProfileError;
use crate::elements::cross_traffic::DEFAULT_PACKET_BYTES;
use crate::elements::far_servers::Network;
use crate::elements::spread;
use resolab_record::{
    CrossTraffic, CrossTrafficModel, DirectionProfile, FarNetwork, GilbertElliott, Jitter,
    JitterDistribution, PolicerSettings,
};
use std::ops::RangeInclusive;

/// Permitted range of a queue's limit.
pub const QUEUE_BYTES: RangeInclusive<f64> = 0.0..=268_435_456.0;
const QUEUE_PACKETS: RangeInclusive<f64> = 0.0..=10_000_000.0;
const PACKET_OVERHEAD_BYTES: RangeInclusive<f64> = 0.0..=1_000.0;
const ONE_WAY_DELAY_MS: RangeInclusive<f64> = 0.0..=10_000.0;
const RATE_BPS: RangeInclusive<f64> = 1_000.0..=100_000_000_000.0;
/// Minimum interval of jitter, in standard deviations. A faster process cannot keep both the
/// packets' order and the spread.
const MIN_INTERVAL_DEVIATIONS: f64 = 5.0;
const INTERVAL_MAX_MS: f64 = 3_600_000.0;
const CODEL_TARGET_MS: RangeInclusive<f64> = 0.01..=1_000.0;
const CODEL_INTERVAL_MS: RangeInclusive<f64> = 0.1..=60_000.0;
const PACKET_BYTES: RangeInclusive<f64> = 20.0..=65_535.0;
const ON_OFF_MS: RangeInclusive<f64> = 0.1..=3_600_000.0;
/// Maximum rate of cross traffic. The model simulates cross traffic packet by packet, up to two
/// seconds before a carried packet.
const CROSS_TRAFFIC_MAX_PACKETS_PER_S: f64 = 1_000_000.0;
/// Minimum of the mean packets in an on period; the model also simulates on periods without
/// packets.
const MIN_PACKETS_WHILE_ON: f64 = 0.001;
const RATIO: RangeInclusive<f64> = 0.0..=1.0;

/// The keys of a direction, for error messages.
struct DirectionKeys<'a> {
    profile: &'a str,
    name: &'a str,
}

/// Checks every value of the direction called `direction`, with packets of up to `mtu_bytes`.
pub fn check_direction(
    profile: &str,
    direction: &str,
    values: &DirectionProfile,
    mtu_bytes: u32,
) -> Result<(), ProfileError> {
    let keys = DirectionKeys {
        profile,
        name: direction,
    };
    // Every key by name: one without a check would let any value through.
    let DirectionProfile {
        one_way_delay_ms,
        jitter,
        rate_bps,
        trace_file,
        loss_ratio,
        gilbert_elliott,
        policer,
        packet_overhead_bytes,
        queue_bytes,
        queue_packets,
        queue_discipline: _, // any is good
        codel_target_ms,
        codel_interval_ms,
        cross_traffic,
    } = values;
    if trace_file.is_some() && rate_bps.is_some() {
        return keys.bad("trace_file", "given without rate_bps");
    }
    let count = |value: &Option<u64>| value.map(|value| value as f64);
    let overhead_bytes = packet_overhead_bytes.map(f64::from);
    for (key, value, range) in [
        (
            "one_way_delay_ms",
            Some(*one_way_delay_ms),
            ONE_WAY_DELAY_MS,
        ),
        ("rate_bps", *rate_bps, RATE_BPS),
        ("loss_ratio", Some(*loss_ratio), RATIO),
        ("queue_bytes", count(queue_bytes), QUEUE_BYTES),
        ("queue_packets", count(queue_packets), QUEUE_PACKETS),
        (
            "packet_overhead_bytes",
            overhead_bytes,
            PACKET_OVERHEAD_BYTES,
        ),
        ("codel_target_ms", *codel_target_ms, CODEL_TARGET_MS),
        ("codel_interval_ms", *codel_interval_ms, CODEL_INTERVAL_MS),
    ] {
        keys.check(key, value, range)?;
    }
    keys.check_policer(policer.as_ref(), mtu_bytes)?;
    keys.check_parts(
        jitter.as_ref(),
        gilbert_elliott.as_ref(),
        cross_traffic.as_ref(),
        *one_way_delay_ms,
    )
}

/// Checks the networks of far servers.
pub fn check_far(profile: &str, far: &[FarNetwork]) -> Result<(), ProfileError> {
    for network in far {
        if Network::parse(&network.network).is_none() {
            return Err(ProfileError::BadText {
                profile: profile.to_owned(),
                key: format!("far.network = {:?}", network.network),
                expected: "the first address of a network and its length, as in 10.77.1.16/28",
            });
        }
        let delay_ms = network.extra_one_way_delay_ms;
        check_range(
            profile,
            "far.extra_one_way_delay_ms",
            delay_ms,
            ONE_WAY_DELAY_MS,
        )?;
    }
    Ok(())
}

impl DirectionKeys<'_> {
    /// Checks the keys with a table as value.
    fn check_parts(
        &self,
        jitter: Option<&Jitter>,
        chain: Option<&GilbertElliott>,
        traffic: Option<&CrossTraffic>,
        delay_ms: f64,
    ) -> Result<(), ProfileError> {
        if let Some(jitter) = jitter {
            self.check_jitter(jitter, delay_ms)?;
        }
        if let Some(chain) = chain {
            self.check_chain(chain)?;
        }
        if let Some(traffic) = traffic {
            self.check_cross_traffic(traffic)?;
        }
        Ok(())
    }

    fn check(
        &self,
        key: &str,
        value: impl Into<Option<f64>>,
        range: RangeInclusive<f64>,
    ) -> Result<(), ProfileError> {
        let Some(value) = value.into() else {
            return Ok(());
        };
        check_range(self.profile, &format!("{}.{key}", self.name), value, range)
    }

    fn check_jitter(&self, jitter: &Jitter, delay_ms: f64) -> Result<(), ProfileError> {
        if jitter.standard_deviation_ms.is_some() == jitter.quantiles_ms.is_some() {
            return self.bad(
                "jitter",
                "given by either standard_deviation_ms or quantiles_ms",
            );
        }
        // A normal delay must not reach below 0; a log-normal one never does.
        let most_ms = match jitter.distribution {
            Some(JitterDistribution::Lognormal) => delay_ms * 2.0,
            Some(JitterDistribution::Normal) | None => delay_ms / 3.0,
        };
        let deviation_ms = jitter.standard_deviation_ms;
        self.check("jitter.standard_deviation_ms", deviation_ms, 0.0..=most_ms)?;
        if let Some(quantiles_ms) = &jitter.quantiles_ms {
            self.check_quantiles(quantiles_ms, delay_ms)?;
        }
        let least_ms = (MIN_INTERVAL_DEVIATIONS * spread::deviation_ms(jitter)).max(1.0);
        self.check(
            "jitter.interval_ms",
            jitter.interval_ms,
            least_ms..=INTERVAL_MAX_MS,
        )
    }

    fn check_cross_traffic(&self, traffic: &CrossTraffic) -> Result<(), ProfileError> {
        let packet_bytes = traffic.packet_bytes.map(f64::from);
        self.check("cross_traffic.rate_bps", traffic.rate_bps, RATE_BPS)?;
        self.check("cross_traffic.packet_bytes", packet_bytes, PACKET_BYTES)?;
        self.check("cross_traffic.on_ms", traffic.on_ms, ON_OFF_MS)?;
        self.check("cross_traffic.off_ms", traffic.off_ms, ON_OFF_MS)?;
        let is_on_off = traffic.model == CrossTrafficModel::OnOff;
        if [traffic.on_ms, traffic.off_ms].map(|time| time.is_some()) != [is_on_off; 2] {
            return self.bad(
                "cross_traffic",
                "given with both on_ms and off_ms for the model on_off, with neither for poisson",
            );
        }
        let length_bytes = traffic.packet_bytes.unwrap_or(DEFAULT_PACKET_BYTES);
        let packets_per_s = traffic.rate_bps / 8.0 / f64::from(length_bytes);
        if packets_per_s > CROSS_TRAFFIC_MAX_PACKETS_PER_S {
            return self.bad(
                "cross_traffic",
                "at most 1,000,000 packets a second (rate_bps / 8 / packet_bytes)",
            );
        }
        let while_on = traffic.on_ms.map(|on_ms| packets_per_s * on_ms / 1e3);
        if while_on.is_some_and(|packets| packets < MIN_PACKETS_WHILE_ON) {
            return self.bad(
                "cross_traffic",
                "at least 0.001 packets while on (rate_bps / 8 / packet_bytes x on_ms)",
            );
        }
        Ok(())
    }

    fn check_quantiles(&self, quantiles_ms: &[f64], delay_ms: f64) -> Result<(), ProfileError> {
        if !(2..=1_001).contains(&quantiles_ms.len()) || !quantiles_ms.is_sorted() {
            return self.bad("jitter.quantiles_ms", "2 to 1001 values, lowest first");
        }
        quantiles_ms
            .iter()
            .try_for_each(|value| self.check("jitter.quantiles_ms", *value, -delay_ms..=10_000.0))
    }

    fn bad(&self, key: &str, expected: &'static str) -> Result<(), ProfileError> {
        Err(ProfileError::BadText {
            profile: self.profile.to_owned(),
            key: format!("{}.{key}", self.name),
            expected,
        })
    }

    /// Checks a policer. A packet longer than the burst would never pass.
    fn check_policer(
        &self,
        policer: Option<&PolicerSettings>,
        mtu_bytes: u32,
    ) -> Result<(), ProfileError> {
        let Some(policer) = policer else {
            return Ok(());
        };
        let burst_bytes = f64::from(mtu_bytes)..=*QUEUE_BYTES.end();
        self.check("policer.rate_bps", policer.rate_bps, RATE_BPS)?;
        self.check(
            "policer.burst_bytes",
            policer.burst_bytes as f64,
            burst_bytes,
        )
    }

    fn check_chain(&self, chain: &GilbertElliott) -> Result<(), ProfileError> {
        for (key, value) in [
            ("good_to_bad_ratio", Some(chain.good_to_bad_ratio)),
            ("bad_to_good_ratio", Some(chain.bad_to_good_ratio)),
            ("good_loss_ratio", chain.good_loss_ratio),
            ("bad_loss_ratio", chain.bad_loss_ratio),
        ] {
            self.check(&format!("gilbert_elliott.{key}"), value, RATIO)?;
        }
        Ok(())
    }
}

/// Checks a value against a range.
pub fn check_range(
    profile: &str,
    key: &str,
    value: f64,
    range: RangeInclusive<f64>,
) -> Result<(), ProfileError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(ProfileError::OutOfRange {
        profile: profile.to_owned(),
        key: key.to_owned(),
        value,
        min: *range.start(),
        max: *range.end(),
    })
}
