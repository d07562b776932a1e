//! Shapes of the emulated path: its profile, its ready line, its own proof and the tap's flows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

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
    /// Bytes that may wait for the link; absent: rate x round trip, at least 10 full packets (CoDel:
    /// 1,000).
    #[serde(default)]
    pub queue_bytes: Option<u64>,
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
}

/// The path stands: programs can be placed in it with `resolab-core enter --path PID`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathReadyRecord {
    /// Process id of the path, for `enter --path`.
    pub pid: u32,
    /// Address of the client host inside the path.
    pub client_address: IpAddr,
    /// First address of the server host.
    pub server_address: IpAddr,
    /// Every address of this network, `a.b.c.d/len`, is delivered to the server host.
    pub server_network: String,
    /// The profile in force.
    pub profile: LinkProfile,
    /// Seed of the loss processes.
    pub seed: u64,
    /// Whether the ferry thread got real-time scheduling.
    pub realtime_scheduling: bool,
    /// Whether idle processors are kept from halting.
    pub keep_awake: bool,
    /// Whether the path runs in a user namespace of an ordinary user.
    pub rootless: bool,
}

/// The link was given another profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileChangedRecord {
    /// `CLOCK_MONOTONIC` of the change.
    pub monotonic_ns: u64,
    /// The profile now in force.
    pub profile: LinkProfile,
}

/// What one direction did since the last summary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectionSummary {
    /// Packets read from the sending host.
    pub packets_in_count: u64,
    /// Packets delivered to the receiving host.
    pub packets_out_count: u64,
    /// IP bytes read.
    pub bytes_in_bytes: u64,
    /// IP bytes delivered.
    pub bytes_out_bytes: u64,
    /// Packets the loss element took.
    pub dropped_loss_count: u64,
    /// Packets the full queue refused.
    pub dropped_queue_count: u64,
    /// Packets CoDel dropped for their wait.
    #[serde(default)]
    pub dropped_codel_count: u64,
    /// Packets the instrument itself lost (device refused the write): must be 0 for a valid trial.
    pub dropped_device_count: u64,
    /// Lateness (delivered minus due) over the packets delivered: median; `null` without packets.
    pub lateness_p50_ns: Option<u64>,
    /// Lateness: 99th percentile.
    pub lateness_p99_ns: Option<u64>,
    /// Lateness: largest.
    pub lateness_max_ns: Option<u64>,
}

/// The path's own proof over a window of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathSummaryRecord {
    /// Free label from the command, e.g. the trial's id.
    pub label: Option<String>,
    /// Start of the window, `CLOCK_MONOTONIC`.
    pub window_start_ns: u64,
    /// End of the window, `CLOCK_MONOTONIC`.
    pub window_end_ns: u64,
    /// Name of the profile in force at the end.
    pub profile: String,
    /// Client to server.
    pub up: DirectionSummary,
    /// Server to client.
    pub down: DirectionSummary,
    /// Packets that stand in no `flow` record: not IP, or beyond the tap's table of flows.
    pub unrecognised_packets_count: u64,
}

/// The tap's totals of one flow (five-tuple) in a window, as they passed the link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowRecord {
    /// Label of the summary this belongs to.
    pub label: Option<String>,
    /// `udp`, `tcp`, or the IP protocol number as text.
    pub protocol: String,
    /// Client host's address.
    pub client_address: IpAddr,
    /// Client host's port; `null` where the protocol has none.
    pub client_port: Option<u16>,
    /// Server host's address.
    pub server_address: IpAddr,
    /// Server host's port.
    pub server_port: Option<u16>,
    /// `CLOCK_MONOTONIC` of the first packet's entry into the link.
    pub first_packet_ns: u64,
    /// `CLOCK_MONOTONIC` of the last packet's entry into the link.
    pub last_packet_ns: u64,
    /// Packets client to server (those lost on the link included).
    pub up_packets_count: u64,
    /// IP bytes client to server.
    pub up_bytes: u64,
    /// Packets server to client.
    pub down_packets_count: u64,
    /// IP bytes server to client.
    pub down_bytes: u64,
    /// QUIC Initial packets the client sent (long headers, RFC 9000 section 17.2), coalesced ones
    /// counted each; `null` for flows that are not UDP.
    pub quic_up_initial_count: Option<u64>,
    /// QUIC 0-RTT packets the client sent.
    pub quic_up_zero_rtt_count: Option<u64>,
}
