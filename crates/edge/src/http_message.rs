//! An HTTP request and its reply, for every version of HTTP.
//!
//! Not for: the choice of the reply, and not for streams.

use crate::connections::OpenConnection;
use crate::partial::PartialAnswers;
use crate::state::QueryRecordDraft;
use crate::web::{Body, EarlyMessages};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use resolab_record::HttpVersion;
use std::sync::Arc;
use std::time::Duration;

/// A request with its body.
pub struct HttpRequest<'a> {
    /// The method, target and header fields.
    pub head: &'a Request<()>,
    /// The body, or the status of the refusal.
    pub body: Result<Bytes, StatusCode>,
    /// The HTTP version of the request.
    pub version: HttpVersion,
    /// The connection of the request.
    pub connection: &'a Arc<OpenConnection>,
    /// True when the head arrived as early data.
    pub in_early_data: bool,
    /// The arrival time of the head, in ns.
    pub received_ns: u64,
}

/// The reply to a request.
pub struct HttpReply {
    /// The status and header fields.
    pub head: Response<()>,
    /// The body; empty for HEAD.
    pub body: Body,
    /// The interim response and pushes before the reply, if any.
    pub early_messages: Option<Arc<EarlyMessages>>,
    /// The partial responses sent instead of a body, each at its time.
    pub parts: Option<Box<PartialAnswers>>,
    /// The wait before the reply is sent.
    pub wait: Option<Duration>,
    /// The content coding of the body.
    pub content_encoding: Option<&'static str>,
    /// The field `content-range` of a part, or of a refusal.
    pub content_range: Option<String>,
    /// The size of the resource without content coding, in bytes.
    pub resource_bytes: Option<u64>,
    /// The record of a DoH query, written instead of a request record.
    pub query: Option<QueryRecordDraft>,
    /// The fate of the reply.
    pub fate: ReplyFate,
}

/// The fate of a reply: sent, withheld or reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyFate {
    /// The reply is sent.
    Sent,
    /// Nothing is ever sent.
    Withheld,
    /// The stream is reset at the due time of the reply.
    Reset,
}

impl HttpRequest<'_> {
    /// Returns the requested authority: from `:authority`, else `host`.
    pub fn authority(&self) -> &str {
        authority(self.head)
    }

    /// Returns the path and query of the target.
    pub fn target(&self) -> &str {
        self.head
            .uri()
            .path_and_query()
            .map_or("/", http::uri::PathAndQuery::as_str)
    }
}

/// Returns the authority of a request head.
pub fn authority(head: &Request<()>) -> &str {
    let host = head
        .headers()
        .get(http::header::HOST)
        .and_then(|host| host.to_str().ok());
    head.uri()
        .authority()
        .map(http::uri::Authority::as_str)
        .or(host)
        .unwrap_or("")
}

/// Returns a reply with only a status.
pub fn plain(status: StatusCode) -> HttpReply {
    let mut head = Response::new(());
    *head.status_mut() = status;
    HttpReply {
        head,
        body: Body::empty(),
        early_messages: None,
        parts: None,
        wait: None,
        content_encoding: None,
        content_range: None,
        resource_bytes: None,
        query: None,
        fate: ReplyFate::Sent,
    }
}

/// Sets a header field of a reply.
pub fn set(reply: &mut HttpReply, name: HeaderName, value: HeaderValue) {
    reply.head.headers_mut().insert(name, value);
}
