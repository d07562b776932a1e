//! Shapes of the path's calibration: what probes through it saw, and what was asked beside it. The
//! programs write probes and transfers; the calibration itself is put together by the Python half.

use crate::path::PathBackend;
use crate::profile::LinkProfile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A way across the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkDirection {
    /// Client to server.
    Up,
    /// Server to client.
    Down,
}

/// A train of numbered UDP packets sent through the link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeRecord {
    /// Free label from the command line.
    pub label: Option<String>,
    /// Which way they went.
    pub direction: LinkDirection,
    /// IP length of each packet.
    pub packet_bytes: u32,
    /// Wanted time between two packets; 0: as fast as the socket takes them.
    pub interval_ns: u64,
    /// Whether the sending thread had real-time scheduling.
    pub realtime_scheduling: bool,
    /// `CLOCK_MONOTONIC` of the first packet's sending; the times below count from it.
    pub time_origin_ns: u64,
    /// When each packet was handed to the kernel, in the order of their numbers.
    pub sent_ns: Vec<u64>,
    /// The receiving kernel's stamp of each; `null`: it did not come.
    pub received_ns: Vec<Option<u64>>,
}

/// One TCP connection that sent as fast as it could for a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BulkTransferRecord {
    /// Free label from the command line.
    pub label: Option<String>,
    /// Which way the data went.
    pub direction: LinkDirection,
    /// Congestion control in use.
    pub congestion_control: String,
    /// Time before the part that is counted, so that slow start is over.
    pub warm_up_ns: u64,
    /// Time that is counted, at the receiver.
    pub counted_ns: u64,
    /// Payload bytes received in that time.
    pub counted_bytes: u64,
    /// Largest segment's payload in use (TCP_INFO of the sender).
    pub segment_bytes: u32,
    /// Segments the sender sent again in the whole transfer.
    pub retransmitted_segments_count: u64,
    /// Smallest round trip the sender saw, microseconds.
    pub round_trip_min_us: u32,
}

/// One quantity of a link, asked against got.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CalibrationCheck {
    /// What: `delay`, `jitter`, `loss`, `rate`, `queue`, `bulk`, `lateness` and so on.
    pub quantity: String,
    /// Direction of the link it was measured in.
    pub direction: LinkDirection,
    /// Unit of the values.
    pub unit: String,
    /// By the profile; `null` where it asks for nothing to compare with.
    pub asked: Option<f64>,
    /// As measured.
    pub got: f64,
    /// Largest difference that passes, same unit; `null`: shown, not judged.
    pub tolerance: Option<f64>,
    /// Whether it passes; `null`: not judged.
    pub within: Option<bool>,
    /// How many observations stand behind it.
    pub observations_count: u64,
}

/// A profile measured through the path on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CalibrationRecord {
    /// The profile as it was in force.
    pub profile: LinkProfile,
    /// What moved packets.
    pub backend: PathBackend,
    /// Whether the ferry's thread had real-time scheduling.
    pub realtime_scheduling: bool,
    /// Whether idle processors were kept from halting.
    pub keep_awake: bool,
    /// Whether the path ran in a user namespace.
    pub rootless: bool,
    /// Seed of the path.
    pub seed: u64,
    /// Version of resolab-core.
    pub core_version: String,
    /// Wall time at the start, nanoseconds since the Unix epoch.
    pub unix_ns: u64,
    /// One-minute load average at the start.
    pub load_average: f64,
    /// Each quantity, asked against got.
    pub checks: Vec<CalibrationCheck>,
}
