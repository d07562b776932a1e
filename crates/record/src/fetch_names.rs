//! The record of a document and the addresses of the names it needs: how these names became known, and
//! how long they kept the document's reader waiting.

use crate::failure::Failure;
use crate::fetch::CoalescingMode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the names a document needs become known to who fetches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NameAnnouncement {
    /// By the document itself.
    Document,
    /// By a 103 before the document (RFC 8297), with `Link: <https://NAME>; rel=dns-prefetch`.
    EarlyHints,
    /// By a private key of the HTTPS record of the document's own name (RFC 9460 section 14.3).
    HttpsRecord,
    /// By their answers: DoH responses that the document's server pushes (RFC 9113 section 8.4).
    ServerPush,
}

/// One name of a document. Instants are nanoseconds since the fetch's `time_origin_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnnouncedName {
    /// The name.
    pub name: String,
    /// It stood in what had come of the document; `null` when the document does not have it.
    pub found_ns: Option<u64>,
    /// It was announced before the document; `null` when it was not.
    pub announced_ns: Option<u64>,
    /// Its query was handed to the connection; `null` when it never had to be asked.
    pub asked_ns: Option<u64>,
    /// Its answer was there.
    pub answered_ns: Option<u64>,
    /// Whether the answer was pushed.
    pub pushed: bool,
    /// Response code as text.
    pub rcode: Option<String>,
    /// Why it has no answer; `null` when it has one.
    pub failure: Option<Failure>,
}

/// A document and the addresses of the names in it. Instants are nanoseconds since `time_origin_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FetchNamesRecord {
    /// How names were to become known before the document says them.
    pub announcement: NameAnnouncement,
    /// Whether the document came over the resolver's connection.
    pub coalescing_mode: CoalescingMode,
    /// URL of the document.
    pub url: String,
    /// The resolver as given, a URL.
    pub resolver: String,
    /// Position among the fetches of this run, from 0.
    pub sequence: u64,
    /// `CLOCK_MONOTONIC` when the document was wanted: the resolver's connection was open by then;
    /// `null` when it never was.
    pub time_origin_ns: Option<u64>,
    /// Smallest round trip the resolver's connection saw.
    pub connection_min_rtt_ns: Option<u64>,
    /// The address of the document's own name was there.
    pub name_complete_ns: Option<u64>,
    /// The request for the document was handed to the connection.
    pub document_request_ns: Option<u64>,
    /// The first bytes of the document were there.
    pub document_first_byte_ns: Option<u64>,
    /// The whole document was there.
    pub document_complete_ns: Option<u64>,
    /// Status of the response.
    pub status: Option<u16>,
    /// Bytes of the document.
    pub document_bytes: Option<u64>,
    /// The names of the document and those announced, in the order they became known.
    pub names: Vec<AnnouncedName>,
    /// The last address of a name in the document was there, or the document was, whichever was later.
    pub names_complete_ns: Option<u64>,
    /// Longest time from a name standing in the document to its address being there.
    pub name_wait_ns: Option<u64>,
    /// Names announced or pushed that the document does not have.
    pub unneeded_count: u32,
    /// Pushed responses that were no answer to a question about a name, for whoever pushes them.
    pub refused_push_count: u32,
    /// `null` means success.
    pub failure: Option<Failure>,
    /// One line for people.
    pub failure_detail: Option<String>,
}
