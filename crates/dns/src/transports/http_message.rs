//! DNS messages in HTTP (RFC 8484): the parts shared by DoH over HTTP/2 and HTTP/3.

use crate::iana::DNS_MESSAGE;
use crate::partial;
use crate::resolver_address::ResolverAddress;
use crate::transports::batch::{QueryBatch, incomplete_failure};
use crate::transports::framed::take_message;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, AGE, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use resolab_record::{DohMethod, Failure};
use resolab_transport::client::MeasuredFailure;

/// The maximum length of a DNS message, in bytes.
pub const BODY_MAX_BYTES: usize = 65_535;
/// The maximum length of all partial responses to one message: the largest message for each
/// question.
pub const PARTS_MAX_BYTES: usize = partial::QUESTIONS_MAX_COUNT * (2 + BODY_MAX_BYTES);
/// The id of every message (RFC 8484 section 4.1).
const DOH_ID: u16 = 0;
const PARTS: HeaderValue = HeaderValue::from_static(partial::MEDIA_TYPE);

/// The request parts shared by all requests to one resolver.
#[derive(Debug, Clone)]
pub struct RequestTemplate {
    uri: String,
    method: DohMethod,
}

impl RequestTemplate {
    /// Makes the template of requests to this resolver.
    pub fn new(resolver: &ResolverAddress, method: DohMethod) -> Self {
        Self {
            uri: format!("https://{}{}", resolver.authority(), resolver.path),
            method,
        }
    }

    /// Returns the resolver's URL.
    pub fn url(&self) -> &str {
        &self.uri
    }

    /// Returns the request for a query.
    pub fn request(&self, query: &[u8]) -> Result<Request<Bytes>, MeasuredFailure> {
        self.request_for(query, DNS_MESSAGE)
    }

    /// Returns the request for several questions, accepting partial responses.
    pub fn request_for_parts(&self, query: &[u8]) -> Result<Request<Bytes>, MeasuredFailure> {
        self.request_for(query, &format!("{}, {DNS_MESSAGE}", partial::MEDIA_TYPE))
    }

    /// Returns the separator before a further variable (RFC 6570 sections 3.2.8 and 3.2.9).
    fn separator(&self) -> char {
        if self.uri.contains('?') { '&' } else { '?' }
    }

    fn request_for(&self, query: &[u8], accept: &str) -> Result<Request<Bytes>, MeasuredFailure> {
        let request = match self.method {
            DohMethod::Post => Request::post(self.uri.as_str())
                .header(ACCEPT, accept)
                .header(CONTENT_TYPE, DNS_MESSAGE)
                .header(CONTENT_LENGTH, query.len())
                .body(Bytes::copy_from_slice(query)),
            DohMethod::Get => Request::get(format!(
                "{}{}dns={}",
                self.uri,
                self.separator(),
                URL_SAFE_NO_PAD.encode(query)
            ))
            .header(ACCEPT, accept)
            .body(Bytes::new()),
        };
        request.map_err(|error| MeasuredFailure::new(Failure::Other, error))
    }
}

/// The contents of a DoH response.
#[derive(Debug, PartialEq, Eq)]
pub struct DnsBody {
    /// The DNS message as received.
    pub message: Vec<u8>,
    /// The time spent in HTTP caches, in seconds. The message's TTLs do not include this time (RFC
    /// 8484 section 5.1).
    pub age_s: u32,
}

impl DnsBody {
    /// Reads a response. Errors on another status, content encoding or media type.
    pub fn from_response(response: Response<Bytes>) -> Result<Self, MeasuredFailure> {
        let status = response.status();
        if status != StatusCode::OK {
            return Err(MeasuredFailure::new(
                Failure::HttpStatus,
                format_args!("status {status}"),
            ));
        }
        let field = |name| {
            response
                .headers()
                .get(name)
                .map_or(&b""[..], |v| v.as_bytes())
        };
        let (media_type, coding) = (field(CONTENT_TYPE), field(CONTENT_ENCODING));
        if !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity") {
            let coding = String::from_utf8_lossy(coding);
            let detail =
                format!("the response's content-encoding is {coding:?}, which was not asked for");
            return Err(MeasuredFailure::new(Failure::QueryMalformed, detail));
        }
        if !is_dns_message(media_type) {
            let media_type = String::from_utf8_lossy(media_type);
            let detail = format!("the response's media type is {media_type:?}");
            return Err(MeasuredFailure::new(Failure::QueryMalformed, detail));
        }
        Ok(Self {
            age_s: age_of(response.headers()),
            message: response.into_body().into(),
        })
    }

    /// Returns message and age.
    pub fn into_parts(self) -> (Vec<u8>, u32) {
        (self.message, self.age_s)
    }
}

/// The partial responses in an HTTP body, read while the body arrives.
pub struct PartialBody<'a> {
    batch: &'a QueryBatch,
    buffer: BytesMut,
    failure: Option<MeasuredFailure>,
}

impl<'a> PartialBody<'a> {
    /// Begins with an empty body.
    pub fn new(batch: &'a QueryBatch) -> Self {
        Self {
            batch,
            buffer: BytesMut::new(),
            failure: None,
        }
    }

    /// Takes a piece of a response's body. Ignores bodies of other media types.
    pub fn take(&mut self, head: &Response<()>, piece: &[u8]) {
        if self.failure.is_some() || !has_parts(head) {
            return;
        }
        self.buffer.extend_from_slice(piece);
        while let Some(message) = take_message(&mut self.buffer) {
            if let Err(failure) = self.batch.take_expected(DOH_ID, &message) {
                self.failure = Some(failure);
                return;
            }
        }
    }

    /// Ends the body: returns any error found in the whole response.
    pub fn end(self, response: Response<Bytes>) -> Result<(), MeasuredFailure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let (head, body) = response.into_parts();
        let head = Response::from_parts(head, ());
        if has_parts(&head) {
            let is_complete = self.batch.is_complete();
            return is_complete.then_some(()).ok_or_else(incomplete_failure);
        }
        // By somebody who does not know them.
        let body = DnsBody::from_response(head.map(|()| body))?;
        self.batch.take_expected(DOH_ID, &body.message).map(drop)
    }
}

fn has_parts(head: &Response<()>) -> bool {
    head.status() == StatusCode::OK && head.headers().get(CONTENT_TYPE) == Some(&PARTS)
}

/// Returns the Age field in seconds (RFC 9111 section 5.1): the first of several; 0 when absent or
/// not a number. A number too large for `u32` becomes the largest (section 1.2.2).
fn age_of(headers: &HeaderMap) -> u32 {
    let age = headers.get(AGE).and_then(|value| value.to_str().ok());
    let age = age.and_then(|text| text.split(',').next());
    let digits = age.map_or("", str::trim);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    digits.parse().unwrap_or(u32::MAX)
}

/// Returns true for the media type of DNS messages. The media type defines no parameters; unknown
/// parameters change nothing (RFC 9110 section 8.3.1).
fn is_dns_message(media_type: &[u8]) -> bool {
    let essence = media_type.split(|byte| *byte == b';').next();
    essence.is_some_and(|essence| {
        essence
            .trim_ascii()
            .eq_ignore_ascii_case(DNS_MESSAGE.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(method: DohMethod) -> RequestTemplate {
        RequestTemplate::new(&"https://dns.example:8443/q".parse().unwrap(), method)
    }

    #[test]
    fn post_carries_the_message_itself() {
        let request = template(DohMethod::Post).request(b"\x00\x01\xff").unwrap();
        assert_eq!(request.uri(), "https://dns.example:8443/q");
        assert_eq!(request.headers()[CONTENT_LENGTH], "3");
        assert_eq!(request.headers()[CONTENT_TYPE], DNS_MESSAGE);
        assert_eq!(&request.body()[..], b"\x00\x01\xff");
    }

    #[test]
    fn get_carries_it_in_the_query_without_padding() {
        let request = template(DohMethod::Get)
            .request(b"\x00\x01\xfb\xff")
            .unwrap();
        assert_eq!(request.uri().query(), Some("dns=AAH7_w"));
        assert!(request.body().is_empty());
    }

    #[test]
    fn a_query_of_the_url_stays_where_it_is() {
        let template = |url: &str, method| RequestTemplate::new(&url.parse().unwrap(), method);
        let uri = |url: &str, method| {
            let request = template(url, method).request(b"\x00\x01").unwrap();
            request.uri().to_string()
        };
        let (get, post) = (DohMethod::Get, DohMethod::Post);
        for (url, with_get, with_post) in [
            (
                "https://d.test/q{?dns}",
                "https://d.test/q?dns=AAE",
                "https://d.test/q",
            ),
            (
                "https://d.test/q?t=1",
                "https://d.test/q?t=1&dns=AAE",
                "https://d.test/q?t=1",
            ),
            (
                "https://d.test/q?t=1{&dns}",
                "https://d.test/q?t=1&dns=AAE",
                "https://d.test/q?t=1",
            ),
            (
                "https://d.test?t=1",
                "https://d.test/dns-query?t=1&dns=AAE",
                "https://d.test/dns-query?t=1",
            ),
        ] {
            assert_eq!(
                (uri(url, get), uri(url, post)),
                (with_get.into(), with_post.into())
            );
        }
    }

    #[test]
    fn a_coding_nobody_asked_for_is_said_to_be_one() {
        let respond = |coding: &str| {
            let response = Response::builder()
                .header(CONTENT_TYPE, DNS_MESSAGE)
                .header(CONTENT_ENCODING, coding);
            DnsBody::from_response(response.body(Bytes::from_static(b"m")).unwrap())
        };
        let failure = respond("gzip").unwrap_err();
        assert_eq!(failure.failure, Failure::QueryMalformed);
        assert!(
            failure.detail.contains("content-encoding is \"gzip\""),
            "{failure}"
        );
        assert_eq!(respond("Identity").unwrap().message, b"m");
    }

    #[test]
    fn only_a_200_with_a_dns_message_is_one() {
        let respond = |status: u16, media_type: &str| {
            let response = Response::builder()
                .status(status)
                .header(CONTENT_TYPE, media_type);
            DnsBody::from_response(response.body(Bytes::from_static(b"m")).unwrap())
                .map(|body| body.message)
        };
        assert_eq!(respond(200, DNS_MESSAGE).unwrap(), b"m");
        assert_eq!(respond(200, "Application/DNS-Message; x=y").unwrap(), b"m");
        assert_eq!(
            respond(503, DNS_MESSAGE).unwrap_err().failure,
            Failure::HttpStatus
        );
        assert_eq!(
            respond(200, "text/html").unwrap_err().failure,
            Failure::QueryMalformed
        );
    }

    #[test]
    fn the_age_of_a_response_is_its_first_age_field() {
        for (fields, expected) in [
            (&[][..], 0),
            (&["0"], 0),
            (&["61"], 61),
            (&[" 61 ", "5"], 61),
            (&["61, 5"], 61),
            (&["99999999999"], u32::MAX),
            (&["-1"], 0),
            (&["+1"], 0),
            (&["1.5"], 0),
            (&["soon"], 0),
            (&[""], 0),
        ] {
            let mut headers = HeaderMap::new();
            for field in fields {
                headers.append(AGE, field.parse().unwrap());
            }
            assert_eq!(age_of(&headers), expected, "{fields:?}");
        }
    }
}
