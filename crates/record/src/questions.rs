//! How a resolver treats a message with no question or several, as `probe-questions` found it. Not
//! for: queries of one question.

use crate::failure::Failure;
use crate::terms::DnsTransport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// What became of a message's questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionsHandling {
    /// No response in time.
    Dropped,
    /// The connection or the message's stream was ended instead of a response.
    Closed,
    /// A response with an error code, which `rcode` names; over HTTP also a status other than 200.
    Error,
    /// A response without an error and without a record for any of them.
    None,
    /// Records for the first one alone.
    First,
    /// Records for some of them.
    Part,
    /// Records for each of them.
    All,
}

/// One message with no question or several, sent on a connection of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionsProbeRecord {
    /// Transport used.
    pub dns_transport: DnsTransport,
    /// The resolver as given, a URL.
    pub resolver: String,
    /// Address and port asked; `null` when its host name has no known address.
    pub resolver_address: Option<SocketAddr>,
    /// `false`: the resolver's certificate was not checked in any way; `null` without TLS.
    pub certificate_checked: Option<bool>,
    /// Questions in the message (QDCOUNT).
    pub question_count: u16,
    /// What became of them; `null` when the message was not sent, or what came was no DNS message and
    /// had no error code either.
    pub handling: Option<QuestionsHandling>,
    /// Questions for which records of the type asked for, or an alias, came; a name without such
    /// records looks like one that was passed over. `null` without a response that can be read.
    pub answered_count: Option<u16>,
    /// Questions in the response.
    pub response_question_count: Option<u16>,
    /// Response code as text.
    pub rcode: Option<String>,
    /// Whether the response over UDP was truncated, so that this one came over TCP.
    pub over_tcp: bool,
    /// DNS message sent; 0 when none was.
    pub query_bytes: u32,
    /// DNS message received.
    pub response_bytes: Option<u32>,
    /// From the message handed to the connection to the response complete.
    pub query_exchange_ns: Option<u64>,
    /// Why there is no response, or none that can be read.
    pub failure: Option<Failure>,
    /// One line for people.
    pub failure_detail: Option<String>,
}
