//! The record of one DNS query by our client or stub: the question, the negotiated parameters,
//! every phase and the response.

use crate::failure::Failure;
use crate::hello::HelloFacts;
use crate::terms::{ConnectionState, DnsTransport, HandshakeMode};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};

/// The purpose of a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QueryPurpose {
    /// The query is the measurement itself.
    #[default]
    Measured,
    /// The query only fetched a session ticket for a later measured query, outside every clock.
    Priming,
    /// The stub forwarded the query for a client.
    Forwarded,
    /// The stub asked before any client did, as if the answer had been pushed.
    Pushed,
}

/// The source of the address for the resolver's host name. The look-up comes before the start of
/// the clock, unless `bootstrap_start_ns` is given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bootstrap {
    /// The user gave the address.
    #[default]
    Given,
    /// The system resolver gave the address.
    System,
    /// A resolver given for this purpose was asked over DoUDP.
    Resolver,
}

/// The stub's side of a forwarded query. Instants are in ns since `time_origin_ns`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ForwardedFor {
    /// Address and port of the stub's client.
    pub client_address: SocketAddr,
    /// The hand-over of the response to the client, in ns since `time_origin_ns`; `null` when no
    /// response was handed over.
    pub answered_ns: Option<u64>,
}

/// The state of the resolver's cache for a name and type, over all transports. Sources are the
/// run's own queries and the answer's TTL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CacheState {
    /// No query of ours asked the resolver before.
    FirstAsked,
    /// We or others asked before, and the resolver may still keep the answer.
    WithinTtl,
    /// The resolver was asked before, and the answer has expired.
    AfterTtl,
}

/// The contents of a message's COOKIE option (RFC 7873 section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CookieState {
    /// The message has no COOKIE option.
    None,
    /// The option has a client cookie only.
    ClientOnly,
    /// The option has a client cookie and a server cookie.
    Server,
}

/// The rule for sending a query again without a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RetryPolicy {
    /// The rule of the C library's resolver: 5 s a try, two tries (resolv.conf(5)).
    System,
    /// Waits of a few round trip times, doubling.
    Modern,
    /// A single try, until the deadline.
    None,
    /// A timeout and a number of tries given by the user.
    Custom,
}

/// The end of a connection kept for further queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConnectionEnd {
    /// The resolver closed the connection.
    PeerClosed,
    /// We closed the connection: no query had used the connection for the idle timeout.
    IdleTimeout,
    /// We closed the connection: a query on the connection had failed.
    AfterFailure,
    /// We closed the connection: the connection had reached its limit of queries.
    QueryLimit,
}

/// The message of a query meant to share messages (`query --questions-per-message`, `stub
/// --gather-ms`). Part of [`QueryRecord`], on the same level as its fields. All fields are `null`
/// for other queries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MessageFacts {
    /// Number of the message, the same for all questions of the message. `query_bytes`,
    /// `response_bytes` and `attempt_count` on the record of each question are then the message's.
    /// `null` for a query outside a shared message.
    #[serde(default)]
    pub message_sequence: Option<u64>,
    /// Number of questions in the message (QDCOUNT). The value is 1, without `message_sequence`,
    /// for a query not waiting for others, for example because the resolver is known to refuse
    /// shared messages.
    #[serde(default)]
    pub message_question_count: Option<u16>,
    /// Index of the partial response answering this question, from 0; `null` when no partial
    /// response did.
    #[serde(default)]
    pub partial_response_index: Option<u32>,
    /// True when the question was asked in a separate message. Reasons: the shared message was
    /// refused, cut or passed over, the resolver is known to refuse shared messages, or no other
    /// question came in time.
    #[serde(default)]
    pub asked_alone: Option<bool>,
}

/// The facts about the connection of a query; `null` without a connection. Part of [`QueryRecord`],
/// on the same level as its fields.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ConnectionFacts {
    /// QUIC version negotiated, as a number: 1 is RFC 9000, 0x6b3343cf is RFC 9369; `null` without
    /// QUIC.
    #[serde(default)]
    pub quic_version: Option<u32>,
    /// True when the server validated our address by a Retry packet (RFC 9000 section 8.1.2).
    /// `null` without QUIC, and while a Retry is still possible.
    #[serde(default)]
    pub quic_retry: Option<bool>,
    /// Smoothed round trip time of the connection, in ns, read after the response. The source is
    /// `TCP_INFO` or the QUIC path.
    #[serde(default)]
    pub connection_rtt_ns: Option<u64>,
    /// Smallest round trip time measured by the connection, in ns.
    #[serde(default)]
    pub connection_min_rtt_ns: Option<u64>,
    /// Number of TCP segments retransmitted, or of our QUIC packets declared lost, over the
    /// connection's life.
    #[serde(default)]
    pub retransmitted_count: Option<u32>,
    /// `query_response_time_ns` in units of `connection_min_rtt_ns`. The number is near a whole
    /// number when the path takes much longer than the hosts. `null` when either time is unknown.
    #[serde(default)]
    pub round_trip_count: Option<f64>,
    /// True when the response to accepted early data came with the end of the handshake: less than
    /// half of `connection_min_rtt_ns` later. False means a round trip later: a server may accept
    /// early data, yet hold the query until the end of the handshake. `null` without accepted early
    /// data.
    #[serde(default)]
    pub answered_early: Option<bool>,
    /// True when data in the SYN was acknowledged (TCP Fast Open, RFC 7413); `null` when Fast Open
    /// was not requested.
    #[serde(default)]
    pub tcp_fast_open_accepted: Option<bool>,
    /// Position among the queries of the connection, from 0; `null` without a connection.
    #[serde(default)]
    pub connection_query_index: Option<u32>,
    /// Number of queries without a response on the connection when this query was sent; `null`
    /// without a connection.
    #[serde(default)]
    pub outstanding_count: Option<u32>,
    /// The end of the connection kept for this query, when a new connection had to be opened;
    /// `null` otherwise.
    #[serde(default)]
    pub previous_connection_end: Option<ConnectionEnd>,
    /// Number of connections ended before this query was answered. After each end the query was
    /// repeated on another connection. `null` without any.
    #[serde(default)]
    pub repeat_count: Option<u32>,
}

/// One DNS query, successful or not. Instants are nanoseconds since `time_origin_ns`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct QueryRecord {
    /// DNS transport of the query.
    pub dns_transport: DnsTransport,
    /// The resolver as given, a URL.
    pub resolver: String,
    /// Address and port of the resolver; `null` when a look-up inside the clock had found no
    /// address.
    pub resolver_address: Option<SocketAddr>,
    /// Source of the resolver's address.
    pub bootstrap: Bootstrap,
    /// False when the resolver's certificate was not checked in any way: anybody may have answered.
    /// A pin is a check. `null` without TLS, because there is no certificate (`true` in records
    /// before format 1.11), and in records older than unchecked certificates.
    #[serde(default)]
    pub certificate_checked: Option<bool>,
    /// Queried name with its final dot, in presentation form (RFC 1035 section 5.1): `\DDD` is the
    /// byte of this decimal number. Records before format 1.21 have octal numbers.
    pub qname: String,
    /// Queried type, as text.
    pub qtype: String,
    /// Queried class, as text; `null` means IN.
    #[serde(default)]
    pub qclass: Option<String>,
    /// Purpose of the query.
    pub purpose: QueryPurpose,
    /// Position among the queries of this run with the same resolver, from 0.
    pub sequence: u64,
    /// Start of the query's clock, `CLOCK_MONOTONIC` in ns: the query was wanted, and no socket
    /// existed yet.
    pub time_origin_ns: u64,
    /// State of the connection: cold when the query paid for the set-up; `null` for `doudp`. A
    /// query waiting for a connection being opened by another query is cold too, but without set-up
    /// phases: these phases belong to the other query.
    pub connection: Option<ConnectionState>,
    /// Handshake requested; `null` for transports without a handshake.
    pub requested_handshake_mode: Option<HandshakeMode>,
    /// Actual handshake of the query's connection, also for a warm query. `null` for transports
    /// without a handshake and for failures before its end.
    pub handshake_mode: Option<HandshakeMode>,
    /// True when offered early data was accepted; `null` when the query was not sent as early data.
    pub early_data_accepted: Option<bool>,
    /// Start of the TCP connect, in ns since `time_origin_ns`; `null` when this query opened no TCP
    /// connection. For `doudp`: the response was truncated, or a cookie was refused twice, and the
    /// query was repeated over TCP.
    pub tcp_connect_start_ns: Option<u64>,
    /// End of the TCP connect, in ns since `time_origin_ns`; `null` as the start. With TCP Fast
    /// Open and a cookie: the socket took data for the SYN.
    pub tcp_connect_end_ns: Option<u64>,
    /// Start of the TLS handshake over TCP, in ns since `time_origin_ns`; `null` without a TLS
    /// handshake by this query.
    pub tls_handshake_start_ns: Option<u64>,
    /// End of the TLS handshake over TCP, in ns since `time_origin_ns`; `null` as the start, and
    /// when the handshake did not end.
    pub tls_handshake_end_ns: Option<u64>,
    /// Start of the QUIC handshake, in ns since `time_origin_ns`; `null` without a QUIC handshake
    /// by this query.
    pub quic_handshake_start_ns: Option<u64>,
    /// End of the QUIC handshake, in ns since `time_origin_ns`; `null` as the start, and when the
    /// handshake did not end.
    pub quic_handshake_end_ns: Option<u64>,
    /// Hand-over of the query to the connection, in ns since `time_origin_ns`; `null` when the
    /// query never left.
    pub query_exchange_start_ns: Option<u64>,
    /// Completion of the response, in ns since `time_origin_ns`; `null` without a complete
    /// response.
    pub query_exchange_end_ns: Option<u64>,
    /// Time from wanting the query to the complete response, in ns, with any set-up needed; `null`
    /// on failure.
    pub query_response_time_ns: Option<u64>,
    /// Time limit of our own client's query, in ns, set-up and further tries included. A failed
    /// query would have taken at least this time. `null` for queries of other clients, and before
    /// format 1.21.
    #[serde(default)]
    pub limit_ns: Option<u64>,
    /// Negotiated ALPN, verbatim; `null` when no ALPN was negotiated.
    pub alpn: Option<String>,
    /// TLS version, in the form `TLSv1_3`; `null` without a handshake.
    pub tls_version: Option<String>,
    /// Cipher suite, by its IANA name; `null` without a handshake.
    pub cipher_suite: Option<String>,
    /// Length of the DNS message sent, in bytes, without framing.
    pub query_bytes: u32,
    /// Length of the DNS message received, in bytes, without framing; `null` without a response.
    pub response_bytes: Option<u32>,
    /// Number of times the query was sent.
    pub attempt_count: u32,
    /// Response code as text, e.g. `NOERROR`; `null` without a response.
    pub rcode: Option<String>,
    /// Truncation flag (TC) of the response; `null` without a response.
    pub truncated: Option<bool>,
    /// Number of records in the answer section; `null` without a response.
    pub answer_count: Option<u32>,
    /// Addresses of the queried name, or of the target of its aliases (RFC 1034 section 5.3.3).
    pub addresses: Vec<IpAddr>,
    /// Records of the answer section other than `addresses`, as `TYPE VALUE` in presentation form
    /// (RFC 1035 section 5.1, RFC 3597, RFC 9460). Records of owners other than the name and its
    /// aliases have the form `OWNER TYPE VALUE`. The list has the first 16 records, each of at most
    /// 256 characters; a cut record ends with `…`.
    #[serde(default)]
    pub answers: Vec<String>,
    /// Smallest TTL of the records answering the question, in s; `null` without these records.
    pub ttl_s: Option<u32>,
    /// Lifetime of a response without an answer, in s (RFC 2308 section 5): the lower of the SOA
    /// record's TTL and its MINIMUM field. `null` for responses with answers or without an SOA
    /// record.
    #[serde(default)]
    pub negative_ttl_s: Option<u32>,
    /// State of the resolver's cache before the query, judged by TTL and repetition; `null` when
    /// unknown or not judged.
    #[serde(default)]
    pub cache_state: Option<CacheState>,
    /// Reason for the failure; `null` means success.
    pub failure: Option<Failure>,
    /// The failure in one line for people; `null` on success.
    pub failure_detail: Option<String>,
    /// The stub's side of a forwarded query; `null` for other queries.
    pub forwarded_for: Option<ForwardedFor>,
    /// EDNS(0) UDP payload size announced by the query, in bytes (RFC 6891 section 6.2.3); `null`
    /// when no query was sent.
    #[serde(default)]
    pub edns_udp_payload_bytes: Option<u16>,
    /// Client subnet in the query (RFC 7871), `ADDRESS/LENGTH` without host bits. `0.0.0.0/0` asks
    /// the resolver to send no subnet (section 7.1.2). `null` without the option.
    #[serde(default)]
    pub ecs_sent: Option<String>,
    /// Cookie in the query (RFC 7873); `null` when cookies were not requested.
    #[serde(default)]
    pub cookie_sent: Option<CookieState>,
    /// EDNS(0) UDP payload size announced by the response, in bytes; `null` for a response without
    /// EDNS.
    #[serde(default)]
    pub response_edns_udp_payload_bytes: Option<u16>,
    /// SCOPE PREFIX-LENGTH of the response's client subnet (RFC 7871 section 7.2.1); `null` without
    /// the option.
    #[serde(default)]
    pub ecs_scope_prefix_length: Option<u8>,
    /// Cookie in the response; `null` without a response, or when the query had no cookie. After
    /// rcode `BADCOOKIE` the query is repeated with the server's cookie, at most once (RFC 7873
    /// section 5.3).
    #[serde(default)]
    pub cookie_received: Option<CookieState>,
    /// Rule for sending the query again without a response. `null` except for `doudp`: in other
    /// cases the transport below retransmits.
    #[serde(default)]
    pub retry_policy: Option<RetryPolicy>,
    /// Start of the look-up of the resolver's own name, in ns since `time_origin_ns`; `null` for a
    /// look-up before the clock.
    #[serde(default)]
    pub bootstrap_start_ns: Option<u64>,
    /// End of the look-up of the resolver's own name, in ns since `time_origin_ns`; `null` as the
    /// start.
    #[serde(default)]
    pub bootstrap_end_ns: Option<u64>,
    /// The kernel's hand-over of the query to the device, in ns since `time_origin_ns`; `doudp`
    /// only. On a connection the stamp would wake this process another time for each query. Of
    /// several tries, the stamp is of the last try before the response: the answered try is
    /// unknown. `null` also after a change of the wall clock, the clock of the kernel's stamps.
    #[serde(default)]
    pub kernel_transmit_ns: Option<u64>,
    /// The kernel's receipt of the response, in ns since `time_origin_ns`, before this process was
    /// woken.
    ///
    /// For `doudp`: the response's own datagram, and only for responses by UDP. The time on the
    /// wire is this value minus `kernel_transmit_ns`. For connections: the last TCP segment or QUIC
    /// datagram read before the response was complete. Usually this packet has the response's end.
    /// A later packet read before completion (another response of several outstanding queries, or
    /// an acknowledgement) makes the value later, but never later than completion. `null` without a
    /// response, without a kernel stamp, and after a change of the wall clock.
    #[serde(default)]
    pub kernel_receive_ns: Option<u64>,
    /// True when the query asked for DNSSEC records (RFC 3225).
    #[serde(default)]
    pub dnssec_ok: bool,
    /// AD flag of the response: the resolver claims validation of the answer (RFC 4035 section
    /// 3.2.3); `null` without a response.
    #[serde(default)]
    pub authentic_data: Option<bool>,
    /// Extended DNS Errors of the response (RFC 8914), each as `CODE` or `CODE NAME`. If the
    /// resolver gave a text, `: TEXT` follows, cut after 256 characters.
    #[serde(default)]
    pub extended_dns_errors: Vec<String>,
    /// Identifier of the name server (NSID, RFC 5001): text if all bytes are printable ASCII, else
    /// `0x` and the bytes in hexadecimal. `null` when not requested or not given.
    #[serde(default)]
    pub name_server_identifier: Option<String>,
    /// The facts about the query's connection.
    #[serde(flatten)]
    pub connection_facts: ConnectionFacts,
    /// The hellos of the query's connection.
    #[serde(flatten)]
    pub hello_facts: HelloFacts,
    /// The query's message, for messages with several questions.
    #[serde(flatten)]
    pub message_facts: MessageFacts,
    /// Number of the group of queries asked together, as a browser asks for A, AAAA and HTTPS; the
    /// same for all of them. `null` outside a group.
    #[serde(default)]
    pub group_sequence: Option<u64>,
}

/// The stub is listening on UDP and TCP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StubReadyRecord {
    /// Address and port of the stub's listening sockets.
    pub listen_address: SocketAddr,
    /// Resolver receiving the forwarded queries, a URL.
    pub upstream: String,
}
