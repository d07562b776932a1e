//! Shapes of an access-link profile, in files, commands and records alike. Not for: what the values
//! do or which are allowed; that is the link crate's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a full queue behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueDiscipline {
    /// Arrivals that do not fit are dropped.
    Droptail,
    /// Besides, packets that would leave after too long a wait are dropped (CoDel, RFC 8289).
    Codel,
}

/// Bursty loss: a chain of two states that moves once per packet (Gilbert 1960, Elliott 1963). As in
/// netem, the state moves first and the packet is lost by the state it was in before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// Probability per packet to leave the good state.
    pub good_to_bad_ratio: f64,
    /// Probability per packet to leave the bad state; with the default losses, 1 / mean burst length.
    pub bad_to_good_ratio: f64,
    /// Share of packets lost in the good state; absent: 0.
    #[serde(default)]
    pub good_loss_ratio: Option<f64>,
    /// Share of packets lost in the bad state; absent: 1.
    #[serde(default)]
    pub bad_loss_ratio: Option<f64>,
}

/// Shape of a varying delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JitterDistribution {
    /// Normal about the one-way delay.
    Normal,
    /// The whole one-way delay is log-normal, so never negative however large its spread.
    Lognormal,
}

/// Variation of the one-way delay: a process in time that keeps packets in order, unless
/// `per_packet_reordering` is set. Either a standard deviation or quantiles are given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// Standard deviation of the delay; its mean stays `one_way_delay_ms`.
    #[serde(default)]
    pub standard_deviation_ms: Option<f64>,
    /// Shape, with a standard deviation; absent: normal.
    #[serde(default)]
    pub distribution: Option<JitterDistribution>,
    /// Equally spaced quantiles, lowest to highest, of what is added to `one_way_delay_ms`.
    #[serde(default)]
    pub quantiles_ms: Option<Vec<f64>>,
    /// Time between independent values of the process; absent: 10 standard deviations, at least 10.
    #[serde(default)]
    pub interval_ms: Option<f64>,
    /// Every packet's delay is drawn on its own; packets overtake each other.
    #[serde(default)]
    pub per_packet_reordering: bool,
}

/// How other traffic on the link comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CrossTrafficModel {
    /// Independent packets at a constant mean rate.
    Poisson,
    /// The same during random times, silence in between.
    OnOff,
}

/// Traffic of others that takes up queue and rate but is delivered to nobody.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossTraffic {
    /// How it comes.
    pub model: CrossTrafficModel,
    /// Mean bits of IP packets per second, while it is on.
    pub rate_bps: f64,
    /// Length of its packets; absent: 1,500.
    #[serde(default)]
    pub packet_bytes: Option<u32>,
    /// Mean of the exponential time it is on; with `on_off` only.
    #[serde(default)]
    pub on_ms: Option<f64>,
    /// Mean of the exponential time it is off; with `on_off` only.
    #[serde(default)]
    pub off_ms: Option<f64>,
}

/// A token bucket that drops what comes above its rate, at once: nothing waits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicerSettings {
    /// Bits of IP packets per second that its tokens come in at.
    pub rate_bps: f64,
    /// Bytes of tokens that gather while nothing comes; so much passes at once.
    pub burst_bytes: u64,
}

/// One direction of an access link.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DirectionProfile {
    /// Delay added to every packet after the queue.
    pub one_way_delay_ms: f64,
    /// How that delay varies; absent: not at all.
    #[serde(default)]
    pub jitter: Option<Jitter>,
    /// Bits of IP packets per second; `null` or absent: no limit.
    #[serde(default)]
    pub rate_bps: Option<f64>,
    /// Instead of a rate: mahimahi packet-delivery trace, relative to the profile's file. Records of
    /// a path have its absolute path.
    #[serde(default)]
    pub trace_file: Option<String>,
    /// Share of packets lost on entry, independent of each other, 0 to 1.
    #[serde(default)]
    pub loss_ratio: f64,
    /// Bursty loss on entry, on top of the independent one.
    #[serde(default)]
    pub gilbert_elliott: Option<GilbertElliott>,
    /// Drops on entry what comes faster than a rate, before any queue; absent: nothing.
    #[serde(default)]
    pub policer: Option<PolicerSettings>,
    /// What the rate counts for every packet beyond its IP length, e.g. the link layer's framing.
    #[serde(default)]
    pub packet_overhead_bytes: Option<u32>,
    /// Bytes that may wait for the link; absent: no limit where `queue_packets` is given, else rate x
    /// round trip, at least 10 full packets (CoDel: 1,000).
    #[serde(default)]
    pub queue_bytes: Option<u64>,
    /// Packets that may wait for the link; absent: no limit but that in bytes.
    #[serde(default)]
    pub queue_packets: Option<u64>,
    /// What a full queue does.
    #[serde(default)]
    pub queue_discipline: Option<QueueDiscipline>,
    /// CoDel's acceptable standing wait; absent: 5.
    #[serde(default)]
    pub codel_target_ms: Option<f64>,
    /// CoDel's sliding window, a worst-case round trip; absent: 100.
    #[serde(default)]
    pub codel_interval_ms: Option<f64>,
    /// Traffic of others on the same link.
    #[serde(default)]
    pub cross_traffic: Option<CrossTraffic>,
}

/// Servers that are farther away than the others, behind the same access link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FarNetwork {
    /// Their addresses, `a.b.c.d/len`; the longest prefix that holds an address counts.
    pub network: String,
    /// Added to the link's delay in either direction.
    pub extra_one_way_delay_ms: f64,
}

/// A change of the link at a time of the schedule: a handover, an outage, or both at once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduledChange {
    /// When, counted from the start of the schedule.
    pub after_ms: f64,
    /// Nothing enters the link for so long; absent: 0.
    #[serde(default)]
    pub outage_ms: Option<f64>,
    /// Name of the profile whose directions come into force; absent: the directions below, or none.
    #[serde(default)]
    pub profile: Option<String>,
    /// Client to server from then on; a record has that of the profile named.
    #[serde(default)]
    pub up: Option<DirectionProfile>,
    /// Server to client from then on.
    #[serde(default)]
    pub down: Option<DirectionProfile>,
}

/// A named access link, always with both directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkProfile {
    /// Identifier, as used in plans and columns.
    pub name: String,
    /// Where the numbers come from.
    pub source: String,
    /// Largest IP packet; absent: 1,500.
    #[serde(default)]
    pub mtu_bytes: Option<u32>,
    /// Client to server.
    pub up: DirectionProfile,
    /// Server to client.
    pub down: DirectionProfile,
    /// Servers with extra delay; absent: none.
    #[serde(default)]
    pub far: Option<Vec<FarNetwork>>,
    /// Changes while it is in force, in the order of their times; absent: none.
    #[serde(default)]
    pub schedule: Option<Vec<ScheduledChange>>,
}
