//! The record of a name and a page fetched together: which connections that took, when the name and
//! the page were there, and whether a request sent before the name was known was of use.

use crate::failure::Failure;
use crate::hello::HelloFacts;
use crate::query::QueryPurpose;
use crate::terms::HandshakeMode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};

/// How a query and a page's request share connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CoalescingMode {
    /// Each on a connection of its own.
    Separate,
    /// DoH3 and the page on one HTTP/3 connection.
    SharedConnection,
    /// DoQ and HTTP/3 on one QUIC connection under the private ALPN.
    PrivateAlpn,
}

/// What became of a request sent beside the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speculation {
    /// It was not sent: nothing said that the connection is good for the page.
    NotSent,
    /// Its response is the page.
    Used,
    /// It was sent, and its response did not count.
    Discarded,
}

/// Where it is known from that the connection's certificate covers the page's host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CoverageSource {
    /// The certificate of this connection, after its handshake.
    Connection,
    /// An earlier connection to the same server, whose ticket this one uses: early data leaves
    /// before the server has said anything.
    Earlier,
}

/// Why the resolver's connection was good for the page once the name was known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SharedBecause {
    /// The certificate covers the host, and the name's address is the connection's.
    Address,
    /// The certificate covers the host, and an ORIGIN frame (RFC 9412) names it.
    Origin,
}

/// One connection of a fetch. Instants are nanoseconds since the fetch's `time_origin_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FetchConnection {
    /// Address and port of the server.
    pub address: SocketAddr,
    /// Server name asked for.
    pub server_name: String,
    /// Negotiated ALPN, verbatim; `null` before the end of the handshake.
    pub alpn: Option<String>,
    /// What happened; `null` before the end of the handshake.
    pub handshake_mode: Option<HandshakeMode>,
    /// Whether offered early data was accepted; `null` when none was offered.
    pub early_data_accepted: Option<bool>,
    /// Whether the server had given an address token (RFC 9000 section 8.1.3) that this connection
    /// came back with.
    pub address_token_used: bool,
    /// Whether the server validated our address by a Retry packet; `null` while it still may.
    pub quic_retry: Option<bool>,
    /// The connection was wanted.
    pub quic_handshake_start_ns: Option<u64>,
    /// Its handshake ended.
    pub quic_handshake_end_ns: Option<u64>,
    /// Smallest round trip time it measured.
    pub connection_min_rtt_ns: Option<u64>,
    /// QUIC packets of ours held lost.
    pub retransmitted_count: Option<u32>,
    /// UDP payload sent until the fetch ended.
    pub sent_bytes: Option<u64>,
    /// UDP payload received until then.
    pub received_bytes: Option<u64>,
    /// The hellos.
    #[serde(flatten)]
    pub hello_facts: HelloFacts,
}

/// One name and page, whatever became of them. Instants are nanoseconds since `time_origin_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FetchRecord {
    /// How connections are shared.
    pub coalescing_mode: CoalescingMode,
    /// Whether the page was to be asked for beside the query.
    pub speculative: bool,
    /// URL of the page.
    pub url: String,
    /// The resolver as given, a URL.
    pub resolver: String,
    /// `priming` only fetched tickets, address tokens and what the server says of its origins.
    pub purpose: QueryPurpose,
    /// Position among the fetches of this run, from 0.
    pub sequence: u64,
    /// `CLOCK_MONOTONIC` when name and page were wanted, before any socket existed for them.
    pub time_origin_ns: u64,
    /// Asked for, of every connection.
    pub requested_handshake_mode: HandshakeMode,
    /// In the order they were opened; the first carries the query.
    pub connections: Vec<FetchConnection>,
    /// The query was handed to the connection.
    pub query_start_ns: Option<u64>,
    /// The answer was there: the name is known.
    pub name_complete_ns: Option<u64>,
    /// Response code as text.
    pub rcode: Option<String>,
    /// Addresses of the answer.
    pub addresses: Vec<IpAddr>,
    /// What became of the request sent beside the query; `null` when none was wanted.
    pub speculation: Option<Speculation>,
    /// For a request sent beside the query: where it is known from that it may be.
    pub coverage_source: Option<CoverageSource>,
    /// Why name and page shared a connection; `null` when they did not.
    pub shared_because: Option<SharedBecause>,
    /// The request whose response is the page was handed to the connection.
    pub page_request_ns: Option<u64>,
    /// The head of the response was there.
    pub page_head_ns: Option<u64>,
    /// The first bytes of the page and the name were there, whichever was later; without a name no
    /// page counts.
    pub page_first_byte_ns: Option<u64>,
    /// The whole page and the name were there.
    pub page_complete_ns: Option<u64>,
    /// Status of the response.
    pub status: Option<u16>,
    /// Bytes of the page.
    pub page_bytes: Option<u64>,
    /// `name_complete_ns` in round trips of the connections (the smallest any of them measured).
    pub name_round_trip_count: Option<f64>,
    /// `page_first_byte_ns` in round trips.
    pub first_byte_round_trip_count: Option<f64>,
    /// `page_complete_ns` in round trips.
    pub page_round_trip_count: Option<f64>,
    /// `null` means success.
    pub failure: Option<Failure>,
    /// One line for people.
    pub failure_detail: Option<String>,
}
