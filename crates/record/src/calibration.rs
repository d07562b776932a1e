//! Shapes of the path's calibration: the results of probes through the path, beside the requested
//! values. The programs write probes and transfers; the Python half makes the calibration itself.

use crate::path::PathBackend;
use crate::profile::LinkProfile;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A direction across the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LinkDirection {
    /// From client to server.
    Up,
    /// From server to client.
    Down,
}

/// A train of numbered UDP packets sent through the link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ProbeRecord {
    /// Free label from the command line; `null` without a label.
    pub label: Option<String>,
    /// Direction of the packets.
    pub direction: LinkDirection,
    /// IP length of each packet, in bytes.
    pub packet_bytes: u32,
    /// Requested time between two packets, in ns; 0: as fast as the socket takes the packets.
    pub interval_ns: u64,
    /// True when the sending thread had real-time scheduling.
    pub realtime_scheduling: bool,
    /// Sending of the first packet, `CLOCK_MONOTONIC` in ns; the times below count from this
    /// instant.
    pub time_origin_ns: u64,
    /// Hand-over of each packet to the kernel, in ns since `time_origin_ns`, in the order of their
    /// numbers.
    pub sent_ns: Vec<u64>,
    /// The receiving kernel's stamp of each packet, in ns since `time_origin_ns`; `null` for a
    /// packet not received.
    pub received_ns: Vec<Option<u64>>,
}

/// One TCP connection sending as fast as possible for a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BulkTransferRecord {
    /// Free label from the command line; `null` without a label.
    pub label: Option<String>,
    /// Direction of the data.
    pub direction: LinkDirection,
    /// Congestion control of the connection.
    pub congestion_control: String,
    /// Time before the counted part, in ns, for the end of slow start.
    pub warm_up_ns: u64,
    /// Counted time at the receiver, in ns.
    pub counted_ns: u64,
    /// Payload bytes received in the counted time.
    pub counted_bytes: u64,
    /// Payload of the largest segment in use, in bytes (TCP_INFO of the sender).
    pub segment_bytes: u32,
    /// Number of segments retransmitted by the sender in the whole transfer.
    pub retransmitted_segments_count: u64,
    /// Smallest round trip time seen by the sender, in microseconds.
    pub round_trip_min_us: u32,
}

/// One quantity of a link, requested and measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CalibrationCheck {
    /// Name of the quantity: `delay`, `jitter`, `loss`, `rate`, `queue`, `bulk`, `lateness` and
    /// others.
    pub quantity: String,
    /// Direction of the measured link.
    pub direction: LinkDirection,
    /// Unit of the values.
    pub unit: String,
    /// Value of the profile; `null` when the profile has no value for comparison.
    pub asked: Option<f64>,
    /// Measured value, in `unit`.
    pub got: f64,
    /// Largest accepted difference, in the same unit; `null`: shown without judgement.
    pub tolerance: Option<f64>,
    /// True when the difference is accepted; `null` without judgement.
    pub within: Option<bool>,
    /// Number of observations behind the measured value.
    pub observations_count: u64,
}

/// A profile measured through the path on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CalibrationRecord {
    /// The profile as in force.
    pub profile: LinkProfile,
    /// Mechanism moving packets between the hosts.
    pub backend: PathBackend,
    /// True when the packet-forwarding thread had real-time scheduling.
    pub realtime_scheduling: bool,
    /// True when idle processors were kept from halting.
    pub keep_awake: bool,
    /// True when the path ran in a user namespace.
    pub rootless: bool,
    /// Seed of the path's random streams.
    pub seed: u64,
    /// Version of resolab-core, as text.
    pub core_version: String,
    /// Wall time at the start, in ns since the Unix epoch.
    pub unix_ns: u64,
    /// One-minute load average at the start.
    pub load_average: f64,
    /// Each quantity, requested and measured.
    pub checks: Vec<CalibrationCheck>,
}
