//! The record of a name and a page fetched together: the connections used, the instants of name and
//! page, and the use of a request sent before the name was known.

use crate::failure::Failure;
use crate::hello::HelloFacts;
use crate::query::QueryPurpose;
use crate::terms::HandshakeMode;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};

/// The sharing of connections between a query and a page's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CoalescingMode {
    /// Each on a separate connection.
    Separate,
    /// DoH3 and the page on one HTTP/3 connection.
    SharedConnection,
    /// DoQ and HTTP/3 on one QUIC connection under the private ALPN.
    PrivateAlpn,
}

/// The outcome of a request sent beside the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Speculation {
    /// The request was not sent: no evidence allowed the connection for the page.
    NotSent,
    /// The response to the request is the page.
    Used,
    /// The request was sent, and its response was discarded.
    Discarded,
}

/// The source of the knowledge about the certificate's coverage of the page's host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CoverageSource {
    /// The certificate of this connection, after its handshake.
    Connection,
    /// An earlier connection to the same server, with its ticket used here: early data leaves
    /// before any message of the server.
    Earlier,
}

/// The reason for using the resolver's connection for the page, once the name was known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SharedBecause {
    /// The certificate covers the host, and the name's address is the connection's.
    Address,
    /// The certificate covers the host, and an ORIGIN frame (RFC 9412) has the host's origin.
    Origin,
}

/// One connection of a fetch. Instants are nanoseconds since the fetch's `time_origin_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FetchConnection {
    /// Address and port of the server.
    pub address: SocketAddr,
    /// Requested server name (SNI).
    pub server_name: String,
    /// Negotiated ALPN, verbatim; `null` before the end of the handshake.
    pub alpn: Option<String>,
    /// Actual handshake; `null` before the end of the handshake.
    pub handshake_mode: Option<HandshakeMode>,
    /// True when offered early data was accepted; `null` when no early data was offered.
    pub early_data_accepted: Option<bool>,
    /// True when this connection brought an address token given by the server before (RFC 9000
    /// section 8.1.3).
    pub address_token_used: bool,
    /// True when the server validated our address by a Retry packet; `null` while a Retry is still
    /// possible.
    pub quic_retry: Option<bool>,
    /// The connection was wanted, in ns since `time_origin_ns`.
    pub quic_handshake_start_ns: Option<u64>,
    /// End of the handshake, in ns since `time_origin_ns`; `null` without an end.
    pub quic_handshake_end_ns: Option<u64>,
    /// Smallest round trip time measured by the connection, in ns; `null` without a measurement.
    pub connection_min_rtt_ns: Option<u64>,
    /// Number of our QUIC packets declared lost; `null` without a connection.
    pub retransmitted_count: Option<u32>,
    /// Bytes of UDP payload sent until the end of the fetch; `null` without a connection.
    pub sent_bytes: Option<u64>,
    /// Bytes of UDP payload received until the end of the fetch; `null` without a connection.
    pub received_bytes: Option<u64>,
    /// The hellos of the connection.
    #[serde(flatten)]
    pub hello_facts: HelloFacts,
}

/// One name and page, fetched successfully or not. Instants are nanoseconds since `time_origin_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FetchRecord {
    /// Sharing of connections between query and page.
    pub coalescing_mode: CoalescingMode,
    /// True when the page was to be requested beside the query.
    pub speculative: bool,
    /// URL of the page.
    pub url: String,
    /// The resolver as given, a URL.
    pub resolver: String,
    /// Purpose of the fetch; `priming` only fetched tickets, address tokens and the server's
    /// origins.
    pub purpose: QueryPurpose,
    /// Position among the fetches of this run, from 0.
    pub sequence: u64,
    /// Start of the fetch, `CLOCK_MONOTONIC` in ns: name and page were wanted, and no socket
    /// existed yet.
    pub time_origin_ns: u64,
    /// Time limit of the fetch, in ns; `null` before format 1.22.
    #[serde(default)]
    pub limit_ns: Option<u64>,
    /// Handshake requested of every connection.
    pub requested_handshake_mode: HandshakeMode,
    /// Connections in the order of their opening; the first carries the query.
    pub connections: Vec<FetchConnection>,
    /// Hand-over of the query to the connection, in ns since `time_origin_ns`; `null` when the
    /// query never left.
    pub query_start_ns: Option<u64>,
    /// Arrival of the answer, in ns since `time_origin_ns`: the name is known. `null` without an
    /// answer.
    pub name_complete_ns: Option<u64>,
    /// Response code as text; `null` without a response.
    pub rcode: Option<String>,
    /// Addresses in the answer.
    pub addresses: Vec<IpAddr>,
    /// Outcome of the request sent beside the query; `null` when no early request was wanted.
    pub speculation: Option<Speculation>,
    /// Source of the permission for a request sent beside the query; `null` without this request.
    pub coverage_source: Option<CoverageSource>,
    /// Reason for name and page sharing a connection; `null` when not shared.
    pub shared_because: Option<SharedBecause>,
    /// Hand-over of the page's request to the connection, in ns since `time_origin_ns`; `null` when
    /// not sent.
    pub page_request_ns: Option<u64>,
    /// Arrival of the response's head, in ns since `time_origin_ns`; `null` without a response.
    pub page_head_ns: Option<u64>,
    /// Arrival of the page's first bytes or of the name, the later of both, in ns since
    /// `time_origin_ns`. Without a name no page counts: `null`.
    pub page_first_byte_ns: Option<u64>,
    /// Arrival of the whole page or of the name, the later of both, in ns since `time_origin_ns`;
    /// `null` on failure.
    pub page_complete_ns: Option<u64>,
    /// Status of the response; `null` without a response.
    pub status: Option<u16>,
    /// Length of the page, in bytes; `null` without a page.
    pub page_bytes: Option<u64>,
    /// `name_complete_ns` in round trips: the smallest measured by any of the connections.
    pub name_round_trip_count: Option<f64>,
    /// `page_first_byte_ns` in round trips, as `name_round_trip_count`.
    pub first_byte_round_trip_count: Option<f64>,
    /// `page_complete_ns` in round trips, as `name_round_trip_count`.
    pub page_round_trip_count: Option<f64>,
    /// Reason for the failure; `null` means success.
    pub failure: Option<Failure>,
    /// The failure in one line for people; `null` on success.
    pub failure_detail: Option<String>,
}
