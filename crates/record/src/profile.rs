//! Shapes of an access-link profile, in files, commands and records alike. Not for: the effect of
//! the values or their allowed ranges (the link crate).

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The behaviour of a full queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QueueDiscipline {
    /// Arrivals without room in the queue are dropped.
    Droptail,
    /// As `droptail`; in addition, packets leaving after too long a wait are dropped (CoDel, RFC
    /// 8289).
    Codel,
}

/// Bursty loss: a chain of two states with one step per packet (Gilbert 1960, Elliott 1963). As in
/// netem, the state moves first, and the previous state decides the packet's loss.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// Probability per packet to leave the good state, 0 to 1.
    pub good_to_bad_ratio: f64,
    /// Probability per packet to leave the bad state, 0 to 1; with the default losses, 1 / mean
    /// burst length.
    pub bad_to_good_ratio: f64,
    /// Share of packets lost in the good state, 0 to 1; absent: 0.
    #[serde(default)]
    pub good_loss_ratio: Option<f64>,
    /// Share of packets lost in the bad state, 0 to 1; absent: 1.
    #[serde(default)]
    pub bad_loss_ratio: Option<f64>,
}

/// The shape of a varying delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JitterDistribution {
    /// The delay is normal about the one-way delay.
    Normal,
    /// The whole one-way delay is log-normal, hence never negative at any spread.
    Lognormal,
}

/// Variation of the one-way delay: a process in time. Packets stay in order, unless
/// `per_packet_reordering` is set. Either a standard deviation or quantiles are given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// Standard deviation of the delay, in ms; the mean stays `one_way_delay_ms`.
    #[serde(default)]
    pub standard_deviation_ms: Option<f64>,
    /// Shape of the delay with a standard deviation; absent: normal.
    #[serde(default)]
    pub distribution: Option<JitterDistribution>,
    /// Equally spaced quantiles of the addition to `one_way_delay_ms`, in ms, lowest to highest.
    #[serde(default)]
    pub quantiles_ms: Option<Vec<f64>>,
    /// Time between independent values of the process, in ms; absent: 10 standard deviations, at
    /// least 10.
    #[serde(default)]
    pub interval_ms: Option<f64>,
    /// True to draw the delay of every packet separately; packets then overtake each other.
    #[serde(default)]
    pub per_packet_reordering: bool,
}

/// The arrival process of other traffic on the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CrossTrafficModel {
    /// Independent packets at a constant mean rate.
    Poisson,
    /// As `poisson` during random times, with silence in between.
    OnOff,
}

/// Other traffic on the link, taking queue and rate but delivered to no host.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CrossTraffic {
    /// Arrival process of the traffic.
    pub model: CrossTrafficModel,
    /// Mean rate of the traffic while on, in bits of IP packets per second.
    pub rate_bps: f64,
    /// Length of the traffic's packets, in bytes; absent: 1,500.
    #[serde(default)]
    pub packet_bytes: Option<u32>,
    /// Mean of the exponential time on, in ms; with `on_off` only.
    #[serde(default)]
    pub on_ms: Option<f64>,
    /// Mean of the exponential time off, in ms; with `on_off` only.
    #[serde(default)]
    pub off_ms: Option<f64>,
}

/// A token bucket dropping packets above its rate at once, without any wait.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PolicerSettings {
    /// Rate of new tokens, in bits of IP packets per second.
    pub rate_bps: f64,
    /// Size of the bucket, in bytes. Tokens gather up to this size without traffic, and a burst of
    /// this size passes at once.
    pub burst_bytes: u64,
}

/// One direction of an access link.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DirectionProfile {
    /// Delay added to every packet after the queue, in ms.
    pub one_way_delay_ms: f64,
    /// Variation of the one-way delay; absent: no variation.
    #[serde(default)]
    pub jitter: Option<Jitter>,
    /// Rate of the link, in bits of IP packets per second; `null` or absent: no limit.
    #[serde(default)]
    pub rate_bps: Option<f64>,
    /// Mahimahi packet-delivery trace in place of a rate, relative to the profile's file. Records
    /// of a path have the absolute path.
    #[serde(default)]
    pub trace_file: Option<String>,
    /// Share of packets lost on entry, independent of each other, 0 to 1.
    #[serde(default)]
    pub loss_ratio: f64,
    /// Bursty loss on entry, in addition to the independent loss; absent: no bursty loss.
    #[serde(default)]
    pub gilbert_elliott: Option<GilbertElliott>,
    /// Drops on entry above a rate, before any queue; absent: no drops.
    #[serde(default)]
    pub policer: Option<PolicerSettings>,
    /// Bytes counted by the rate for every packet beyond its IP length, e.g. the link layer's
    /// framing.
    #[serde(default)]
    pub packet_overhead_bytes: Option<u32>,
    /// Largest number of bytes waiting for the link. Absent: no limit with `queue_packets`; else
    /// rate x round trip, at least 10 full packets (CoDel: 1,000).
    #[serde(default)]
    pub queue_bytes: Option<u64>,
    /// Largest number of packets waiting for the link; absent: only the limit in bytes.
    #[serde(default)]
    pub queue_packets: Option<u64>,
    /// Behaviour of a full queue; absent: `droptail`.
    #[serde(default)]
    pub queue_discipline: Option<QueueDiscipline>,
    /// CoDel's acceptable standing wait, in ms; absent: 5.
    #[serde(default)]
    pub codel_target_ms: Option<f64>,
    /// CoDel's sliding window, a worst-case round trip, in ms; absent: 100.
    #[serde(default)]
    pub codel_interval_ms: Option<f64>,
    /// Other traffic on the same link; absent: no other traffic.
    #[serde(default)]
    pub cross_traffic: Option<CrossTraffic>,
}

/// Servers farther away than the others, behind the same access link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FarNetwork {
    /// Addresses of the servers, `a.b.c.d/len`; the longest matching prefix counts.
    pub network: String,
    /// Delay added to the link's delay in each direction, in ms.
    pub extra_one_way_delay_ms: f64,
}

/// A change of the link at a time of the schedule: a handover, an outage, or both at once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScheduledChange {
    /// Time of the change, in ms from the start of the schedule.
    pub after_ms: f64,
    /// Duration of an outage without any packet entering the link, in ms; absent: 0.
    #[serde(default)]
    pub outage_ms: Option<f64>,
    /// Name of the profile with the directions to put in force; absent: the directions below, or no
    /// new directions.
    #[serde(default)]
    pub profile: Option<String>,
    /// Direction client to server from then on. In a record: the direction of the named profile.
    #[serde(default)]
    pub up: Option<DirectionProfile>,
    /// Direction server to client from then on. In a record: the direction of the named profile.
    #[serde(default)]
    pub down: Option<DirectionProfile>,
}

/// A named access link, always with both directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LinkProfile {
    /// Identifier of the profile, in plans and columns.
    pub name: String,
    /// Source of the numbers, as text.
    pub source: String,
    /// Largest IP packet, in bytes; absent: 1,500.
    #[serde(default)]
    pub mtu_bytes: Option<u32>,
    /// The direction client to server.
    pub up: DirectionProfile,
    /// The direction server to client.
    pub down: DirectionProfile,
    /// Servers with extra delay; absent: no servers.
    #[serde(default)]
    pub far: Option<Vec<FarNetwork>>,
    /// Changes while the profile is in force, in the order of their times; absent: no changes.
    #[serde(default)]
    pub schedule: Option<Vec<ScheduledChange>>,
}
