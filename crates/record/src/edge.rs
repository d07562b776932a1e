//! Shapes the edge writes: connections, DNS queries and HTTP requests as the server saw them. They
//! judge what a client only believes, early data above all.

use crate::edge_control::AddressProof;
use crate::edge_names::FailureMode;
use crate::failure::Failure;
use crate::hello::HelloFacts;
use crate::terms::{DnsTransport, HandshakeMode, HttpVersion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// The edge is listening on every address and port of its configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeReadyRecord {
    /// The certificate authority, PEM.
    pub ca_file: String,
    /// Base64 of the SHA-256 of the authority's SubjectPublicKeyInfo (RFC 7469 pin).
    pub ca_spki_sha256: String,
    /// Listening sockets, `udp://a:p` or `tcp://a:p`.
    pub listeners: Vec<String>,
}

/// One TCP or QUIC connection, written when it ends or when the edge is told to write what it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionRecord {
    /// Number within this edge.
    pub connection_id: u64,
    /// `tcp` or `quic`.
    pub protocol: String,
    /// Address and port of the edge.
    pub local_address: SocketAddr,
    /// Address and port of the client.
    pub peer_address: SocketAddr,
    /// Server name the client asked for.
    pub server_name: Option<String>,
    /// Negotiated ALPN, verbatim.
    pub alpn: Option<String>,
    /// What happened; `null` without TLS or when the handshake failed. `zero_rtt` means early data
    /// was accepted on this connection; whether a given request was in it stands with the request.
    pub handshake_mode: Option<HandshakeMode>,
    /// Whether early data was accepted; `null` when none was offered or it cannot be told.
    pub early_data_accepted: Option<bool>,
    /// `CLOCK_MONOTONIC` when the connection was first seen.
    pub accepted_ns: u64,
    /// `CLOCK_MONOTONIC` when the handshake was complete (client's Finished seen).
    pub handshake_complete_ns: Option<u64>,
    /// `CLOCK_MONOTONIC` of the end.
    pub closed_ns: Option<u64>,
    /// Why the handshake or connection failed; `null` for an orderly end.
    pub failure: Option<Failure>,
    /// One line for people.
    pub failure_detail: Option<String>,
    /// Version of TLS, `1.2` or `1.3`; `null` without TLS or before the server's flight.
    #[serde(default)]
    pub tls_version: Option<String>,
    /// Version of QUIC, as `1`; `null` over TCP.
    #[serde(default)]
    pub quic_version: Option<String>,
    /// Cipher suite, by its IANA name; `null` without TLS or before the server's flight.
    #[serde(default)]
    pub cipher_suite: Option<String>,
    /// Whether the ClientHello offered early data; `null` without one.
    #[serde(default)]
    pub early_data_offered: Option<bool>,
    /// Whether this connection came as the answer to our Retry; `null` over TCP.
    #[serde(default)]
    pub retry_sent: Option<bool>,
    /// What showed that the client owns its address; `null` over TCP.
    #[serde(default)]
    pub address_validated_by: Option<AddressProof>,
    /// `CLOCK_MONOTONIC` when the first bytes of the ClientHello were here.
    #[serde(default)]
    pub client_hello_ns: Option<u64>,
    /// `CLOCK_MONOTONIC` when the server's flight was ready for the socket.
    #[serde(default)]
    pub server_flight_ns: Option<u64>,
    /// Bytes received: TCP payload (TLS included), or UDP payload of QUIC.
    #[serde(default)]
    pub received_bytes: Option<u64>,
    /// Bytes sent, counted alike.
    #[serde(default)]
    pub sent_bytes: Option<u64>,
    /// DNS queries that came on it, those over HTTP included.
    #[serde(default)]
    pub queries_count: u64,
    /// HTTP requests that came on it other than DNS queries.
    #[serde(default)]
    pub requests_count: u64,
    /// Whether the client ended it (`true`), this side did (`false`: a command, a limit, silence,
    /// an error of the client's), or it is open (`null`).
    #[serde(default)]
    pub closed_by_client: Option<bool>,
    /// Code of the CONNECTION_CLOSE or GOAWAY that ended it; `null` where the protocol has none.
    #[serde(default)]
    pub close_code: Option<u64>,
    /// The hellos.
    #[serde(flatten)]
    pub hello_facts: HelloFacts,
}

/// One DNS query as the edge saw it. Instants are `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeQueryRecord {
    /// Connection it came on; `null` for `doudp`.
    pub connection_id: Option<u64>,
    /// DNS transport it came over.
    pub dns_transport: DnsTransport,
    /// Address and port of the client.
    pub peer_address: SocketAddr,
    /// The whole query was here.
    pub received_ns: u64,
    /// The response was handed to the connection; `null` when none was sent.
    pub answered_ns: Option<u64>,
    /// Whether it arrived as early data, before the handshake was complete; `null` without TLS.
    pub in_early_data: Option<bool>,
    /// Name asked, as asked (case kept).
    pub qname: String,
    /// Type asked, as text.
    pub qtype: String,
    /// Response code as text; `null` when no response was sent.
    pub rcode: Option<String>,
    /// DNS message received.
    pub query_bytes: u32,
    /// DNS message sent.
    pub response_bytes: Option<u32>,
    /// Extra delay drawn for it, counted from `received_ns`; `null` without.
    #[serde(default)]
    pub delay_ns: Option<u64>,
    /// What the name's configuration did to it on purpose; `null` when it was answered as usual.
    #[serde(default)]
    pub failure_mode: Option<FailureMode>,
    /// Whether the answer was asked of the upstream resolver.
    #[serde(default)]
    pub forwarded: bool,
}

/// One HTTP request for a page's resource as the edge saw it. Instants are `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeRequestRecord {
    /// Connection it came on.
    pub connection_id: u64,
    /// HTTP version it came over.
    pub http_version: HttpVersion,
    /// Address and port of the client.
    pub peer_address: SocketAddr,
    /// The request's headers were here.
    pub received_ns: u64,
    /// Whether the request arrived as accepted early data, before the handshake was complete.
    pub in_early_data: bool,
    /// `CLOCK_MONOTONIC` when the connection's handshake was complete; `null` if not yet when this
    /// was written.
    pub handshake_complete_ns: Option<u64>,
    /// Whether the connection's handshake used a ticket.
    pub session_resumed: Option<bool>,
    /// HTTP method.
    pub method: String,
    /// Host asked.
    pub authority: String,
    /// Path and query.
    pub path: String,
    /// Status answered.
    pub status: u16,
    /// Body bytes answered, as encoded.
    pub body_bytes: u64,
    /// Content coding of the body, `br` or `gzip`; `null` without one.
    pub content_encoding: Option<String>,
    /// `content-range` answered: of a part (status 206) or a refusal (416).
    pub content_range: Option<String>,
    /// Size of the whole resource without content coding; `null` when there is no resource.
    pub resource_bytes: Option<u64>,
    /// How long the answer was held back as configured; `null` when it was not.
    pub server_time_ns: Option<u64>,
    /// The first body byte was handed to the connection; `null` without a body.
    pub first_body_byte_ns: Option<u64>,
    /// The last body byte was handed to the connection; `null` if the client went away.
    pub response_sent_ns: Option<u64>,
}
