//! Records of the emulated path: its ready line, its own error, and the tap's flows.

use crate::profile::LinkProfile;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// The mechanism moving packets between the hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PathBackend {
    /// Our link model between two TUN devices.
    #[default]
    Tun,
    /// Our link model between two packet sockets with kernel arrival stamps.
    Packet,
    /// The kernel's sch_netem between the hosts.
    Netem,
}

/// The path is ready: programs can be placed in the path with `resolab-core enter --path PID`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PathReadyRecord {
    /// Process id of the path, for `enter --path`.
    pub pid: u32,
    /// Address of the client host inside the path.
    pub client_address: IpAddr,
    /// First address of the server host.
    pub server_address: IpAddr,
    /// Network `a.b.c.d/len` of the server host: every address is delivered to the host.
    pub server_network: String,
    /// IPv6 address of the client host; `null` for a path without IPv6.
    #[serde(default)]
    pub client_address_v6: Option<IpAddr>,
    /// First IPv6 address of the server host; `null` for a path without IPv6.
    #[serde(default)]
    pub server_address_v6: Option<IpAddr>,
    /// IPv6 network `address/len` of the server host: every address is delivered to the host.
    /// `null` for a path without IPv6.
    #[serde(default)]
    pub server_network_v6: Option<String>,
    /// Mechanism moving packets between the hosts.
    #[serde(default)]
    pub backend: PathBackend,
    /// The profile in force.
    pub profile: LinkProfile,
    /// Seed of the loss processes.
    pub seed: u64,
    /// True when the packet-forwarding thread got real-time scheduling.
    pub realtime_scheduling: bool,
    /// True when idle processors are kept from halting.
    pub keep_awake: bool,
    /// True when the path runs in a user namespace of an ordinary user.
    pub rootless: bool,
}

/// The link got another profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ProfileChangedRecord {
    /// Instant of the change, `CLOCK_MONOTONIC` in ns.
    pub monotonic_ns: u64,
    /// The profile now in force.
    pub profile: LinkProfile,
}

/// The counts of one direction since the last summary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DirectionSummary {
    /// Number of packets read from the sending host.
    pub packets_in_count: u64,
    /// Number of packets delivered to the receiving host.
    pub packets_out_count: u64,
    /// Number of IP bytes read from the sending host.
    pub bytes_in_bytes: u64,
    /// Number of IP bytes delivered to the receiving host.
    pub bytes_out_bytes: u64,
    /// Number of packets dropped by the loss element.
    pub dropped_loss_count: u64,
    /// Number of packets refused by the full queue.
    pub dropped_queue_count: u64,
    /// Number of packets dropped by CoDel for their wait.
    #[serde(default)]
    pub dropped_codel_count: u64,
    /// Number of packets with too few tokens at the policer; these packets never waited in a queue.
    #[serde(default)]
    pub dropped_policer_count: u64,
    /// Number of packets arriving during an outage of the schedule.
    #[serde(default)]
    pub dropped_outage_count: u64,
    /// Number of packets lost by the instrument itself (the device refused the write): must be 0
    /// for a valid trial.
    pub dropped_device_count: u64,
    /// Median lateness of the delivered packets (delivered minus due), in ns; `null` without
    /// packets.
    pub lateness_p50_ns: Option<u64>,
    /// 99th percentile of the lateness, in ns; `null` without packets.
    pub lateness_p99_ns: Option<u64>,
    /// Largest lateness, in ns; `null` without packets.
    pub lateness_max_ns: Option<u64>,
}

/// The path's counts and its own error over a window of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PathSummaryRecord {
    /// Free label from the command, e.g. the trial's id; `null` without a label.
    pub label: Option<String>,
    /// Start of the window, `CLOCK_MONOTONIC` in ns.
    pub window_start_ns: u64,
    /// End of the window, `CLOCK_MONOTONIC` in ns.
    pub window_end_ns: u64,
    /// Name of the profile in force at the end.
    pub profile: String,
    /// The direction client to server.
    pub up: DirectionSummary,
    /// The direction server to client.
    pub down: DirectionSummary,
    /// Number of packets without a `flow` record: not IP, or beyond the tap's table of flows.
    pub unrecognised_packets_count: u64,
    /// Mechanism moving packets between the hosts.
    #[serde(default)]
    pub backend: PathBackend,
    /// True when idle processors were kept from halting.
    #[serde(default)]
    pub keep_awake: bool,
    /// True when the packet-forwarding thread had real-time scheduling.
    #[serde(default)]
    pub realtime_scheduling: bool,
    /// Instants of the schedule's changes in the window, `CLOCK_MONOTONIC` in ns: the model's time
    /// of each change, not the time of a wake-up.
    #[serde(default)]
    pub applied_changes_ns: Vec<u64>,
    /// Positions of these changes in the profile's schedule, from 0.
    #[serde(default)]
    pub applied_change_indices: Vec<u32>,
}

/// The tap's totals of one flow (five-tuple) in a window, as passing the link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FlowRecord {
    /// Label of the flow's summary; `null` without a label.
    pub label: Option<String>,
    /// `udp`, `tcp`, or the IP protocol number as text.
    pub protocol: String,
    /// Address of the client host.
    pub client_address: IpAddr,
    /// Port of the client host; `null` for a protocol without ports.
    pub client_port: Option<u16>,
    /// Address of the server host.
    pub server_address: IpAddr,
    /// Port of the server host; `null` for a protocol without ports.
    pub server_port: Option<u16>,
    /// Entry of the first packet into the link, `CLOCK_MONOTONIC` in ns. For a window with
    /// deliveries only: the entry of an earlier packet delivered in the window.
    pub first_packet_ns: u64,
    /// Entry of the last packet into the link, `CLOCK_MONOTONIC` in ns; without entries in the
    /// window, as `first_packet_ns`.
    pub last_packet_ns: u64,
    /// Number of packets client to server, packets lost on the link included.
    pub up_packets_count: u64,
    /// Number of IP bytes client to server, packets lost on the link included.
    pub up_bytes: u64,
    /// Number of packets server to client, packets lost on the link included.
    pub down_packets_count: u64,
    /// Number of IP bytes server to client, packets lost on the link included.
    pub down_bytes: u64,
    /// Entry of the first packet client to server into the link, `CLOCK_MONOTONIC` in ns; `null`
    /// without an entry.
    #[serde(default)]
    pub up_first_entered_ns: Option<u64>,
    /// Entry of the last packet client to server into the link, `CLOCK_MONOTONIC` in ns; `null`
    /// without an entry.
    #[serde(default)]
    pub up_last_entered_ns: Option<u64>,
    /// Delivery of the first packet client to server, `CLOCK_MONOTONIC` in ns; `null` without a
    /// delivery in the window.
    #[serde(default)]
    pub up_first_delivered_ns: Option<u64>,
    /// Delivery of the last packet client to server, `CLOCK_MONOTONIC` in ns; `null` without a
    /// delivery in the window.
    #[serde(default)]
    pub up_last_delivered_ns: Option<u64>,
    /// Number of packets client to server delivered in the window, packets with an earlier entry
    /// included.
    #[serde(default)]
    pub up_delivered_count: u64,
    /// Entry of the first packet server to client into the link, `CLOCK_MONOTONIC` in ns; `null`
    /// without an entry.
    #[serde(default)]
    pub down_first_entered_ns: Option<u64>,
    /// Entry of the last packet server to client into the link, `CLOCK_MONOTONIC` in ns; `null`
    /// without an entry.
    #[serde(default)]
    pub down_last_entered_ns: Option<u64>,
    /// Delivery of the first packet server to client, `CLOCK_MONOTONIC` in ns; `null` without a
    /// delivery in the window.
    #[serde(default)]
    pub down_first_delivered_ns: Option<u64>,
    /// Delivery of the last packet server to client, `CLOCK_MONOTONIC` in ns; `null` without a
    /// delivery in the window.
    #[serde(default)]
    pub down_last_delivered_ns: Option<u64>,
    /// Number of packets server to client delivered in the window, packets with an earlier entry
    /// included.
    #[serde(default)]
    pub down_delivered_count: u64,
    /// Number of TCP segments client to server with payload, SYN or FIN wholly in sequence space
    /// already sent in the window; `null` for flows other than TCP.
    #[serde(default)]
    pub tcp_up_retransmitted_count: Option<u64>,
    /// Number of TCP segments server to client with payload, SYN or FIN wholly in sequence space
    /// already sent in the window; `null` for flows other than TCP.
    #[serde(default)]
    pub tcp_down_retransmitted_count: Option<u64>,
    /// Number of QUIC Initial packets sent by the client (long headers, RFC 9000 section 17.2),
    /// each coalesced packet counted; `null` for flows other than UDP.
    pub quic_up_initial_count: Option<u64>,
    /// Number of QUIC 0-RTT packets sent by the client; `null` for flows other than UDP.
    pub quic_up_zero_rtt_count: Option<u64>,
    /// Number of QUIC Handshake packets sent by the client; `null` for flows other than UDP.
    #[serde(default)]
    pub quic_up_handshake_count: Option<u64>,
    /// Number of QUIC Initial packets sent by the server; `null` for flows other than UDP.
    #[serde(default)]
    pub quic_down_initial_count: Option<u64>,
    /// Number of QUIC Handshake packets sent by the server; `null` for flows other than UDP.
    #[serde(default)]
    pub quic_down_handshake_count: Option<u64>,
    /// Number of QUIC Retry packets sent by the server; `null` for flows other than UDP.
    #[serde(default)]
    pub quic_down_retry_count: Option<u64>,
    /// Number of QUIC Version Negotiation packets sent by the server; `null` for flows other than
    /// UDP.
    #[serde(default)]
    pub quic_down_version_negotiation_count: Option<u64>,
}
