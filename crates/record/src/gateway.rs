//! What a gateway takes as commands and writes: names it answers for, the browser's connections
//! (legs) to it, its own connections upstream, and each request with the instants at which it
//! was held. Not for: the queries; those are `query` records.

use crate::failure::Failure;
use crate::fetch::{CoverageSource, Speculation};
use crate::hello::HelloFacts;
use crate::terms::{HandshakeMode, HttpVersion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// To `resolab-core gateway`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum GatewayCommand {
    /// Close every connection, upstream, to the resolver and to the browser, and count the next
    /// load. Answered when all records of the load before are written, and nothing more is sent of it.
    NewLoad {
        /// Returned in `command_done`.
        id: u64,
        /// Whether session tickets are dropped too, so that the next handshakes are full, with address
        /// tokens and what servers said of names (certificates, 421).
        forget_tickets: bool,
        /// Name whose document is to be asked for in the flight of its name's query, by the first GET
        /// a load before had for it; `null`: none. Needs the resolver's connection to carry pages.
        #[serde(default)]
        speculate_for: Option<String>,
    },
    /// Close every connection and end.
    Stop {
        /// Returned in `command_done`.
        id: u64,
    },
}

/// What makes a gateway open a connection upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GatewayTrigger {
    /// The name's query, as soon as its address is known; the browser is answered at once.
    Dns,
    /// The browser's ClientHello; its query was answered at once.
    Hello,
    /// The first request; query and ClientHello were answered at once.
    Request,
    /// The ClientHello, which is answered only when the connection upstream can take requests, as
    /// the query is only when the resolver has answered: the browser's phases are those it would
    /// have had without a gateway.
    Mirror,
}

/// Which requests may go on a connection that was opened for another name.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionSharing {
    /// None.
    Separate,
    /// Those for names whose addresses hold the connection's, if its certificate covers them (RFC
    /// 9113 section 9.1.1, RFC 9114 section 3.3).
    BrowserRule,
    /// The same, and those for origins an ORIGIN frame names (RFC 8336, RFC 9412).
    OriginFrame,
    /// Those for names its certificate covers, wherever they are: the upper bound.
    Certificate,
    /// None but the resolver's, which takes those that `origin_frame` allows: pages and their names
    /// on one connection (DoH3, or DoQ by the private ALPN).
    ResolverConnection,
}

/// Why a request went on the connection it went on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionReason {
    /// It was opened for this name.
    OwnName,
    /// The certificate covers the host, and the name's address is the connection's.
    Address,
    /// The certificate covers the host, and an ORIGIN frame names it.
    Origin,
    /// The certificate covers the host, and nothing else speaks for it.
    Certificate,
}

/// Why the response to a speculative request did not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiscardedBecause {
    /// The browser's request was another one.
    OtherRequest,
    /// The name's answer did not agree: the connection is not good for it.
    NotShared,
    /// The browser did not ask.
    Unclaimed,
}

/// What became of the request a load was to send before its name was known. Instants are
/// `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GatewaySpeculationRecord {
    /// Load it belongs to, counted from 0.
    pub load: u64,
    /// The document's name.
    pub host: String,
    /// What became of it.
    pub speculation: Speculation,
    /// Why it did not count; `null` where it did or was not sent.
    pub discarded_because: Option<DiscardedBecause>,
    /// The connection it went on, the resolver's.
    pub connection_id: Option<u64>,
    /// Where it is known from that the connection's certificate covers the name.
    pub coverage_source: Option<CoverageSource>,
    /// Path and query asked for.
    pub path: Option<String>,
    /// The name's query was read.
    pub query_ns: u64,
    /// The request was handed to the connection.
    pub sent_ns: Option<u64>,
    /// Body bytes of a discarded response that had come when it was let go; `null` if it counted.
    pub discarded_body_bytes: Option<u64>,
}

/// A gateway is listening.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GatewayReadyRecord {
    /// Where names are asked for, over UDP and TCP.
    pub dns_address: SocketAddr,
    /// The range whose addresses it gives to names, as `198.18.0.0/15`.
    pub range: String,
    /// Port of every name, TCP and UDP.
    pub port: u16,
    /// Resolver asked upstream.
    pub resolver: String,
    /// The certificate authority of the browser's connections, PEM.
    pub ca_file: String,
    /// Base64 of the SHA-256 of the authority's SubjectPublicKeyInfo (RFC 7469 pin).
    pub ca_spki_sha256: String,
    /// When connections upstream are opened.
    pub trigger: GatewayTrigger,
    /// Which of them are shared.
    pub sharing: ConnectionSharing,
    /// Handshake asked for upstream.
    pub requested_handshake_mode: HandshakeMode,
    /// HTTP version spoken upstream.
    pub upstream_http_version: HttpVersion,
    /// HTTP versions offered to the browser.
    pub leg_http_versions: Vec<HttpVersion>,
}

/// A connection of the browser to the gateway. Instants are `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GatewayLegRecord {
    /// Load it belongs to, counted from 0.
    pub load: u64,
    /// Number within this gateway.
    pub leg_id: u64,
    /// Name whose address it came to.
    pub host: String,
    /// HTTP version spoken; `null` before the end of its handshake.
    pub http_version: Option<HttpVersion>,
    /// Its ClientHello was here.
    pub hello_ns: u64,
    /// It was no longer held: the server's flight may leave.
    pub released_ns: Option<u64>,
    /// Its handshake was complete.
    pub handshake_complete_ns: Option<u64>,
    /// Requests that came on it.
    pub requests_count: u64,
    /// It ended.
    pub closed_ns: u64,
    /// Why the connection upstream it waited for failed, or its own handshake; `null` otherwise.
    pub failure: Option<Failure>,
    /// One line for people.
    pub failure_detail: Option<String>,
}

/// A connection of the gateway upstream, written when it is let go. Instants are `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GatewayConnectionRecord {
    /// Load it belongs to, counted from 0.
    pub load: u64,
    /// Number within this gateway.
    pub connection_id: u64,
    /// Name it was opened for; the resolver's where pages go on its connection.
    pub host: String,
    /// Address and port of the server; `null` when the name had none.
    pub address: Option<SocketAddr>,
    /// HTTP version.
    pub http_version: HttpVersion,
    /// Handshake asked for.
    pub requested_handshake_mode: HandshakeMode,
    /// What happened, as this side believes; the server judges. `null` without an end of it.
    pub handshake_mode: Option<HandshakeMode>,
    /// Whether offered early data was accepted; `null` when none was offered.
    pub early_data_accepted: Option<bool>,
    /// It was wanted; the resolver's: its opening began.
    pub wanted_ns: u64,
    /// TCP connect began.
    pub tcp_connect_start_ns: Option<u64>,
    /// TCP connect ended.
    pub tcp_connect_end_ns: Option<u64>,
    /// TLS handshake over TCP began.
    pub tls_handshake_start_ns: Option<u64>,
    /// TLS handshake over TCP ended.
    pub tls_handshake_end_ns: Option<u64>,
    /// QUIC handshake began.
    pub quic_handshake_start_ns: Option<u64>,
    /// QUIC handshake ended.
    pub quic_handshake_end_ns: Option<u64>,
    /// It could take requests: with early data before the end of its handshake.
    pub usable_ns: Option<u64>,
    /// It was let go.
    pub closed_ns: u64,
    /// Requests it was given.
    pub requests_count: u64,
    /// Smallest round trip time it measured.
    pub connection_min_rtt_ns: Option<u64>,
    /// Why it could not be opened.
    pub failure: Option<Failure>,
    /// One line for people.
    pub failure_detail: Option<String>,
    /// The hellos.
    #[serde(flatten)]
    pub hello_facts: HelloFacts,
}

/// A request that passed the gateway, whatever became of it. Instants are `CLOCK_MONOTONIC`. What
/// the gateway itself took is in the pairs: `sent_ns` - `received_ns`, `head_passed_ns` -
/// `head_ns`, `last_passed_ns` - `last_ns`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GatewayRequestRecord {
    /// Load it belongs to, counted from 0.
    pub load: u64,
    /// Number within this gateway, in the order of arrival on each leg.
    pub request_id: u64,
    /// The browser's connection.
    pub leg_id: u64,
    /// HTTP version the browser spoke.
    pub leg_http_version: HttpVersion,
    /// The connection upstream; `null` when there was none.
    pub connection_id: Option<u64>,
    /// Why it went on that one.
    pub connection_reason: Option<ConnectionReason>,
    /// Whether it left, the last time, before that connection's handshake had ended.
    pub sent_early: Option<bool>,
    /// HTTP method.
    pub method: String,
    /// Host asked.
    pub authority: String,
    /// Path and query.
    pub path: String,
    /// The `priority` field (RFC 9218), verbatim.
    pub priority: Option<String>,
    /// Changes of it (PRIORITY_UPDATE, RFC 9218 section 7.2) that were passed on, over HTTP/3 on both
    /// sides.
    #[serde(default)]
    pub priority_updates_count: u32,
    /// Its head was here.
    pub received_ns: u64,
    /// Its head was handed to a connection upstream, the first time.
    pub sent_ns: Option<u64>,
    /// Interim responses (1xx) that were passed on.
    pub interim_responses_count: u32,
    /// The head of the response was here.
    pub head_ns: Option<u64>,
    /// It was handed to the browser's connection.
    pub head_passed_ns: Option<u64>,
    /// The last byte of the response was here.
    pub last_ns: Option<u64>,
    /// It was handed to the browser's connection.
    pub last_passed_ns: Option<u64>,
    /// Status of the response.
    pub status: Option<u16>,
    /// Bytes of the request's body that were passed on.
    pub request_body_bytes: u64,
    /// Bytes of the response's body that were passed on.
    pub response_body_bytes: u64,
    /// What became of the request sent before its name was known; `null` where none was wanted.
    pub speculation: Option<Speculation>,
    /// Times it was sent again: after 421, after early data that was rejected or got 425, and where the server
    /// had not looked at it.
    pub sent_again_count: u32,
    /// Whether the browser took it back.
    pub cancelled: bool,
    /// Why it failed upstream; `null` also for what the browser took back.
    pub failure: Option<Failure>,
    /// One line for people.
    pub failure_detail: Option<String>,
}
