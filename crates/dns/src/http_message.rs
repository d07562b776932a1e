//! DNS messages in HTTP (RFC 8484): what DoH over HTTP/2 and HTTP/3 share.

use crate::client::DohMethod;
use crate::resolver_address::ResolverAddress;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE};
use http::{Request, Response, StatusCode};
use resolab_record::Failure;
use resolab_transport::client::MeasuredFailure;

/// The media type of a DNS message (RFC 8484 section 6).
const DNS_MESSAGE: &str = "application/dns-message";
/// A DNS message is never longer.
pub const BODY_MAX_BYTES: usize = 65_535;

/// What all requests to one resolver share.
#[derive(Debug, Clone)]
pub struct RequestTemplate {
    uri: String,
    method: DohMethod,
}

impl RequestTemplate {
    /// Requests to this resolver.
    pub fn new(resolver: &ResolverAddress, method: DohMethod) -> Self {
        Self {
            uri: format!("https://{}{}", resolver.authority(), resolver.path),
            method,
        }
    }

    /// The request that carries a query.
    pub fn request(&self, query: &[u8]) -> Result<Request<Bytes>, MeasuredFailure> {
        let request = match self.method {
            DohMethod::Post => Request::post(self.uri.as_str())
                .header(ACCEPT, DNS_MESSAGE)
                .header(CONTENT_TYPE, DNS_MESSAGE)
                .header(CONTENT_LENGTH, query.len())
                .body(Bytes::copy_from_slice(query)),
            DohMethod::Get => Request::get(format!(
                "{}?dns={}",
                self.uri,
                URL_SAFE_NO_PAD.encode(query)
            ))
            .header(ACCEPT, DNS_MESSAGE)
            .body(Bytes::new()),
        };
        request.map_err(|error| MeasuredFailure::new(Failure::Other, error))
    }
}

/// The DNS message of a response.
pub fn body_of(response: Response<Bytes>) -> Result<Vec<u8>, MeasuredFailure> {
    let status = response.status();
    if status != StatusCode::OK {
        return Err(MeasuredFailure::new(
            Failure::HttpStatus,
            format_args!("status {status}"),
        ));
    }
    let media_type = response
        .headers()
        .get(CONTENT_TYPE)
        .map_or(&b""[..], |v| v.as_bytes());
    if !is_dns_message(media_type) {
        let media_type = String::from_utf8_lossy(media_type);
        let detail = format!("the response's media type is {media_type:?}");
        return Err(MeasuredFailure::new(Failure::QueryMalformed, detail));
    }
    Ok(response.into_body().into())
}

/// The media type has no parameters; those of others change nothing (RFC 9110 section 8.3.1).
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
    fn only_a_200_with_a_dns_message_is_one() {
        let respond = |status: u16, media_type: &str| {
            let response = Response::builder()
                .status(status)
                .header(CONTENT_TYPE, media_type);
            body_of(response.body(Bytes::from_static(b"m")).unwrap())
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
}
