//! The record of one DNS query by our client or stub: what was asked, what was negotiated, every
//! phase, what came back.

use crate::{ConnectionState, DnsTransport, Failure, HandshakeMode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};

/// Why the query was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueryPurpose {
    /// It is the measurement.
    Measured,
    /// It only fetched a session ticket for a later measured query; outside every clock.
    Priming,
    /// The stub forwarded it for somebody else.
    Forwarded,
}

/// How the resolver's host name became an address, always before the clock starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bootstrap {
    /// The address was given.
    Given,
    /// The system resolver was asked.
    System,
}

/// For a forwarded query: the stub's side of it, in nanoseconds since `time_origin_ns`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForwardedFor {
    /// Who asked the stub.
    pub client_address: SocketAddr,
    /// When the response was handed back.
    pub answered_ns: Option<u64>,
}

/// What the COOKIE option (RFC 7873 section 4) of a message has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CookieState {
    /// There is no such option.
    None,
    /// A client cookie only.
    ClientOnly,
    /// A client cookie and a server cookie.
    Server,
}

/// One DNS query, whatever became of it. Instants are nanoseconds since `time_origin_ns`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueryRecord {
    /// Transport used.
    pub dns_transport: DnsTransport,
    /// The resolver as given, a URL.
    pub resolver: String,
    /// Address and port asked.
    pub resolver_address: SocketAddr,
    /// How the address was found.
    pub bootstrap: Bootstrap,
    /// `false`: the resolver's certificate was not checked in any way, so that anybody may have
    /// answered. A pin is a check. Without TLS there is nothing to check, and this is `true`.
    #[serde(default = "checked")]
    pub certificate_checked: bool,
    /// Name asked, with its final dot.
    pub qname: String,
    /// Type asked, as text.
    pub qtype: String,
    /// Why.
    pub purpose: QueryPurpose,
    /// Position among the queries of this run with the same resolver, from 0.
    pub sequence: u64,
    /// `CLOCK_MONOTONIC` when the query was wanted, before any socket existed for it.
    pub time_origin_ns: u64,
    /// Whether the query paid for its connection; `null` for `doudp`. A query that waited for a
    /// connection another one was already opening is cold too, but without set-up phases: those
    /// belong to the other.
    pub connection: Option<ConnectionState>,
    /// Asked for; `null` for transports without a handshake.
    pub requested_handshake_mode: Option<HandshakeMode>,
    /// What happened; `null` for transports without a handshake and for failures before its end.
    /// A warm query has its connection's.
    pub handshake_mode: Option<HandshakeMode>,
    /// Whether offered early data was accepted; `null` when the query was not sent as such.
    pub early_data_accepted: Option<bool>,
    /// TCP connect started. For `doudp`: the truncated response was asked for again over TCP.
    pub tcp_connect_start_ns: Option<u64>,
    /// TCP connect ended.
    pub tcp_connect_end_ns: Option<u64>,
    /// TLS handshake over TCP started.
    pub tls_handshake_start_ns: Option<u64>,
    /// TLS handshake over TCP ended.
    pub tls_handshake_end_ns: Option<u64>,
    /// QUIC handshake started.
    pub quic_handshake_start_ns: Option<u64>,
    /// QUIC handshake ended.
    pub quic_handshake_end_ns: Option<u64>,
    /// The query was handed to the connection.
    pub query_exchange_start_ns: Option<u64>,
    /// The response was complete.
    pub query_exchange_end_ns: Option<u64>,
    /// Wanted to complete response, set-up included where it was needed; `null` on failure.
    pub query_response_time_ns: Option<u64>,
    /// Negotiated ALPN, verbatim.
    pub alpn: Option<String>,
    /// `TLSv1_3` and the like.
    pub tls_version: Option<String>,
    /// Cipher suite's IANA name.
    pub cipher_suite: Option<String>,
    /// DNS message sent, without framing.
    pub query_bytes: u32,
    /// DNS message received, without framing.
    pub response_bytes: Option<u32>,
    /// Times the query was sent.
    pub attempt_count: u32,
    /// Response code as text, e.g. `NOERROR`.
    pub rcode: Option<String>,
    /// Truncation flag of the response.
    pub truncated: Option<bool>,
    /// Records in the answer section.
    pub answer_count: Option<u32>,
    /// Addresses in the answer section.
    pub addresses: Vec<IpAddr>,
    /// Smallest TTL of the answer section.
    pub ttl_s: Option<u32>,
    /// `null` means success.
    pub failure: Option<Failure>,
    /// One line for people.
    pub failure_detail: Option<String>,
    /// Set by the stub.
    pub forwarded_for: Option<ForwardedFor>,
    /// EDNS(0) UDP payload size the query announced (RFC 6891 section 6.2.3); `null` when nothing
    /// was sent.
    #[serde(default)]
    pub edns_udp_payload_bytes: Option<u16>,
    /// Client subnet the query gave (RFC 7871), `ADDRESS/LENGTH` without host bits; `0.0.0.0/0`
    /// asks the resolver to give none (section 7.1.2); `null` without the option.
    #[serde(default)]
    pub ecs_sent: Option<String>,
    /// Cookie the query had (RFC 7873); `null` when cookies were not asked for.
    #[serde(default)]
    pub cookie_sent: Option<CookieState>,
    /// EDNS(0) UDP payload size the response announced; `null` without EDNS in it.
    #[serde(default)]
    pub response_edns_udp_payload_bytes: Option<u16>,
    /// SCOPE PREFIX-LENGTH of the response's client subnet (RFC 7871 section 7.2.1); `null` without
    /// the option.
    #[serde(default)]
    pub ecs_scope_prefix_length: Option<u8>,
    /// Cookie the response had; `null` without a response or when none was sent. Rcode `BADCOOKIE`
    /// is not asked again (RFC 7873 section 5.3 would): the next query has the server's cookie.
    #[serde(default)]
    pub cookie_received: Option<CookieState>,
}

/// Records from before certificates could go unchecked do not say.
fn checked() -> bool {
    true
}

/// The stub is listening on UDP and TCP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StubReadyRecord {
    /// Where it listens.
    pub listen_address: SocketAddr,
    /// Where it forwards to, a URL.
    pub upstream: String,
}
