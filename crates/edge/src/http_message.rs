//! A request and its reply, whatever the version of HTTP.
//!
//! Not for: what the reply is, and not for streams.

use crate::connections::OpenConnection;
use crate::partial::PartialAnswers;
use crate::web::{Ahead, Body};
use crate::world::QueryNote;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use resolab_record::HttpVersion;
use std::sync::Arc;
use std::time::Duration;

/// One request, body read.
pub struct HttpRequest<'a> {
    /// Method, target and header fields.
    pub head: &'a Request<()>,
    /// Body, or the status to refuse it with.
    pub body: Result<Bytes, StatusCode>,
    /// Version spoken.
    pub version: HttpVersion,
    /// Connection it came on.
    pub connection: &'a Arc<OpenConnection>,
    /// Whether its head arrived as early data.
    pub in_early_data: bool,
    /// When its head was here.
    pub received_ns: u64,
}

/// The reply to it.
pub struct HttpReply {
    /// Status and header fields.
    pub head: Response<()>,
    /// Body; empty for HEAD.
    pub body: Body,
    /// What goes before it.
    pub ahead: Option<Arc<Ahead>>,
    /// What comes instead of a body, as it is known.
    pub parts: Option<Box<PartialAnswers>>,
    /// How long to wait before it is sent.
    pub wait: Option<Duration>,
    /// Content coding of the body.
    pub content_encoding: Option<&'static str>,
    /// `content-range` of a part, or of a refusal.
    pub content_range: Option<String>,
    /// Size of the resource without content coding.
    pub resource_bytes: Option<u64>,
    /// For DoH, the record of the query, to be written instead of one of the request.
    pub query: Option<QueryNote>,
    /// Whether it is sent.
    pub fate: Fate,
}

/// What becomes of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is sent.
    Sent,
    /// Nothing is sent, ever.
    Withheld,
    /// When it is due, its stream is reset instead.
    Reset,
}

impl HttpRequest<'_> {
    /// Authority asked: from `:authority`, else `host`.
    pub fn authority(&self) -> &str {
        authority(self.head)
    }

    /// Path and query.
    pub fn target(&self) -> &str {
        self.head
            .uri()
            .path_and_query()
            .map_or("/", http::uri::PathAndQuery::as_str)
    }
}

/// Authority of a request head.
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

/// A reply that is its status alone.
pub fn plain(status: StatusCode) -> HttpReply {
    let mut head = Response::new(());
    *head.status_mut() = status;
    HttpReply {
        head,
        body: Body::empty(),
        ahead: None,
        parts: None,
        wait: None,
        content_encoding: None,
        content_range: None,
        resource_bytes: None,
        query: None,
        fate: Fate::Sent,
    }
}

/// Set a header field.
pub fn set(reply: &mut HttpReply, name: HeaderName, value: HeaderValue) {
    reply.head.headers_mut().insert(name, value);
}
