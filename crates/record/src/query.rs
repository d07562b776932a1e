//! The record of one DNS query by our client or stub: what was asked, what was negotiated, every
//! phase, what came back.

use crate::failure::Failure;
use crate::hello::HelloFacts;
use crate::terms::{ConnectionState, DnsTransport, HandshakeMode};
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
    /// The stub asked before anybody did, as if the answer had been pushed.
    Pushed,
}

/// How the resolver's host name became an address: before the clock starts, unless
/// `bootstrap_start_ns` says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bootstrap {
    /// The address was given.
    Given,
    /// The system resolver was asked.
    System,
    /// A resolver given for this was asked, over DoUDP.
    Resolver,
}

/// For a forwarded query: the stub's side of it, in nanoseconds since `time_origin_ns`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForwardedFor {
    /// Who asked the stub.
    pub client_address: SocketAddr,
    /// When the response was handed back.
    pub answered_ns: Option<u64>,
}

/// What a resolver was asked before, for the same name and type, over whatever transport, as far as the
/// run's own queries and the answer's TTL tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheState {
    /// Nobody of ours asked it before.
    FirstAsked,
    /// It was asked, by us or by others, and may keep what it answered.
    WithinTtl,
    /// It was asked, and what it answered has expired.
    AfterTtl,
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

/// When a query without a response is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RetryPolicy {
    /// As the C library's resolver does: 5 s a try, two tries (resolv.conf(5)).
    System,
    /// By the round trip time: waits a few of them, doubling.
    Modern,
    /// One try, until the deadline.
    None,
    /// A timeout and a number of tries of the user's own.
    Custom,
}

/// How a connection that was kept for further queries came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionEnd {
    /// The resolver closed it.
    PeerClosed,
    /// We did: nothing had been asked on it for the idle timeout.
    IdleTimeout,
    /// We did: a query on it had failed.
    AfterFailure,
    /// We did: it had had as many queries as it was to have.
    QueryLimit,
}

/// Of queries that were to share messages (`query --questions-per-message`, `stub --gather-ms`); part of
/// [`QueryRecord`], on the same level as its fields. `null` for all others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageFacts {
    /// The same number for the questions of one message. `query_bytes`, `response_bytes` and
    /// `attempt_count` are then the messages', on the record of each question.
    #[serde(default)]
    pub message_sequence: Option<u64>,
    /// Questions of the message (QDCOUNT); 1 as well where it waited for no others, which the resolver is
    /// known to refuse. It then has no `message_sequence`.
    #[serde(default)]
    pub message_question_count: Option<u16>,
    /// Which of the partial responses to the message answered this question, from 0; `null` when none
    /// did.
    #[serde(default)]
    pub partial_response_index: Option<u32>,
    /// True where it was asked in a message of its own: after the one it was to share was refused, cut or
    /// passed over, since the resolver is known to refuse them, or since no other came in time.
    #[serde(default)]
    pub asked_alone: Option<bool>,
}

/// What was true of the connection a query travelled on, as far as it has one; part of
/// [`QueryRecord`], on the same level as its fields.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionFacts {
    /// QUIC version negotiated, as a number; 1 is RFC 9000, 0x6b3343cf RFC 9369.
    #[serde(default)]
    pub quic_version: Option<u32>,
    /// Whether the server validated our address by a Retry packet (RFC 9000 section 8.1.2).
    #[serde(default)]
    pub quic_retry: Option<bool>,
    /// Smoothed round trip time of the connection after the response: `TCP_INFO` or the QUIC path.
    #[serde(default)]
    pub connection_rtt_ns: Option<u64>,
    /// Smallest round trip time the connection measured.
    #[serde(default)]
    pub connection_min_rtt_ns: Option<u64>,
    /// TCP segments retransmitted, or QUIC packets of ours held lost, over the connection's life.
    #[serde(default)]
    pub retransmitted_count: Option<u32>,
    /// `query_response_time_ns` in units of `connection_min_rtt_ns`: near a whole number where the
    /// path takes much longer than the hosts do.
    #[serde(default)]
    pub round_trip_count: Option<f64>,
    /// For early data that was accepted: whether the response came with the handshake's end rather
    /// than a round trip after it (less than half of `connection_min_rtt_ns` later). A server may
    /// accept early data and yet hold the query until the handshake has ended.
    #[serde(default)]
    pub answered_early: Option<bool>,
    /// TCP Fast Open (RFC 7413): whether data in the SYN was acknowledged; `null` when not asked
    /// for.
    #[serde(default)]
    pub tcp_fast_open_accepted: Option<bool>,
    /// Position among the queries of its connection, from 0; `null` without a connection.
    #[serde(default)]
    pub connection_query_index: Option<u32>,
    /// Queries without a response yet on the connection when this one was sent.
    #[serde(default)]
    pub outstanding_count: Option<u32>,
    /// Why the connection kept for this query was gone and a new one was opened.
    #[serde(default)]
    pub previous_connection_end: Option<ConnectionEnd>,
    /// Connections that ended before this query was answered: after each it was asked again on another
    /// one. `null` when there were none.
    #[serde(default)]
    pub repeat_count: Option<u32>,
}

/// One DNS query, whatever became of it. Instants are nanoseconds since `time_origin_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueryRecord {
    /// Transport used.
    pub dns_transport: DnsTransport,
    /// The resolver as given, a URL.
    pub resolver: String,
    /// Address and port asked; `null` when a look-up inside the clock had found none.
    pub resolver_address: Option<SocketAddr>,
    /// How the address was found.
    pub bootstrap: Bootstrap,
    /// `false`: the resolver's certificate was not checked in any way, so that anybody may have
    /// answered. A pin is a check. `null` without TLS: there is nothing to check (`true` in records
    /// from before format 1.11); and in records from before certificates could go unchecked.
    #[serde(default)]
    pub certificate_checked: Option<bool>,
    /// Name asked, with its final dot, in presentation form (RFC 1035 section 5.1): `\DDD` is the byte of
    /// that decimal number. Records from before format 1.21 have octal numbers.
    pub qname: String,
    /// Type asked, as text.
    pub qtype: String,
    /// Class asked, as text; `null`: IN.
    #[serde(default)]
    pub qclass: Option<String>,
    /// What it was asked for.
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
    /// TCP connect started. For `doudp`: the response was truncated, or a cookie was refused twice,
    /// and the query was asked again over TCP.
    pub tcp_connect_start_ns: Option<u64>,
    /// TCP connect ended. With TCP Fast Open and a cookie, when the socket took data for the SYN.
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
    /// Time our own client gave it, set-up and further tries included: what failed would have taken at
    /// least as long. `null` of another's queries, and before format 1.21.
    #[serde(default)]
    pub limit_ns: Option<u64>,
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
    /// Addresses of the name asked for, or of one it is an alias of (RFC 1034 section 5.3.3).
    pub addresses: Vec<IpAddr>,
    /// Records of the answer section that are not among the addresses, as `TYPE VALUE` in presentation form
    /// (RFC 1035 section 5.1, RFC 3597, RFC 9460); those of other owners than the name and its aliases as
    /// `OWNER TYPE VALUE`. The first 16, each of at most 256 characters, the last of which is `…` where it
    /// was cut.
    #[serde(default)]
    pub answers: Vec<String>,
    /// Smallest TTL of the records that answer the question.
    pub ttl_s: Option<u32>,
    /// How long a response without an answer may be kept (RFC 2308 section 5): the lower of the SOA
    /// record's TTL and its MINIMUM field; `null` for responses with answers or without such a record.
    #[serde(default)]
    pub negative_ttl_s: Option<u32>,
    /// What was asked of the resolver's cache before, judged by TTL and repeat; `null` where that is not
    /// known, and wherever nobody judged.
    #[serde(default)]
    pub cache_state: Option<CacheState>,
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
    /// is asked again once with the server's cookie (RFC 7873 section 5.3).
    #[serde(default)]
    pub cookie_received: Option<CookieState>,
    /// When a query without a response is sent again; `null` but for `doudp`: elsewhere the
    /// transport below does that.
    #[serde(default)]
    pub retry_policy: Option<RetryPolicy>,
    /// The look-up of the resolver's own name began; `null` when that was before the clock.
    #[serde(default)]
    pub bootstrap_start_ns: Option<u64>,
    /// The look-up of the resolver's own name ended.
    #[serde(default)]
    pub bootstrap_end_ns: Option<u64>,
    /// The kernel handed the query to the device; `doudp` only: on a connection such a stamp would
    /// wake this process once more for each query. Of several tries, the last before
    /// the response: which one it answers cannot be known. `null` also if the wall clock, which the
    /// kernel stamps with, was set meanwhile.
    #[serde(default)]
    pub kernel_transmit_ns: Option<u64>,
    /// The kernel received the response, before this process was woken for it. `doudp`: its own
    /// datagram, and only of what came by UDP; what the wire took is this minus
    /// `kernel_transmit_ns`. Elsewhere the last TCP segment or QUIC datagram read from the
    /// connection before the response was complete: the one with the response's end, unless what
    /// came next (another response, where several queries are outstanding, or an acknowledgement)
    /// was read before that too; then it is later, but never later than completion. `null` without
    /// a response, where the kernel does not stamp, and if the wall clock was set meanwhile.
    #[serde(default)]
    pub kernel_receive_ns: Option<u64>,
    /// Whether the query asked for DNSSEC records (RFC 3225).
    #[serde(default)]
    pub dnssec_ok: bool,
    /// AD flag of the response: the resolver says that it validated the answer (RFC 4035 section
    /// 3.2.3); `null` without a response.
    #[serde(default)]
    pub authentic_data: Option<bool>,
    /// Extended DNS Errors of the response (RFC 8914), each as `CODE` or `CODE NAME`, then `: TEXT`
    /// if the resolver gave a text, which is cut after 256 characters.
    #[serde(default)]
    pub extended_dns_errors: Vec<String>,
    /// Identifier the name server gave (NSID, RFC 5001): as text if all of it is printable ASCII,
    /// else `0x` and its bytes in hexadecimal; `null` when it was not asked for or not given.
    #[serde(default)]
    pub name_server_identifier: Option<String>,
    /// What was true of the connection.
    #[serde(flatten)]
    pub connection_facts: ConnectionFacts,
    /// The hellos of its connection.
    #[serde(flatten)]
    pub hello_facts: HelloFacts,
    /// The message it was asked in, where that has several questions.
    #[serde(flatten)]
    pub message_facts: MessageFacts,
    /// The same number for queries asked together, as a browser asks for A, AAAA and HTTPS.
    #[serde(default)]
    pub group_sequence: Option<u64>,
}

/// The stub is listening on UDP and TCP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StubReadyRecord {
    /// Where it listens.
    pub listen_address: SocketAddr,
    /// Where it forwards to, a URL.
    pub upstream: String,
}
