//! From an HTTP request to a reply, whatever the version: DoH (RFC 8484) on the resolver's name,
//! files on the sites' names.
//!
//! For: one behaviour over h2 and h3. Not for: reading or writing streams.

use crate::connections::OpenConnection;
use crate::site::Resource;
use crate::world::{Arrival, DohPlace, QueryNote, Reply, World};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::header::{ALLOW, ALT_SVC, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use resolab_record::{DnsTransport, HttpVersion};

const DNS_MESSAGE: &str = "application/dns-message";

/// One request, body read.
pub struct HttpRequest<'a> {
    /// Head.
    pub head: &'a Request<()>,
    /// Body.
    pub body: Bytes,
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
    pub body: Bytes,
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
    let authority = request.authority();
    let host = host_of(authority);
    let doh = world
        .doh
        .as_ref()
        .filter(|doh| is_doh(doh, host, request.head.uri().path()));
    if doh.is_some() {
        return reply_dns(world, request).await;
    }
    let method = request.head.method();
    let safe = method == Method::GET || method == Method::HEAD;
    if request.in_early_data && !safe {
        // RFC 8470 section 5.2: the client sends it again once the handshake is complete.
        return plain(StatusCode::TOO_EARLY);
    }
    let Some(site) = world.site(host) else {
        return plain(StatusCode::MISDIRECTED_REQUEST);
    };
    if !safe {
        let mut reply = plain(StatusCode::METHOD_NOT_ALLOWED);
        set(&mut reply, ALLOW, "GET, HEAD");
        return reply;
    }
    match site.find(request.target()) {
        Some(resource) => reply_file(world, request, resource),
        None => plain(StatusCode::NOT_FOUND),
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

fn reply_file(world: &World, request: &HttpRequest<'_>, resource: &Resource) -> HttpReply {
    let mut reply = plain(StatusCode::OK);
    set(&mut reply, CONTENT_TYPE, resource.content_type);
    set(&mut reply, CONTENT_LENGTH, &resource.body.len().to_string());
    set(&mut reply, CACHE_CONTROL, &world.web.cache_control);
    if world.web.alt_svc && request.version == HttpVersion::H2 {
        set(
            &mut reply,
            ALT_SVC,
            &format!("h3=\":{}\"; ma=86400", world.web.h3_port),
        );
    }
    if request.head.method() == Method::GET {
        reply.body = resource.body.clone();
    }
    reply
}

/// DoH. A POST is answered in early data too: a DNS query is safe to repeat whatever the method
/// that carries it (RFC 9250 section 4.5 says so of its opcode), and browsers send it that way.
async fn reply_dns(world: &World, request: &HttpRequest<'_>) -> HttpReply {
    let message = match dns_message(request) {
        Ok(message) => message,
        Err(status) => return plain(status),
    };
    let arrival = Arrival {
        message: &message,
        transport: match request.version {
            HttpVersion::H3 => DnsTransport::Doh3,
            HttpVersion::H1 | HttpVersion::H2 => DnsTransport::Doh,
        },
        peer: request.connection.peer,
        connection: Some(request.connection),
        in_early_data: Some(request.in_early_data),
        received_ns: request.received_ns,
    };
    let Reply {
        answer,
        is_withheld,
        note,
        ..
    } = world.answer(&arrival).await;
    let Some(answer) = answer else {
        let mut reply = plain(StatusCode::BAD_REQUEST);
        reply.is_withheld = is_withheld;
        reply.query = is_withheld.then_some(note);
        return reply;
    };
    let mut reply = plain(StatusCode::OK);
    set(&mut reply, CONTENT_TYPE, DNS_MESSAGE);
    set(
        &mut reply,
        CONTENT_LENGTH,
        &answer.message.len().to_string(),
    );
    if let Some(ttl_s) = answer.ttl_s {
        // RFC 8484 section 5.1: no fresher than the smallest TTL.
        set(&mut reply, CACHE_CONTROL, &format!("max-age={ttl_s}"));
    }
    reply.body = Bytes::from(answer.message);
    reply.query = Some(note);
    reply
}

/// The DNS message of a DoH request (RFC 8484 section 4.1).
fn dns_message(request: &HttpRequest<'_>) -> Result<Bytes, StatusCode> {
    let method = request.head.method();
    if method == Method::POST {
        let content_type = request.head.headers().get(CONTENT_TYPE);
        let right = content_type.is_some_and(|value| value.as_bytes() == DNS_MESSAGE.as_bytes());
        return if right {
            Ok(request.body.clone())
        } else {
            Err(StatusCode::UNSUPPORTED_MEDIA_TYPE)
        };
    }
    if method != Method::GET {
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    let query = request.head.uri().query().unwrap_or("");
    let encoded = query.split('&').find_map(|pair| pair.strip_prefix("dns="));
    let decoded = encoded.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    decoded.map(Bytes::from).ok_or(StatusCode::BAD_REQUEST)
}

fn plain(status: StatusCode) -> HttpReply {
    let mut head = Response::new(());
    *head.status_mut() = status;
    HttpReply {
        head,
        body: Bytes::new(),
        query: None,
        is_withheld: false,
    }
}

fn set(reply: &mut HttpReply, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        reply.head.headers_mut().insert(name, value);
    }
}
