//! DNS over HTTPS (RFC 8484): converts a request to its DNS message, and an answer to a reply.
//!
//! For: every HTTP version alike. Not for: streams, or the content of the answer.

use crate::dns::early_data;
use crate::http_message::{HttpReply, HttpRequest, ReplyFate, plain, set};
use crate::partial::PartialAnswers;
use crate::state::{EdgeState, QueryArrival, QueryReply};
use crate::web::Body;
use crate::web::encoding::weight_of;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use percent_encoding::percent_decode_str;
use resolab_dns::iana::DNS_MESSAGE;
use resolab_dns::partial;
use resolab_record::{DnsTransport, HttpVersion};
use std::borrow::Cow;
use std::sync::Arc;

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// The accepted methods: RFC 8484 section 4.1, and HEAD wherever GET is accepted (RFC 9110 section
/// 9.1).
const METHODS: &str = "GET, HEAD, POST";

/// Replies to a DoH request. A POST is answered in early data, too. Browsers send POSTs in early
/// data, and a DNS query is safe to replay for every method. RFC 9250 section 4.5 permits replay
/// for the opcode QUERY.
pub async fn reply_dns(state: &Arc<EdgeState>, request: &HttpRequest<'_>) -> HttpReply {
    let message = match dns_message(request.head, &request.body) {
        Ok(message) => message,
        Err(status) => return refusal(status),
    };
    if request.in_early_data && !early_data::is_repeatable(&message) {
        return plain(StatusCode::TOO_EARLY);
    }
    let arrival = QueryArrival {
        message: &message,
        transport: match request.version {
            HttpVersion::H3 => DnsTransport::Doh3,
            // Nothing is spoken over `Any`.
            HttpVersion::H1 | HttpVersion::H2 | HttpVersion::Any => DnsTransport::Doh,
        },
        peer: request.connection.peer,
        connection: Some(request.connection),
        in_early_data: Some(request.in_early_data),
        received_ns: request.received_ns,
    };
    let is_taken = matches!(request.version, HttpVersion::H2 | HttpVersion::H3)
        && request.head.method() != Method::HEAD
        && takes_parts(request.head.headers());
    if is_taken
        && let Some(answers) = PartialAnswers::begin(state, Some(request.connection), &arrival)
    {
        return reply_in_parts(answers);
    }
    let QueryReply {
        answer,
        is_withheld,
        note,
        ..
    } = state.answer(&arrival).await;
    let Some(answer) = answer else {
        let mut reply = plain(StatusCode::BAD_REQUEST);
        if is_withheld {
            reply.fate = ReplyFate::Withheld;
            reply.query = Some(note);
        }
        return reply;
    };
    let mut reply = plain(StatusCode::OK);
    set(
        &mut reply,
        CONTENT_TYPE,
        HeaderValue::from_static(DNS_MESSAGE),
    );
    set(&mut reply, CONTENT_LENGTH, answer.message.len().into());
    if let Some(ttl_s) = answer.ttl_s {
        // RFC 8484 section 5.1: no fresher than the smallest TTL.
        let max_age = HeaderValue::from_str(&format!("max-age={ttl_s}"));
        set(&mut reply, CACHE_CONTROL, max_age.unwrap_or(NO_STORE));
    }
    if request.head.method() != Method::HEAD {
        reply.body = Body::from(answer.message);
    }
    reply.query = Some(note);
    reply
}

fn refusal(status: StatusCode) -> HttpReply {
    let mut reply = plain(status);
    if status == StatusCode::METHOD_NOT_ALLOWED {
        set(&mut reply, ALLOW, HeaderValue::from_static(METHODS));
    }
    reply
}

/// Replies with several messages, each at its time and behind its length. The reply forbids
/// caching, because the lifetime is unknown before the last message.
fn reply_in_parts(answers: PartialAnswers) -> HttpReply {
    let mut reply = plain(StatusCode::OK);
    let media_type = HeaderValue::from_static(partial::MEDIA_TYPE);
    set(&mut reply, CONTENT_TYPE, media_type);
    set(&mut reply, CACHE_CONTROL, NO_STORE);
    reply.parts = Some(Box::new(answers));
    reply
}

fn takes_parts(fields: &HeaderMap) -> bool {
    let accepted = fields.get_all(ACCEPT).iter();
    accepted
        .filter_map(|field| field.to_str().ok())
        .flat_map(|field| field.split(','))
        .any(|range| {
            let (_, parameters) = range.split_once(';').unwrap_or((range, ""));
            is_media_type(range, partial::MEDIA_TYPE) && weight_of(parameters) > 0
        })
}

/// Returns true when a field names a media type, in any case and with any parameters (RFC 9110
/// section 8.3.1).
fn is_media_type(field: &str, media_type: &str) -> bool {
    let (named, _) = field.split_once(';').unwrap_or((field, ""));
    named.trim().eq_ignore_ascii_case(media_type)
}

/// Returns the DNS message of a DoH request (RFC 8484 section 4.1).
pub fn dns_message(
    head: &Request<()>,
    body: &Result<Bytes, StatusCode>,
) -> Result<Bytes, StatusCode> {
    let method = head.method();
    if method == Method::POST {
        let content_type = head.headers().get(CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        return if content_type.is_some_and(|field| is_media_type(field, DNS_MESSAGE)) {
            body.clone()
        } else {
            Err(StatusCode::UNSUPPORTED_MEDIA_TYPE)
        };
    }
    if ![Method::GET, Method::HEAD].contains(method) {
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    let query = head.uri().query().unwrap_or("");
    // An escaped letter is the same letter (RFC 3986 section 2.3).
    let plain = |text| Cow::from(percent_decode_str(text));
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let encoded = pairs.find(|(key, _)| *plain(key) == *b"dns");
    let decoded = encoded.and_then(|(_, text)| URL_SAFE_NO_PAD.decode(plain(text)).ok());
    decoded.map(Bytes::from).ok_or(StatusCode::BAD_REQUEST)
}
