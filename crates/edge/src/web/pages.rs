//! Answers requests for a site's resources: encoding, conditions, ranges.
//!
//! For: every HTTP version alike. Not for: streams, or DoH.

use super::conditions::{ConditionResult, Validators, judge};
use super::cors;
use super::encoding::{self, Encoding};
use super::resource::{Representation, Resource};
use super::response::ConfiguredResponse;
use super::site::Site;
use crate::http_message::{HttpReply, HttpRequest, plain, set};
use http::header::{
    ACCEPT_RANGES, ALLOW, ALT_SVC, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_TYPE, ETAG, LAST_MODIFIED, VARY,
};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use resolab_record::HttpVersion;
use std::ops::Range;

/// The field `timing-allow-origin` (W3C Resource Timing, section 4.5.1).
const TIMING_ALLOW_ORIGIN: HeaderName = HeaderName::from_static("timing-allow-origin");

/// Answers a request from a site.
pub fn reply_page(site: &Site, request: &HttpRequest<'_>) -> HttpReply {
    if !site.cors {
        return answer(site, request);
    }
    let mut reply = match cors::preflight(request.head) {
        Some(mut preflight) => {
            // What is said of the response is said of the request that may follow.
            preflight.wait = site.wait(request.target(), None, None);
            preflight
        }
        None => answer(site, request),
    };
    cors::admit(&mut reply, request.head);
    reply
}

fn answer(site: &Site, request: &HttpRequest<'_>) -> HttpReply {
    let method = request.head.method().as_str();
    if !site.methods.iter().any(|answered| answered == method) {
        let mut reply = plain(StatusCode::METHOD_NOT_ALLOWED);
        set_text(&mut reply, ALLOW, &site.methods.join(", "));
        return reply;
    }
    let resource = site.find(request.target());
    let response = site.response(request.target());
    let status = response.map_or(StatusCode::OK, |response| response.status);
    let body = resource.as_deref();
    let body = body.filter(|_| response.is_none_or(ConfiguredResponse::has_body));
    let mut reply = match (body, response) {
        (Some(body), _) => reply_resource(site, request, body, status),
        (None, Some(_)) => empty_reply(site, request, status),
        (None, None) => plain(StatusCode::NOT_FOUND),
    };
    if let Some(response) = response {
        response.complete(&mut reply);
    }
    reply.wait = site.wait(request.target(), response, resource.as_deref());
    reply
}

/// Returns a status with a site's fields and no body.
fn empty_reply(site: &Site, request: &HttpRequest<'_>, status: StatusCode) -> HttpReply {
    let mut reply = plain(status);
    describe_site(&mut reply, site, request.version);
    reply
}

/// Replies with a resource. Conditions and ranges count only for GET and HEAD, and when no other
/// status is set already (RFC 9110 section 13.2.1).
fn reply_resource(
    site: &Site,
    request: &HttpRequest<'_>,
    resource: &Resource,
    status: StatusCode,
) -> HttpReply {
    let headers = request.head.headers();
    let offered = resource.encoded.iter().map(|(encoding, _)| *encoding);
    let encoding = encoding::choose(headers, offered);
    let chosen = representation(resource, encoding);
    let method = request.head.method();
    let is_judged = status == StatusCode::OK && [Method::GET, Method::HEAD].contains(method);
    let condition = is_judged.then(|| {
        judge(
            method,
            headers,
            validators(resource, chosen),
            chosen.body.len(),
        )
    });
    let mut reply = match condition.unwrap_or(ConditionResult::Whole) {
        ConditionResult::Failed => return plain(StatusCode::PRECONDITION_FAILED),
        ConditionResult::Unsatisfiable => return unsatisfiable(chosen.body.len()),
        ConditionResult::NotModified => plain(StatusCode::NOT_MODIFIED),
        ConditionResult::Whole => with_body(request, resource, chosen, status),
        ConditionResult::Part(range) => with_part(request, resource, chosen, range),
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
    describe_site(&mut reply, site, request.version);
    if !resource.encoded.is_empty() {
        set(
            &mut reply,
            VARY,
            HeaderValue::from_static("accept-encoding"),
        );
    }
    if status == StatusCode::OK {
        describe_version(&mut reply, resource, chosen);
    }
    reply
}

fn representation(resource: &Resource, encoding: Option<Encoding>) -> &Representation {
    let mut encoded = resource.encoded.iter();
    let found = encoded.find(|(candidate, _)| Some(*candidate) == encoding);
    found.map_or(&resource.identity, |(_, representation)| representation)
}

fn validators<'a>(resource: &Resource, chosen: &'a Representation) -> Validators<'a> {
    Validators {
        etag: &chosen.etag,
        last_modified: resource.last_modified.as_ref().map(|(at, _)| *at),
    }
}

/// Sets the fields of every answer of a site, also of a 304 (RFC 9110 section 15.4.5).
fn describe_site(reply: &mut HttpReply, site: &Site, version: HttpVersion) {
    set(reply, CACHE_CONTROL, site.cache_control.clone());
    // Pages of other origins are ours, too: their scripts may read the phases of this request.
    set(reply, TIMING_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    let alt_svc = site.alt_svc.as_ref();
    if let Some(alt_svc) = alt_svc.filter(|_| version != HttpVersion::H3) {
        set(reply, ALT_SVC, alt_svc.clone());
    }
}

/// Sets the validators of the bytes.
fn describe_version(reply: &mut HttpReply, resource: &Resource, chosen: &Representation) {
    set(reply, ETAG, chosen.etag.clone());
    if let Some((_, text)) = &resource.last_modified {
        set(reply, LAST_MODIFIED, text.clone());
    }
}

fn with_body(
    request: &HttpRequest<'_>,
    resource: &Resource,
    chosen: &Representation,
    status: StatusCode,
) -> HttpReply {
    let mut reply = plain(status);
    if status == StatusCode::OK {
        set(&mut reply, ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    }
    fill(&mut reply, request, resource, chosen, 0..chosen.body.len());
    reply
}

fn with_part(
    request: &HttpRequest<'_>,
    resource: &Resource,
    chosen: &Representation,
    range: Range<u64>,
) -> HttpReply {
    let mut reply = plain(StatusCode::PARTIAL_CONTENT);
    set(&mut reply, ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let (last, whole) = (range.end - 1, chosen.body.len());
    let text = format!("bytes {}-{last}/{whole}", range.start);
    set_text(&mut reply, CONTENT_RANGE, &text);
    reply.content_range = Some(text);
    fill(&mut reply, request, resource, chosen, range);
    reply
}

fn fill(
    reply: &mut HttpReply,
    request: &HttpRequest<'_>,
    resource: &Resource,
    chosen: &Representation,
    range: Range<u64>,
) {
    set(reply, CONTENT_TYPE, resource.content_type.clone());
    let len = HeaderValue::from(range.end - range.start);
    set(reply, CONTENT_LENGTH, len);
    if request.head.method() != Method::HEAD {
        reply.body = chosen.body.part(range);
    }
}

fn unsatisfiable(len_bytes: u64) -> HttpReply {
    let mut reply = plain(StatusCode::RANGE_NOT_SATISFIABLE);
    let text = format!("bytes */{len_bytes}");
    set_text(&mut reply, CONTENT_RANGE, &text);
    reply.content_range = Some(text);
    reply
}

fn set_text(reply: &mut HttpReply, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        set(reply, name, value);
    }
}
