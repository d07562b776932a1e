//! From an HTTP request to a reply, whatever the version: DoH on the resolver's name, pages on the
//! sites' names.
//!
//! For: one behaviour over HTTP/1.1, HTTP/2 and HTTP/3. Not for: reading or writing streams.

use crate::connections::OpenConnection;
use crate::doh::reply_dns;
use crate::web::{Body, reply_page};
use crate::world::{DohPlace, QueryNote, World};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use resolab_record::HttpVersion;
use std::time::Duration;

/// One request, body read.
pub struct HttpRequest<'a> {
    /// Head.
    pub head: &'a Request<()>,
    /// Body, or the status to refuse it with.
    pub body: Result<Bytes, StatusCode>,
    /// Version spoken.
    pub version: HttpVersion,
    /// Connection it came on.
    pub connection: &'a OpenConnection,
    /// Whether its head arrived as early data.
    pub in_early_data: bool,
    /// When its head was here.
    pub received_ns: u64,
}

/// The reply to it.
pub struct HttpReply {
    /// Head.
    pub head: Response<()>,
    /// Body; empty for HEAD.
    pub body: Body,
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
    /// Whether nothing is to be sent, ever.
    pub is_withheld: bool,
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

/// Answer a request.
pub async fn reply(world: &World, request: &HttpRequest<'_>) -> HttpReply {
    if let Err(status) = request.body {
        return plain(status);
    }
    let host = host_of(request.authority());
    let doh = world
        .doh
        .as_ref()
        .filter(|doh| is_doh(doh, host, request.head.uri().path()));
    if doh.is_some() {
        return reply_dns(world, request).await;
    }
    let method = request.head.method();
    if request.in_early_data && method != Method::GET && method != Method::HEAD {
        // RFC 8470 section 5.2: the client sends it again once the handshake is complete.
        return plain(StatusCode::TOO_EARLY);
    }
    let site = world.site(host);
    match site.filter(|_| world.coalescing.admits(request.connection, host)) {
        Some(site) => reply_page(&site, request),
        None => plain(StatusCode::MISDIRECTED_REQUEST),
    }
}

fn is_doh(doh: &DohPlace, host: &str, path: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse().ok();
    let ours = host.eq_ignore_ascii_case(&doh.name)
        || address.is_some_and(|address| doh.addresses.contains(&address));
    ours && path == doh.path
}

fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// A reply that is its status alone.
pub fn plain(status: StatusCode) -> HttpReply {
    let mut head = Response::new(());
    *head.status_mut() = status;
    HttpReply {
        head,
        body: Body::empty(),
        wait: None,
        content_encoding: None,
        content_range: None,
        resource_bytes: None,
        query: None,
        is_withheld: false,
    }
}

/// Set a header field.
pub fn set(reply: &mut HttpReply, name: HeaderName, value: HeaderValue) {
    reply.head.headers_mut().insert(name, value);
}
