//! The record of a host's round trips, measured with packets or connections sent for this purpose
//! only. Not for: round trips of a query's own connection; see its record.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// The packets sent and awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PingMethod {
    /// Echo request and reply (RFC 792, RFC 4443 section 4).
    Icmp,
    /// SYN and SYN-ACK of a connection closed at once (RFC 9293 section 3.5).
    Tcp,
    /// A long header with a nonexistent version, and the list of versions in its answer (RFC 9000
    /// section 6).
    Quic,
}

/// The reason for a ping without a round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PingFailure {
    /// No answer came in time.
    Timeout,
    /// A reset came, or ICMP reported no listener.
    Refused,
    /// No route, or the network answered unreachable.
    Unreachable,
    /// The system refused to send the ping.
    Other,
}

/// A method tried without success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PassedOver {
    /// Method of the pings.
    pub method: PingMethod,
    /// Port of the pings; `null` for a method without ports.
    pub port: Option<u16>,
    /// One line for people: the system's refusal, or the lack of any answer.
    pub reason: String,
}

/// Pings of one address, by the first method with an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PingRecord {
    /// Address of the pinged host.
    pub address: IpAddr,
    /// The resolver as given, a URL; `null` when only an address was given.
    pub resolver: Option<String>,
    /// Instant before the first ping was sent, `CLOCK_MONOTONIC` in ns.
    pub time_origin_ns: u64,
    /// Method of the pings; `null` when no method was answered.
    pub method: Option<PingMethod>,
    /// Port of the pings; `null` for a method without ports.
    pub port: Option<u16>,
    /// Round trip time of each ping in ns, in the order sent, to the kernel's receipt of the answer
    /// where known; `null` for a ping without an answer.
    pub rtt_ns: Vec<Option<u64>>,
    /// Failure of each ping; `null` for a ping with a round trip.
    pub failures: Vec<Option<PingFailure>>,
    /// Methods tried before, in order.
    pub passed_over: Vec<PassedOver>,
}
