//! Answers HTTP requests of every version: DoH on the resolver's name, pages on the sites' names.
//!
//! For: the same behaviour over HTTP/1.1, HTTP/2 and HTTP/3. Not for: reading or writing streams.

use crate::doh::reply_dns;
use crate::http_message::{HttpReply, HttpRequest, authority, plain};
use crate::state::{DohLocation, EdgeState};
use crate::web::reply_page;
use http::{Request, StatusCode};
use std::sync::Arc;

/// Replies to an HTTP request.
pub async fn reply(state: &Arc<EdgeState>, request: &HttpRequest<'_>) -> HttpReply {
    if let Err(status) = request.body {
        return plain(status);
    }
    if reads_body(state, request.head) {
        return reply_dns(state, request).await;
    }
    let host = host_of(request.authority());
    if request.in_early_data && !request.head.method().is_safe() {
        // RFC 8470 section 5.2: the client sends it again once the handshake is complete.
        return plain(StatusCode::TOO_EARLY);
    }
    let site = state.site(host);
    let is_known = site.is_some();
    match site.filter(|_| state.coalescing.admits(request.connection, host)) {
        Some(site) => reply_page(&site, request),
        // The resolver has nothing at this path; another connection would have no more.
        None if !is_known && is_resolver(state, host) => plain(StatusCode::NOT_FOUND),
        None => plain(StatusCode::MISDIRECTED_REQUEST),
    }
}

/// Returns true when a request's body is relevant: only for DNS queries.
pub fn reads_body(state: &EdgeState, head: &Request<()>) -> bool {
    let is_path = |doh: &DohLocation| is_same_path(&doh.path, head.uri().path());
    state.doh.as_ref().is_some_and(is_path) && is_resolver(state, host_of(authority(head)))
}

/// Returns true when two paths are the same apart from percent-encodings of unreserved characters
/// and the case of their digits (RFC 3986 section 6.2.2).
fn is_same_path(first: &str, second: &str) -> bool {
    first == second
        || (first.contains('%') || second.contains('%')) && normalize(first) == normalize(second)
}

fn normalize(path: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        let encoded = tail.first_chunk().filter(|_| byte == b'%');
        match encoded.and_then(|digits| decode_byte(*digits)) {
            Some(value) if is_unreserved(value) => bytes.push(value),
            Some(_) => {
                bytes.push(b'%');
                bytes.extend(tail[..2].to_ascii_uppercase());
            }
            None => {
                bytes.push(byte);
                continue;
            }
        }
        rest = &tail[2..];
    }
    bytes
}

/// Returns the byte of two hexadecimal digits.
fn decode_byte(digits: [u8; 2]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let [high, low] = digits.map(digit);
    Some((high? << 4 | low?) as u8)
}

/// RFC 3986 section 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn is_resolver(state: &EdgeState, host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse().ok();
    state.doh.as_ref().is_some_and(|doh| {
        host.eq_ignore_ascii_case(&doh.name)
            || address.is_some_and(|address| doh.addresses.contains(&address))
    })
}

fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_of_unreserved_characters_makes_no_other_path() {
        for (first, second, is_same) in [
            ("/dns-query", "/dns-query", true),
            ("/dns-query", "/dns%2Dquery", true),
            ("/dns-query", "/%64ns%2dquery", true),
            ("/dns%2Dquery", "/dns-query", true),
            ("/a%2Fb", "/a%2fb", true),
            ("/a%2Fb", "/a/b", false),
            ("/dns-query", "/dns%2", false),
            ("/dns-query", "/dns%", false),
            ("/dns-query", "/dns%zzquery", false),
            ("/dns-query", "/dns%252Dquery", false),
            ("/dns-query", "/DNS-query", false),
        ] {
            assert_eq!(is_same_path(first, second), is_same, "{first} {second}");
        }
    }
}
