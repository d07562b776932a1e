//! The record of a host's round trips, measured with packets or connections made for nothing else.
//! Not for: the round trips a query's own connection met; those stand in its record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// What was sent and waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PingMethod {
    /// Echo request and reply (RFC 792, RFC 4443 section 4).
    Icmp,
    /// SYN and SYN-ACK of a connection closed at once (RFC 9293 section 3.5).
    Tcp,
    /// A long header of no version there is, and the list of versions it is answered with (RFC 9000
    /// section 6).
    Quic,
}

/// Why a ping has no round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PingFailure {
    /// No answer in time.
    Timeout,
    /// A reset, or ICMP said that nothing listens.
    Refused,
    /// No route, or the network said unreachable.
    Unreachable,
    /// The system refused to send.
    Other,
}

/// A method that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PassedOver {
    /// Which.
    pub method: PingMethod,
    /// Port, where it has one.
    pub port: Option<u16>,
    /// One line for people: the system's refusal, or that nothing came back.
    pub reason: String,
}

/// Pings of one address, by the first method that was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PingRecord {
    /// Who was pinged.
    pub address: IpAddr,
    /// The resolver as given, a URL; `null` when only an address was given.
    pub resolver: Option<String>,
    /// `CLOCK_MONOTONIC` before the first was sent.
    pub time_origin_ns: u64,
    /// `null`: none was answered.
    pub method: Option<PingMethod>,
    /// Port, where the method has one.
    pub port: Option<u16>,
    /// Round trip of each, in the order sent, nanoseconds, to the kernel's receipt of the answer
    /// where it says; `null` for one without answer.
    pub rtt_ns: Vec<Option<u64>>,
    /// Of each, `null` where there is a round trip.
    pub failures: Vec<Option<PingFailure>>,
    /// Methods tried before, in order.
    pub passed_over: Vec<PassedOver>,
}
