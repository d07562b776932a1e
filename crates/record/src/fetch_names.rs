//! The record of a document and the addresses of its names: the announcement of the names, and the
//! wait of the document's reader for their addresses.

use crate::failure::Failure;
use crate::fetch::CoalescingMode;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The source of a document's names for the fetching client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NameAnnouncement {
    /// The document itself has the names.
    Document,
    /// A 103 response before the document (RFC 8297), with `Link: <https://NAME>;
    /// rel=dns-prefetch`.
    EarlyHints,
    /// A private key in the HTTPS record of the document's own name (RFC 9460 section 14.3).
    HttpsRecord,
    /// The names' answers: DoH responses pushed by the document's server (RFC 9113 section 8.4).
    ServerPush,
}

/// One name of a document. Instants are nanoseconds since the fetch's `time_origin_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AnnouncedName {
    /// The host name, found or announced.
    pub name: String,
    /// Arrival of the name in the document, in ns since `time_origin_ns`; `null` for a name not in
    /// the document.
    pub found_ns: Option<u64>,
    /// Announcement of the name before the document, in ns since `time_origin_ns`; `null` for a
    /// name not announced.
    pub announced_ns: Option<u64>,
    /// Hand-over of the name's query to the connection, in ns since `time_origin_ns`; `null` when
    /// no query was needed.
    pub asked_ns: Option<u64>,
    /// Arrival of the name's answer, in ns since `time_origin_ns`; `null` without an answer.
    pub answered_ns: Option<u64>,
    /// True when the answer was pushed.
    pub pushed: bool,
    /// Response code as text; `null` without a response.
    pub rcode: Option<String>,
    /// Reason for the missing answer; `null` for a name with an answer.
    pub failure: Option<Failure>,
}

/// A document and the addresses of its names. Instants are nanoseconds since `time_origin_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FetchNamesRecord {
    /// Requested source of the document's names.
    pub announcement: NameAnnouncement,
    /// Sharing of the resolver's connection with the document.
    pub coalescing_mode: CoalescingMode,
    /// URL of the document.
    pub url: String,
    /// The resolver as given, a URL.
    pub resolver: String,
    /// Position among the fetches of this run, from 0.
    pub sequence: u64,
    /// Start of the fetch, `CLOCK_MONOTONIC` in ns: the document was wanted, with the resolver's
    /// connection open. `null` when the connection never opened.
    pub time_origin_ns: Option<u64>,
    /// Smallest round trip time of the resolver's connection, in ns; `null` without a measurement.
    pub connection_min_rtt_ns: Option<u64>,
    /// Arrival of the address of the document's own name, in ns since `time_origin_ns`; `null`
    /// without an address.
    pub name_complete_ns: Option<u64>,
    /// Hand-over of the document's request to the connection, in ns since `time_origin_ns`; `null`
    /// when not sent.
    pub document_request_ns: Option<u64>,
    /// Arrival of the document's first bytes, in ns since `time_origin_ns`; `null` without a
    /// response.
    pub document_first_byte_ns: Option<u64>,
    /// Arrival of the whole document, in ns since `time_origin_ns`; `null` for an incomplete
    /// document.
    pub document_complete_ns: Option<u64>,
    /// Status of the response; `null` without a response.
    pub status: Option<u16>,
    /// Length of the document, in bytes; `null` without a document.
    pub document_bytes: Option<u64>,
    /// Names in the document and announced names, in the order of their discovery.
    pub names: Vec<AnnouncedName>,
    /// Arrival of the last address of a name in the document, or of the document, the later of
    /// both, in ns since `time_origin_ns`. `null` for an incomplete document, or for a name without
    /// an answer.
    pub names_complete_ns: Option<u64>,
    /// Longest time from a name's arrival in the document to the arrival of its address, in ns;
    /// `null` for a name without an answer.
    pub name_wait_ns: Option<u64>,
    /// Number of names announced or pushed but not in the document.
    pub unneeded_count: u32,
    /// Number of pushed responses refused: no answer to a question about a name, from any server.
    pub refused_push_count: u32,
    /// Reason for the failure; `null` means success.
    pub failure: Option<Failure>,
    /// The failure in one line for people; `null` on success.
    pub failure_detail: Option<String>,
}
