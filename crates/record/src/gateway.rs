//! Commands and records of a gateway: names, the browser's connections (legs), upstream
//! connections, and each request with its instants. Not for: the queries; these are `query`
//! records.

use crate::failure::Failure;
use crate::fetch::{CoverageSource, Speculation};
use crate::hello::HelloFacts;
use crate::terms::{HandshakeMode, HttpVersion};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// A command to `resolab-core gateway`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum GatewayCommand {
    /// Close every connection (upstream, to the resolver and to the browser), and count the next
    /// load. The reply comes when all records of the previous load are written and none of its
    /// connections sends any more.
    NewLoad {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// True to drop session tickets, too, so the next handshakes are full. Address tokens and
        /// the servers' statements about names (certificates, 421) are dropped with the tickets.
        forget_tickets: bool,
        /// Name of the document to request in the flight of the name's query; `null` for no early
        /// request. The request copies the first GET of an earlier load for the name. The
        /// resolver's connection must carry pages.
        #[serde(default)]
        speculate_for: Option<String>,
    },
    /// Close every connection and end.
    Stop {
        /// Number of the command, returned in `command_done`.
        id: u64,
    },
}

/// The event opening a gateway's upstream connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GatewayTrigger {
    /// The name's query, as soon as the name's address is known. The browser is answered at once.
    Dns,
    /// The browser's ClientHello. The browser's query was answered at once.
    Hello,
    /// The first request. The browser's query and ClientHello were answered at once.
    Request,
    /// The ClientHello. The gateway answers the query when the resolver has answered, and the
    /// ClientHello when the upstream connection can take requests. The browser's phases are the
    /// same as without a gateway.
    Mirror,
}

/// The rule for sending requests on a connection opened for another name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConnectionSharing {
    /// No request uses another name's connection.
    Separate,
    /// Requests for names with the connection's address among their addresses, if the connection's
    /// certificate covers the names (RFC 9113 section 9.1.1, RFC 9114 section 3.3).
    BrowserRule,
    /// As `browser_rule`, and requests for origins in an ORIGIN frame (RFC 8336, RFC 9412).
    OriginFrame,
    /// Requests for all names covered by the connection's certificate, at any address: the upper
    /// bound.
    Certificate,
    /// Only the resolver's connection takes other names' requests, as allowed by `origin_frame`.
    /// Pages and their names are then on the same connection (DoH3, or DoQ by the private ALPN).
    ResolverConnection,
}

/// The reason for sending a request on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConnectionReason {
    /// The connection was opened for this name.
    OwnName,
    /// The certificate covers the host, and the name's address is the connection's.
    Address,
    /// The certificate covers the host, and an ORIGIN frame has the host's origin.
    Origin,
    /// The certificate covers the host; there is no other reason.
    Certificate,
}

/// The reason for discarding the response to a speculative request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DiscardedBecause {
    /// The browser's request was another request.
    OtherRequest,
    /// The name's answer did not agree: the connection is not usable for the name.
    NotShared,
    /// The browser did not send the request.
    Unclaimed,
}

/// The outcome of a load's request meant to leave before the document's name was known. Instants
/// are `CLOCK_MONOTONIC`, in ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GatewaySpeculationRecord {
    /// Number of the load, from 0.
    pub load: u64,
    /// Name of the document's host.
    pub host: String,
    /// Outcome of the speculative request.
    pub speculation: Speculation,
    /// Reason for discarding the response; `null` for a used response and for a request not sent.
    pub discarded_because: Option<DiscardedBecause>,
    /// Number of the request's connection, the resolver's; `null` for a request not sent.
    pub connection_id: Option<u64>,
    /// Source of the knowledge about the certificate's coverage of the name; `null` for a request
    /// not sent.
    pub coverage_source: Option<CoverageSource>,
    /// Path and query of the request; `null` for a request not sent.
    pub path: Option<String>,
    /// Reading of the name's query, `CLOCK_MONOTONIC` in ns.
    pub query_ns: u64,
    /// Hand-over of the request to the connection, `CLOCK_MONOTONIC` in ns; `null` for a request
    /// not sent.
    pub sent_ns: Option<u64>,
    /// Number of body bytes received before a response was discarded; `null` otherwise.
    pub discarded_body_bytes: Option<u64>,
}

/// A gateway is listening.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GatewayReadyRecord {
    /// Address and port for the browser's queries, over UDP and TCP.
    pub dns_address: SocketAddr,
    /// Range of the addresses given to names, e.g. `198.18.0.0/15`.
    pub range: String,
    /// Port of every name, for TCP and UDP.
    pub port: u16,
    /// The resolver asked by the gateway, a URL.
    pub resolver: String,
    /// File with the certificate authority of the browser's connections, PEM.
    pub ca_file: String,
    /// Base64 of the SHA-256 of the authority's SubjectPublicKeyInfo (RFC 7469 pin).
    pub ca_spki_sha256: String,
    /// Event opening an upstream connection.
    pub trigger: GatewayTrigger,
    /// Rule for sharing upstream connections.
    pub sharing: ConnectionSharing,
    /// Handshake requested for upstream connections.
    pub requested_handshake_mode: HandshakeMode,
    /// HTTP version of upstream connections.
    pub upstream_http_version: HttpVersion,
    /// HTTP versions offered to the browser.
    pub leg_http_versions: Vec<HttpVersion>,
}

/// A connection of the browser to the gateway. Instants are `CLOCK_MONOTONIC`, in ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GatewayLegRecord {
    /// Number of the load, from 0.
    pub load: u64,
    /// Number of the connection within this gateway.
    pub leg_id: u64,
    /// Name with the destination address of the connection.
    pub host: String,
    /// HTTP version of the connection; `null` before the end of the handshake.
    pub http_version: Option<HttpVersion>,
    /// Arrival of the ClientHello, `CLOCK_MONOTONIC` in ns.
    pub hello_ns: u64,
    /// End of the wait before the server's flight, `CLOCK_MONOTONIC` in ns; `null` for a connection
    /// never released.
    pub released_ns: Option<u64>,
    /// Completion of the handshake, `CLOCK_MONOTONIC` in ns; `null` without completion.
    pub handshake_complete_ns: Option<u64>,
    /// Number of requests on the connection.
    pub requests_count: u64,
    /// End of the connection, `CLOCK_MONOTONIC` in ns.
    pub closed_ns: u64,
    /// Failure of the awaited upstream connection, or of this connection's handshake; `null`
    /// otherwise.
    pub failure: Option<Failure>,
    /// The failure in one line for people; `null` without a failure.
    pub failure_detail: Option<String>,
}

/// A connection of the gateway upstream, written when the gateway gives the connection up. Instants
/// are `CLOCK_MONOTONIC`, in ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GatewayConnectionRecord {
    /// Number of the load, from 0.
    pub load: u64,
    /// Number of the connection within this gateway.
    pub connection_id: u64,
    /// Name the connection was opened for. On the resolver's connection with pages: the resolver's
    /// name.
    pub host: String,
    /// Address and port of the server; `null` when the name had no address.
    pub address: Option<SocketAddr>,
    /// HTTP version of the connection.
    pub http_version: HttpVersion,
    /// Handshake requested for the connection.
    pub requested_handshake_mode: HandshakeMode,
    /// Actual handshake as seen by this side; the server's record decides. `null` when the
    /// handshake did not end.
    pub handshake_mode: Option<HandshakeMode>,
    /// True when offered early data was accepted; `null` when no early data was offered.
    pub early_data_accepted: Option<bool>,
    /// The connection was wanted, `CLOCK_MONOTONIC` in ns. For the resolver's connection: the start
    /// of its opening.
    pub wanted_ns: u64,
    /// Start of the TCP connect, `CLOCK_MONOTONIC` in ns; `null` over QUIC.
    pub tcp_connect_start_ns: Option<u64>,
    /// End of the TCP connect, `CLOCK_MONOTONIC` in ns; `null` over QUIC, and when the connect did
    /// not end.
    pub tcp_connect_end_ns: Option<u64>,
    /// Start of the TLS handshake over TCP, `CLOCK_MONOTONIC` in ns; `null` without a TLS
    /// handshake.
    pub tls_handshake_start_ns: Option<u64>,
    /// End of the TLS handshake over TCP, `CLOCK_MONOTONIC` in ns; `null` when no handshake ended.
    pub tls_handshake_end_ns: Option<u64>,
    /// Start of the QUIC handshake, `CLOCK_MONOTONIC` in ns; `null` over TCP.
    pub quic_handshake_start_ns: Option<u64>,
    /// End of the QUIC handshake, `CLOCK_MONOTONIC` in ns; `null` over TCP, and when the handshake
    /// did not end.
    pub quic_handshake_end_ns: Option<u64>,
    /// Instant from which the connection could take requests, `CLOCK_MONOTONIC` in ns. With early
    /// data this instant is before the end of the handshake. `null` when the connection was never
    /// usable.
    pub usable_ns: Option<u64>,
    /// The gateway gave the connection up, `CLOCK_MONOTONIC` in ns.
    pub closed_ns: u64,
    /// Number of requests given to the connection.
    pub requests_count: u64,
    /// Smallest round trip time measured by the connection, in ns; `null` without a measurement.
    pub connection_min_rtt_ns: Option<u64>,
    /// Reason for the failure to open the connection; `null` for an opened connection.
    pub failure: Option<Failure>,
    /// The failure in one line for people; `null` without a failure.
    pub failure_detail: Option<String>,
    /// The hellos of the connection.
    #[serde(flatten)]
    pub hello_facts: HelloFacts,
}

/// A request at the gateway, successful or not. Instants are `CLOCK_MONOTONIC`, in ns. The
/// gateway's own time is in three pairs: `sent_ns` - `received_ns`, `head_passed_ns` - `head_ns`,
/// `last_passed_ns` - `last_ns`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GatewayRequestRecord {
    /// Number of the load, from 0.
    pub load: u64,
    /// Number of the request within this gateway, in order of arrival on each leg.
    pub request_id: u64,
    /// Number of the browser's connection (leg).
    pub leg_id: u64,
    /// HTTP version of the browser's connection.
    pub leg_http_version: HttpVersion,
    /// Number of the upstream connection; `null` without an upstream connection.
    pub connection_id: Option<u64>,
    /// Reason for sending the request on this upstream connection; `null` without an upstream
    /// connection.
    pub connection_reason: Option<ConnectionReason>,
    /// True when the last sending of the request was before the end of the connection's handshake;
    /// `null` for a request not sent.
    pub sent_early: Option<bool>,
    /// Method of the HTTP request.
    pub method: String,
    /// Host of the request.
    pub authority: String,
    /// Path and query of the request.
    pub path: String,
    /// The `priority` field of the request (RFC 9218), verbatim; `null` without the field.
    pub priority: Option<String>,
    /// Number of priority changes (PRIORITY_UPDATE, RFC 9218 section 7.2) passed on, over HTTP/3 on
    /// both sides.
    #[serde(default)]
    pub priority_updates_count: u32,
    /// Arrival of the request's head, `CLOCK_MONOTONIC` in ns.
    pub received_ns: u64,
    /// First hand-over of the request's head to an upstream connection, `CLOCK_MONOTONIC` in ns;
    /// `null` for a request not sent.
    pub sent_ns: Option<u64>,
    /// Number of interim responses (1xx) passed on.
    pub interim_responses_count: u32,
    /// Arrival of the response's head, `CLOCK_MONOTONIC` in ns; `null` without a response.
    pub head_ns: Option<u64>,
    /// Hand-over of the response's head to the browser's connection, `CLOCK_MONOTONIC` in ns;
    /// `null` when not handed over.
    pub head_passed_ns: Option<u64>,
    /// Arrival of the response's last byte, `CLOCK_MONOTONIC` in ns; `null` for an incomplete
    /// response.
    pub last_ns: Option<u64>,
    /// Hand-over of the response's last byte to the browser's connection, `CLOCK_MONOTONIC` in ns;
    /// `null` when not handed over.
    pub last_passed_ns: Option<u64>,
    /// Status of the response; `null` without a response.
    pub status: Option<u16>,
    /// Bytes of the request's body passed on.
    pub request_body_bytes: u64,
    /// Bytes of the response's body passed on.
    pub response_body_bytes: u64,
    /// Outcome of the request sent before its name was known; `null` when no early request was
    /// wanted.
    pub speculation: Option<Speculation>,
    /// Number of repeats: after 421, after early data rejected or answered with 425, and after a
    /// server left the request unprocessed.
    pub sent_again_count: u32,
    /// True when the browser cancelled the request.
    pub cancelled: bool,
    /// Reason for the failure upstream; `null` on success, and for requests cancelled by the
    /// browser.
    pub failure: Option<Failure>,
    /// The failure in one line for people; `null` without a failure.
    pub failure_detail: Option<String>,
}
