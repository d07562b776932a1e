//! Records of the edge: connections, DNS queries and HTTP requests as seen by the server. The
//! server decides where a client only believes, early data above all.

use crate::edge_control::AddressProof;
use crate::edge_names::FailureMode;
use crate::failure::Failure;
use crate::hello::HelloFacts;
use crate::terms::{DnsTransport, HandshakeMode, HttpVersion};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// The edge is listening on every address and port of its configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct EdgeReadyRecord {
    /// File with the certificate authority, PEM.
    pub ca_file: String,
    /// Base64 of the SHA-256 of the authority's SubjectPublicKeyInfo (RFC 7469 pin).
    pub ca_spki_sha256: String,
    /// Listening sockets, `udp://a:p` or `tcp://a:p`.
    pub listeners: Vec<String>,
}

/// One TCP or QUIC connection, written at its end or when the edge is told to write its records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ConnectionRecord {
    /// Number of the connection within this edge.
    pub connection_id: u64,
    /// Protocol of the connection, `tcp` or `quic`.
    pub protocol: String,
    /// Address and port of the edge.
    pub local_address: SocketAddr,
    /// Address and port of the client.
    pub peer_address: SocketAddr,
    /// Server name requested by the client (SNI); `null` without a name.
    pub server_name: Option<String>,
    /// Negotiated ALPN, verbatim; `null` when no ALPN was negotiated.
    pub alpn: Option<String>,
    /// Actual handshake; `null` without TLS or after a failed handshake. `zero_rtt` means accepted
    /// early data on this connection. The record of a request tells if the request was part of the
    /// early data.
    pub handshake_mode: Option<HandshakeMode>,
    /// True when early data was accepted; `null` when no early data was offered, or when the
    /// outcome is unknown.
    pub early_data_accepted: Option<bool>,
    /// First sight of the connection by the edge, `CLOCK_MONOTONIC` in ns.
    pub accepted_ns: u64,
    /// Completion of the handshake (client's Finished seen), `CLOCK_MONOTONIC` in ns; `null`
    /// without completion.
    pub handshake_complete_ns: Option<u64>,
    /// End of the connection, `CLOCK_MONOTONIC` in ns; `null` for an open connection.
    pub closed_ns: Option<u64>,
    /// Reason for the failure of the handshake or connection; `null` for an orderly end.
    pub failure: Option<Failure>,
    /// Detail of the failure, or of an end by this side, in one line for people; `null` without a
    /// detail.
    pub failure_detail: Option<String>,
    /// Version of TLS, `1.2` or `1.3`; `null` without TLS or before the server's flight.
    #[serde(default)]
    pub tls_version: Option<String>,
    /// Version of QUIC, e.g. `1`; `null` over TCP.
    #[serde(default)]
    pub quic_version: Option<String>,
    /// Cipher suite, by its IANA name; `null` without TLS or before the server's flight.
    #[serde(default)]
    pub cipher_suite: Option<String>,
    /// True when the ClientHello offered early data; `null` without a ClientHello.
    #[serde(default)]
    pub early_data_offered: Option<bool>,
    /// True when this connection is the answer to our Retry; `null` over TCP.
    #[serde(default)]
    pub retry_sent: Option<bool>,
    /// Proof of the client's address; `null` over TCP.
    #[serde(default)]
    pub address_validated_by: Option<AddressProof>,
    /// Arrival of the first bytes of the ClientHello, `CLOCK_MONOTONIC` in ns; `null` without a
    /// ClientHello.
    #[serde(default)]
    pub client_hello_ns: Option<u64>,
    /// The server's flight was ready for the socket, `CLOCK_MONOTONIC` in ns; `null` without a
    /// flight.
    #[serde(default)]
    pub server_flight_ns: Option<u64>,
    /// Number of bytes received: TCP payload (TLS included), or UDP payload of QUIC; `null` when
    /// unknown.
    #[serde(default)]
    pub received_bytes: Option<u64>,
    /// Number of bytes sent, counted as `received_bytes`; `null` when unknown.
    #[serde(default)]
    pub sent_bytes: Option<u64>,
    /// Number of DNS queries on the connection, with the queries over HTTP.
    #[serde(default)]
    pub queries_count: u64,
    /// Number of HTTP requests on the connection, without DNS queries.
    #[serde(default)]
    pub requests_count: u64,
    /// True when the client ended the connection. False when this side did (a command, a limit,
    /// silence, an error of the client). `null` for an open connection, and when unknown.
    #[serde(default)]
    pub closed_by_client: Option<bool>,
    /// Code of the ending CONNECTION_CLOSE or GOAWAY; `null` when the protocol has no code.
    #[serde(default)]
    pub close_code: Option<u64>,
    /// The hellos of the connection.
    #[serde(flatten)]
    pub hello_facts: HelloFacts,
}

/// One DNS query as seen by the edge. Instants are `CLOCK_MONOTONIC`, in ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct EdgeQueryRecord {
    /// Number of the query's connection; `null` for `doudp`.
    pub connection_id: Option<u64>,
    /// DNS transport of the query.
    pub dns_transport: DnsTransport,
    /// Address and port of the client.
    pub peer_address: SocketAddr,
    /// Arrival of the whole query, `CLOCK_MONOTONIC` in ns.
    pub received_ns: u64,
    /// Hand-over of the response to the connection, `CLOCK_MONOTONIC` in ns; `null` when no
    /// response was sent.
    pub answered_ns: Option<u64>,
    /// True when the query arrived as early data, before the handshake was complete; `null` without
    /// TLS.
    pub in_early_data: Option<bool>,
    /// Queried name as in the query, with its upper and lower case.
    pub qname: String,
    /// Queried type, as text.
    pub qtype: String,
    /// Response code as text; `null` when no response was sent.
    pub rcode: Option<String>,
    /// Length of the DNS message received, in bytes.
    pub query_bytes: u32,
    /// Length of the DNS message sent, in bytes; `null` when no response was sent.
    pub response_bytes: Option<u32>,
    /// Extra delay drawn for the query, in ns from `received_ns`; `null` without an extra delay.
    #[serde(default)]
    pub delay_ns: Option<u64>,
    /// Deliberate failure of the name's queries by configuration; `null` for a usual answer.
    #[serde(default)]
    pub failure_mode: Option<FailureMode>,
    /// True when the upstream resolver was asked for the answer.
    #[serde(default)]
    pub forwarded: bool,
}

/// One HTTP request for a page's resource as seen by the edge. Instants are `CLOCK_MONOTONIC`, in
/// ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct EdgeRequestRecord {
    /// Number of the request's connection.
    pub connection_id: u64,
    /// HTTP version of the request.
    pub http_version: HttpVersion,
    /// Address and port of the client.
    pub peer_address: SocketAddr,
    /// Arrival of the request's headers, `CLOCK_MONOTONIC` in ns.
    pub received_ns: u64,
    /// True when the request arrived as accepted early data, before the handshake was complete.
    pub in_early_data: bool,
    /// Completion of the connection's handshake, `CLOCK_MONOTONIC` in ns; `null` when not complete
    /// at the writing of this record.
    pub handshake_complete_ns: Option<u64>,
    /// True when the connection's handshake used a ticket; `null` when unknown.
    pub session_resumed: Option<bool>,
    /// Method of the HTTP request.
    pub method: String,
    /// Host of the request.
    pub authority: String,
    /// Path and query of the request.
    pub path: String,
    /// Status of the answer.
    pub status: u16,
    /// Number of body bytes in the answer, as encoded.
    pub body_bytes: u64,
    /// Content coding of the body, `br` or `gzip`; `null` without a coding.
    pub content_encoding: Option<String>,
    /// `content-range` of the answer: of a part (status 206) or a refusal (416); `null` otherwise.
    pub content_range: Option<String>,
    /// Size of the whole resource without content coding, in bytes; `null` when there is no
    /// resource.
    pub resource_bytes: Option<u64>,
    /// Configured delay of the answer, in ns; `null` without a delay.
    pub server_time_ns: Option<u64>,
    /// Hand-over of the first body byte to the connection, `CLOCK_MONOTONIC` in ns; `null` without
    /// a body.
    pub first_body_byte_ns: Option<u64>,
    /// Hand-over of the last body byte to the connection, `CLOCK_MONOTONIC` in ns; `null` if the
    /// client went away.
    pub response_sent_ns: Option<u64>,
}
