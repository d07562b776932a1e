//! Shapes of an internet of many hosts joined at an exchange: configuration, ready line, commands,
//! and the counts of passing packets. IPv4 only.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;

/// The internet's configuration, as in its TOML file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InternetConfig {
    /// Seed of the hosts' losses; `null` means 1.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Largest IP packet of every host, in bytes; `null` means 1500.
    #[serde(default)]
    pub mtu_bytes: Option<u32>,
    /// The hosts; in TOML each is a `[[host]]`.
    #[serde(rename = "host")]
    pub hosts: Vec<InternetHost>,
}

/// One host and its path to the exchange.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InternetHost {
    /// Name of the host for `enter --host`: small letters, digits and `-`.
    pub name: String,
    /// Source address of the host when a program chooses no address. In a configuration, `null`
    /// means the first of the host's prefixes with a single address. Without this prefix: the
    /// second address of the first prefix.
    #[serde(default)]
    pub address: Option<Ipv4Addr>,
    /// Delay between host and exchange in each direction, in ms. A packet takes its sender's and
    /// its receiver's delay.
    #[serde(default)]
    pub one_way_ms: f64,
    /// Rate of sent packets, in Mbit/s; `null` means no limit.
    #[serde(default)]
    pub rate_up_mbps: Option<f64>,
    /// Rate of received packets, in Mbit/s; `null` means no limit.
    #[serde(default)]
    pub rate_down_mbps: Option<f64>,
    /// Share of packets lost between host and exchange, in each direction, independent of each
    /// other, 0 to 1.
    #[serde(default)]
    pub loss_ratio: f64,
    /// Largest number of packets waiting for a rate, in each direction; `null` means no limit.
    #[serde(default)]
    pub queue_packets: Option<u64>,
    /// True when no packet enters or leaves the host.
    #[serde(default)]
    pub down: bool,
    /// Addresses delivered to the host; in TOML each is a `[[host.network]]`.
    #[serde(alias = "network")]
    pub networks: Vec<InternetNetwork>,
}

/// Addresses of a host; its programs can use any of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InternetNetwork {
    /// The network's first address and prefix length, `a.b.c.d/length`.
    pub prefix: String,
    /// Delay of packets to and from these addresses beyond the host's own, in each direction, in
    /// ms. The longest prefix with the address counts.
    #[serde(default)]
    pub extra_one_way_ms: f64,
}

/// An internet is ready: programs can be placed in its hosts with `resolab-core enter --path PID
/// --host NAME`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InternetReadyRecord {
    /// Process id of the internet, for `enter --path`.
    pub pid: u32,
    /// The hosts, with all defaults filled in.
    pub hosts: Vec<InternetHost>,
    /// Largest IP packet, in bytes.
    pub mtu_bytes: u32,
    /// Seed of the hosts' losses.
    pub seed: u64,
    /// True when the packet-carrying thread got real-time scheduling.
    pub realtime_scheduling: bool,
    /// True when idle processors are kept from halting.
    pub keep_awake: bool,
    /// True when the hosts are in a user namespace of an ordinary user.
    pub rootless: bool,
}

/// A command to `resolab-core internet`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum InternetCommand {
    /// Change a host's path to the exchange from now on. Packets under way keep their times.
    SetHost {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// Name of the host.
        name: String,
        /// Delay between host and exchange, in ms; `null` keeps the value.
        #[serde(default)]
        one_way_ms: Option<f64>,
        /// Share of packets lost, 0 to 1; `null` keeps the value.
        #[serde(default)]
        loss_ratio: Option<f64>,
        /// True when no packet enters or leaves, packets under way included; `null` keeps the
        /// value.
        #[serde(default)]
        down: Option<bool>,
    },
    /// Write an `internet_flows` record of the window since the last record (or the start), and
    /// begin a new window.
    Count {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// Label copied into the record; `null` for no label.
        #[serde(default)]
        label: Option<String>,
    },
}

/// The packets passing the exchange in a window of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InternetFlowsRecord {
    /// Label from the command; `null` without a label.
    pub label: Option<String>,
    /// Start of the window, `CLOCK_MONOTONIC` in ns.
    pub window_start_ns: u64,
    /// End of the window, `CLOCK_MONOTONIC` in ns.
    pub window_end_ns: u64,
    /// Packets sent by hosts, ordered by source host, destination, protocol and port.
    pub flows: Vec<InternetFlow>,
    /// Number of packets sent but in no flow: not IPv4, or beyond the limit of flows.
    pub unlisted_packets_count: u64,
    /// Number of packets delivered.
    pub delivered_packets_count: u64,
    /// Number of packets to addresses without a host: dropped without an answer.
    pub unowned_packets_count: u64,
    /// Number of packets with a source address not belonging to their sender: dropped, too.
    pub foreign_source_packets_count: u64,
    /// Number of packets lost at hosts with a `loss_ratio`.
    pub lost_packets_count: u64,
    /// Number of packets refused by full queues.
    pub dropped_queue_count: u64,
    /// Number of packets from or to a host while down.
    pub dropped_down_count: u64,
    /// Number of packets lost by the instrument itself: must be 0 for any measurement.
    pub dropped_device_count: u64,
    /// Median lateness of the delivered packets (delivered minus due), in ns; `null` without
    /// packets.
    pub lateness_p50_ns: Option<u64>,
    /// 99th percentile of the lateness, in ns; `null` without packets.
    pub lateness_p99_ns: Option<u64>,
    /// Largest lateness, in ns; `null` without packets.
    pub lateness_max_ns: Option<u64>,
}

/// The packets of a host to one port of one address, delivered or not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InternetFlow {
    /// Name of the sending host.
    pub source_host: String,
    /// Destination address of the packets.
    pub destination_address: Ipv4Addr,
    /// Host of the destination address; `null` for an address without a host.
    pub destination_host: Option<String>,
    /// `udp`, `tcp`, or the IP protocol number as text.
    pub protocol: String,
    /// Destination port. `null` for an answer to a port chosen by the receiver's kernel (from 10240
    /// on, sent from a port below), a later fragment, or a protocol without ports.
    pub destination_port: Option<u16>,
    /// Number of packets in the flow.
    pub packets_count: u64,
    /// Number of IP bytes in the flow.
    pub total_bytes: u64,
}
