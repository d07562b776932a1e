//! The answer to a request for a site's resource: encoding, conditions, ranges.
//!
//! For: every HTTP version alike. Not for: streams, or DoH.

use super::conditions::{Validators, Verdict, judge};
use super::encoding;
use super::resource::{Representation, Resource};
use super::site::Site;
use crate::http_message::{HttpReply, HttpRequest, plain, set};
use http::header::{
    ACCEPT_RANGES, ALLOW, ALT_SVC, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_TYPE, ETAG, LAST_MODIFIED, VARY,
};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use resolab_record::HttpVersion;
use std::ops::Range;

/// W3C Resource Timing, section 4.5.1.
const TIMING_ALLOW_ORIGIN: HeaderName = HeaderName::from_static("timing-allow-origin");

/// Answer from a site.
pub fn reply_page(site: &Site, request: &HttpRequest<'_>) -> HttpReply {
    let method = request.head.method();
    if method != Method::GET && method != Method::HEAD {
        let mut reply = plain(StatusCode::METHOD_NOT_ALLOWED);
        set(&mut reply, ALLOW, HeaderValue::from_static("GET, HEAD"));
        return reply;
    }
    let resource = site.find(request.target());
    let mut reply = match &resource {
        Some(resource) => reply_resource(site, request, resource),
        None => plain(StatusCode::NOT_FOUND),
    };
    reply.wait = site.wait(resource.as_deref(), request.target());
    reply
}

fn reply_resource(site: &Site, request: &HttpRequest<'_>, resource: &Resource) -> HttpReply {
    let headers = request.head.headers();
    let offered = resource.encoded.iter().map(|(encoding, _)| *encoding);
    let encoding = encoding::choose(headers, offered);
    let encoded = resource.encoded.iter();
    let chosen = encoded
        .filter(|(candidate, _)| Some(*candidate) == encoding)
        .map(|(_, representation)| representation)
        .next()
        .unwrap_or(&resource.identity);
    let validators = Validators {
        etag: &chosen.etag,
        last_modified: resource.last_modified.as_ref().map(|(at, _)| *at),
    };
    let len = chosen.body.len();
    let mut reply = match judge(request.head.method(), headers, validators, len) {
        Verdict::Failed => return plain(StatusCode::PRECONDITION_FAILED),
        Verdict::Unsatisfiable => return unsatisfiable(len),
        Verdict::NotModified => plain(StatusCode::NOT_MODIFIED),
        Verdict::Whole => with_body(request, resource, chosen, None),
        Verdict::Part(range) => with_body(request, resource, chosen, Some(range)),
    };
    if let Some(encoding) = encoding.filter(|_| reply.head.status() != StatusCode::NOT_MODIFIED) {
        let token = encoding.token();
        set(
            &mut reply,
            CONTENT_ENCODING,
            HeaderValue::from_static(token),
        );
        reply.content_encoding = Some(token);
    }
    reply.resource_bytes = Some(resource.identity.body.len());
    describe(&mut reply, site, request.version, resource, chosen);
    reply
}

/// What a 304 says as well (RFC 9110 section 15.4.5).
fn describe(
    reply: &mut HttpReply,
    site: &Site,
    version: HttpVersion,
    resource: &Resource,
    chosen: &Representation,
) {
    set(reply, CACHE_CONTROL, site.cache_control.clone());
    set(reply, ETAG, chosen.etag.clone());
    // Pages of other origins are ours, too: their scripts may read the phases of this request.
    set(reply, TIMING_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    if let Some((_, text)) = &resource.last_modified {
        set(reply, LAST_MODIFIED, text.clone());
    }
    if !resource.encoded.is_empty() {
        set(reply, VARY, HeaderValue::from_static("accept-encoding"));
    }
    let alt_svc = site.alt_svc.as_ref();
    if let Some(alt_svc) = alt_svc.filter(|_| version != HttpVersion::H3) {
        set(reply, ALT_SVC, alt_svc.clone());
    }
}

fn with_body(
    request: &HttpRequest<'_>,
    resource: &Resource,
    chosen: &Representation,
    range: Option<Range<u64>>,
) -> HttpReply {
    let whole = chosen.body.len();
    let partial = range.is_some();
    let mut reply = plain(if partial {
        StatusCode::PARTIAL_CONTENT
    } else {
        StatusCode::OK
    });
    let range = range.unwrap_or(0..whole);
    set(&mut reply, CONTENT_TYPE, resource.content_type.clone());
    let len = HeaderValue::from(range.end - range.start);
    set(&mut reply, CONTENT_LENGTH, len);
    set(&mut reply, ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if partial {
        let text = format!("bytes {}-{}/{whole}", range.start, range.end - 1);
        set_text(&mut reply, CONTENT_RANGE, &text);
        reply.content_range = Some(text);
    }
    if request.head.method() == Method::GET {
        reply.body = chosen.body.part(range);
    }
    reply
}

fn unsatisfiable(len_bytes: u64) -> HttpReply {
    let mut reply = plain(StatusCode::RANGE_NOT_SATISFIABLE);
    let text = format!("bytes */{len_bytes}");
    set_text(&mut reply, CONTENT_RANGE, &text);
    reply.content_range = Some(text);
    reply
}

fn set_text(reply: &mut HttpReply, name: http::HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        set(reply, name, value);
    }
}
