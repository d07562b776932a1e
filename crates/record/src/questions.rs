//! A resolver's handling of a message with no question or several, as found by `probe-questions`.
//! Not for: queries of one question.

use crate::failure::Failure;
use crate::terms::DnsTransport;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// The handling of a message's questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QuestionsHandling {
    /// No response came in time.
    Dropped,
    /// The connection or the message's stream ended without a response.
    Closed,
    /// A response with an error code, named by `rcode`; over HTTP also a status other than 200.
    Error,
    /// A response without an error and without a record for any question.
    None,
    /// Records for the first question alone.
    First,
    /// Records for some of the questions.
    Part,
    /// Records for each of the questions.
    All,
}

/// One message with no question or several, sent on a separate connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct QuestionsProbeRecord {
    /// DNS transport of the message.
    pub dns_transport: DnsTransport,
    /// The resolver as given, a URL.
    pub resolver: String,
    /// Address and port of the resolver; `null` when its host name has no known address.
    pub resolver_address: Option<SocketAddr>,
    /// False when the resolver's certificate was not checked in any way; `null` without TLS.
    pub certificate_checked: Option<bool>,
    /// Number of questions in the message (QDCOUNT).
    pub question_count: u16,
    /// Handling of the questions. `null` when the message was not sent, or when the received data
    /// was no DNS message and had no error code.
    pub handling: Option<QuestionsHandling>,
    /// Number of questions answered by records of the queried type or an alias. A name without
    /// these records looks like a name passed over. `null` without a readable response.
    pub answered_count: Option<u16>,
    /// Number of questions in the response; `null` without a response.
    pub response_question_count: Option<u16>,
    /// Response code as text; `null` without a response.
    pub rcode: Option<String>,
    /// True when the response over UDP was truncated and the message was repeated over TCP.
    pub over_tcp: bool,
    /// Length of the DNS message sent, in bytes; 0 when no message was sent.
    pub query_bytes: u32,
    /// Length of the DNS message received, in bytes; `null` without a response.
    pub response_bytes: Option<u32>,
    /// Time from the hand-over of the message to the complete response, in ns; `null` without a
    /// response.
    pub query_exchange_ns: Option<u64>,
    /// Reason for no response, or for an unreadable response; `null` otherwise.
    pub failure: Option<Failure>,
    /// The failure in one line for people; `null` without a failure.
    pub failure_detail: Option<String>,
}
