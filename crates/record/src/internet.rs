//! Shapes of an internet of many hosts joined at one exchange: its configuration, its ready line, its
//! commands and the counts of what passed. IPv4 only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;

/// The internet's configuration, as in its TOML file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InternetConfig {
    /// Seed of the hosts' loss; `null` is 1.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Largest IP packet of every host; `null` is 1500.
    #[serde(default)]
    pub mtu_bytes: Option<u32>,
    /// The hosts; in TOML each is a `[[host]]`.
    #[serde(rename = "host")]
    pub hosts: Vec<InternetHost>,
}

/// One host and its way to the exchange.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InternetHost {
    /// Small letters, digits and `-`; for `enter --host`.
    pub name: String,
    /// Its source address where a program chooses none; `null` in a configuration is the first of its
    /// prefixes that is one address, and without such the second of its first prefix.
    #[serde(default)]
    pub address: Option<Ipv4Addr>,
    /// Between host and exchange, in each direction: a packet takes its sender's and its receiver's.
    #[serde(default)]
    pub one_way_ms: f64,
    /// Of what it sends; `null` is no limit.
    #[serde(default)]
    pub rate_up_mbps: Option<f64>,
    /// Of what it receives; `null` is no limit.
    #[serde(default)]
    pub rate_down_mbps: Option<f64>,
    /// Share of packets lost between host and exchange, in each direction, independent of each other.
    #[serde(default)]
    pub loss_ratio: f64,
    /// How many packets may wait for a rate, in each direction; `null` is no limit.
    #[serde(default)]
    pub queue_packets: Option<u64>,
    /// Whether nothing goes in or out.
    #[serde(default)]
    pub down: bool,
    /// What is delivered to it; in TOML each is a `[[host.network]]`.
    #[serde(alias = "network")]
    pub networks: Vec<InternetNetwork>,
}

/// Addresses that are a host's: programs in it can use any of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InternetNetwork {
    /// `a.b.c.d/length`, the network's first address.
    pub prefix: String,
    /// What packets to and from these addresses take beyond the host's own way, in each direction; of
    /// the longest prefix an address is in.
    #[serde(default)]
    pub extra_one_way_ms: f64,
}

/// An internet stands: programs can be placed in its hosts with `resolab-core enter --path PID --host NAME`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InternetReadyRecord {
    /// Process id of the internet, for `enter --path`.
    pub pid: u32,
    /// The hosts, complete.
    pub hosts: Vec<InternetHost>,
    /// Largest IP packet.
    pub mtu_bytes: u32,
    /// Seed of the hosts' loss.
    pub seed: u64,
    /// Whether the thread that carries the packets got real-time scheduling.
    pub realtime_scheduling: bool,
    /// Whether idle processors are kept from halting.
    pub keep_awake: bool,
    /// Whether the hosts are in a user namespace of an ordinary user.
    pub rootless: bool,
}

/// To `resolab-core internet`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum InternetCommand {
    /// Change a host's way to the exchange from now on; packets under way keep the times they have.
    SetHost {
        /// Returned in `command_done`.
        id: u64,
        /// Which.
        name: String,
        /// `null` leaves it.
        #[serde(default)]
        one_way_ms: Option<f64>,
        /// `null` leaves it.
        #[serde(default)]
        loss_ratio: Option<f64>,
        /// Whether nothing goes in or out, not even what is on its way; `null` leaves it.
        #[serde(default)]
        down: Option<bool>,
    },
    /// Write an `internet_flows` record of the window since the last one (or the start) and begin a
    /// new window.
    Count {
        /// Returned in `command_done`.
        id: u64,
        /// Copied into the record.
        #[serde(default)]
        label: Option<String>,
    },
}

/// What passed the exchange in a window of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InternetFlowsRecord {
    /// From the command.
    pub label: Option<String>,
    /// Start of the window, `CLOCK_MONOTONIC`.
    pub window_start_ns: u64,
    /// End of the window, `CLOCK_MONOTONIC`.
    pub window_end_ns: u64,
    /// What hosts sent, ordered by source host, destination, protocol and port.
    pub flows: Vec<InternetFlow>,
    /// Packets sent that stand in no flow: not IPv4, or beyond the limit of flows.
    pub unlisted_packets_count: u64,
    /// Packets delivered.
    pub delivered_packets_count: u64,
    /// Packets to addresses that are no host's: gone without an answer.
    pub unowned_packets_count: u64,
    /// Packets from addresses that are not their sender's: gone, too.
    pub foreign_source_packets_count: u64,
    /// Packets lost at hosts with a `loss_ratio`.
    pub lost_packets_count: u64,
    /// Packets full queues refused.
    pub dropped_queue_count: u64,
    /// Packets of or to a host that was down.
    pub dropped_down_count: u64,
    /// Packets the instrument itself lost: must be 0 where anything is measured.
    pub dropped_device_count: u64,
    /// Delivered minus due over the packets delivered: median; `null` without packets.
    pub lateness_p50_ns: Option<u64>,
    /// 99th percentile.
    pub lateness_p99_ns: Option<u64>,
    /// Largest.
    pub lateness_max_ns: Option<u64>,
}

/// Packets of one host to one port of one address, whatever became of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct InternetFlow {
    /// Who sent them.
    pub source_host: String,
    /// Where they were to go.
    pub destination_address: Ipv4Addr,
    /// Whose that is; `null`: nobody's.
    pub destination_host: Option<String>,
    /// `udp`, `tcp`, or the IP protocol number as text.
    pub protocol: String,
    /// `null`: an answer to a port that its receiver's kernel had chosen (from 10240 on, sent from one
    /// below), a later fragment, or a protocol without ports.
    pub destination_port: Option<u16>,
    /// How many.
    pub packets_count: u64,
    /// Their IP bytes.
    pub total_bytes: u64,
}
