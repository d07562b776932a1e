//! Shapes of the emulated path: its ready line, its own proof and the tap's flows.

use crate::profile::LinkProfile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// What moves packets between the hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathBackend {
    /// Our link model between two TUN devices.
    #[default]
    Tun,
    /// Our link model between two packet sockets with kernel arrival stamps.
    Packet,
    /// The kernel's sch_netem.
    Netem,
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
    /// IPv6 address of the client host; `null` where the path has no IPv6.
    #[serde(default)]
    pub client_address_v6: Option<IpAddr>,
    /// First IPv6 address of the server host.
    #[serde(default)]
    pub server_address_v6: Option<IpAddr>,
    /// Every address of this IPv6 network, `address/len`, is delivered to the server host.
    #[serde(default)]
    pub server_network_v6: Option<String>,
    /// What moves packets.
    #[serde(default)]
    pub backend: PathBackend,
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
    /// Packets that found too few tokens at the policer; never waited in a queue.
    #[serde(default)]
    pub dropped_policer_count: u64,
    /// Packets that came during an outage of the schedule.
    #[serde(default)]
    pub dropped_outage_count: u64,
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
    /// What moved packets.
    #[serde(default)]
    pub backend: PathBackend,
    /// Whether idle processors were kept from halting.
    #[serde(default)]
    pub keep_awake: bool,
    /// Whether the ferry's thread had real-time scheduling.
    #[serde(default)]
    pub realtime_scheduling: bool,
    /// Changes of the schedule carried out in the window: `CLOCK_MONOTONIC` at which each came into
    /// force, by the model's time, not that of a wake-up.
    #[serde(default)]
    pub applied_changes_ns: Vec<u64>,
    /// Which changes they were: places in the profile's schedule, from 0.
    #[serde(default)]
    pub applied_change_indices: Vec<u32>,
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
    /// `CLOCK_MONOTONIC` of the first packet's entry into the link. If none entered in the window,
    /// but one from before was delivered in it: of that.
    pub first_packet_ns: u64,
    /// `CLOCK_MONOTONIC` of the last packet's entry into the link; if none entered, as
    /// `first_packet_ns`.
    pub last_packet_ns: u64,
    /// Packets client to server (those lost on the link included).
    pub up_packets_count: u64,
    /// IP bytes client to server.
    pub up_bytes: u64,
    /// Packets server to client.
    pub down_packets_count: u64,
    /// IP bytes server to client.
    pub down_bytes: u64,
    /// `CLOCK_MONOTONIC` of entry into the link, first packet client to server; `null` without one.
    #[serde(default)]
    pub up_first_entered_ns: Option<u64>,
    /// Entry of the last packet client to server.
    #[serde(default)]
    pub up_last_entered_ns: Option<u64>,
    /// Delivery of the first packet client to server; `null` if none was delivered in the window.
    #[serde(default)]
    pub up_first_delivered_ns: Option<u64>,
    /// Delivery of the last packet client to server.
    #[serde(default)]
    pub up_last_delivered_ns: Option<u64>,
    /// Packets client to server delivered in the window, also those that entered before it.
    #[serde(default)]
    pub up_delivered_count: u64,
    /// Entry of the first packet server to client.
    #[serde(default)]
    pub down_first_entered_ns: Option<u64>,
    /// Entry of the last packet server to client.
    #[serde(default)]
    pub down_last_entered_ns: Option<u64>,
    /// Delivery of the first packet server to client.
    #[serde(default)]
    pub down_first_delivered_ns: Option<u64>,
    /// Delivery of the last packet server to client.
    #[serde(default)]
    pub down_last_delivered_ns: Option<u64>,
    /// Packets server to client delivered in the window, also those that entered before it.
    #[serde(default)]
    pub down_delivered_count: u64,
    /// TCP segments client to server whose payload, SYN or FIN lies wholly in sequence space sent
    /// before in the window; `null` for flows that are not TCP.
    #[serde(default)]
    pub tcp_up_retransmitted_count: Option<u64>,
    /// The same, server to client.
    #[serde(default)]
    pub tcp_down_retransmitted_count: Option<u64>,
    /// QUIC Initial packets the client sent (long headers, RFC 9000 section 17.2), coalesced ones
    /// counted each; `null` for flows that are not UDP.
    pub quic_up_initial_count: Option<u64>,
    /// QUIC 0-RTT packets the client sent.
    pub quic_up_zero_rtt_count: Option<u64>,
    /// QUIC Handshake packets the client sent.
    #[serde(default)]
    pub quic_up_handshake_count: Option<u64>,
    /// QUIC Initial packets the server sent.
    #[serde(default)]
    pub quic_down_initial_count: Option<u64>,
    /// QUIC Handshake packets the server sent.
    #[serde(default)]
    pub quic_down_handshake_count: Option<u64>,
    /// QUIC Retry packets the server sent.
    #[serde(default)]
    pub quic_down_retry_count: Option<u64>,
    /// QUIC Version Negotiation packets the server sent.
    #[serde(default)]
    pub quic_down_version_negotiation_count: Option<u64>,
}
