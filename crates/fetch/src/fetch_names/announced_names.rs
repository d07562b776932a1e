//! Reads the names in a document, a `link` field, an HTTPS record or a pushed request.
//!
//! Without I/O. Not for: asking for the names.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hickory_proto::op::Message;
use hickory_proto::rr::RData;
use hickory_proto::rr::rdata::svcb::{SvcParamKey, SvcParamValue};
use http::header::ACCEPT;
use http::{Method, Request};
use resolab_dns::iana::DNS_MESSAGE;

/// The private-use key of an HTTPS record (RFC 9460 section 14.3.2) listing the names a document
/// will need: text separated by commas.
pub const NAMES_KEY: u16 = 65_400;
/// The beginning of a URL in a document.
const SCHEME: &[u8] = b"https://";
/// The maximum length of a name as text (RFC 1035 section 2.3.4).
const NAME_MAX_BYTES: usize = 253;

/// Returns the names to resolve according to a `link` field (RFC 8288), with or without connecting.
pub fn linked_names(field: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in field.split('<').skip(1) {
        let Some((target, parameters)) = part.split_once('>') else {
            continue;
        };
        let wants = parameters.split(';').any(is_resolving);
        let host = target.strip_prefix("https://").and_then(host_of);
        names.extend(host.filter(|_| wants));
    }
    names
}

fn is_resolving(parameter: &str) -> bool {
    let Some((key, value)) = parameter.split_once('=') else {
        return false;
    };
    // The comma before the next link, and quotes.
    let value = value.trim().trim_end_matches(',').trim().trim_matches('"');
    let mut relations = value.split_ascii_whitespace();
    key.trim().eq_ignore_ascii_case("rel")
        && relations.any(|relation| relation == "dns-prefetch" || relation == "preconnect")
}

fn host_of(authority_and_path: &str) -> Option<String> {
    let end = authority_and_path.find(['/', '?', '#', ':']);
    let host = &authority_and_path[..end.unwrap_or(authority_and_path.len())];
    is_name(host.as_bytes()).then(|| host.to_ascii_lowercase())
}

fn is_name(bytes: &[u8]) -> bool {
    (1..=NAME_MAX_BYTES).contains(&bytes.len()) && bytes.iter().all(|byte| is_of_name(*byte))
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')
}

/// Returns the names announced by the HTTPS records of an answer.
pub fn hinted_names(answer: &Message) -> Vec<String> {
    let records = answer.answers.iter();
    let https = records.filter_map(|record| {
        let RData::HTTPS(https) = &record.data else {
            return None;
        };
        Some(https)
    });
    let parameters = https.flat_map(|https| &https.svc_params);
    let lists = parameters.filter_map(|parameter| {
        let (SvcParamKey::Key(NAMES_KEY), SvcParamValue::Unknown(list)) = parameter else {
            return None;
        };
        Some(&list.0)
    });
    lists
        .flat_map(|list| list.split(|byte| *byte == b','))
        .filter(|name| is_name(name))
        .map(|name| String::from_utf8_lossy(name).to_ascii_lowercase())
        .collect()
}

/// Returns the query in a promised request, when a client of the resolver at `url` would have sent
/// this request.
pub fn promised_query(request: &Request<()>, url: &str) -> Option<Vec<u8>> {
    let uri = request.uri();
    let authority = uri.authority()?;
    let asked = format!("https://{authority}{}", uri.path());
    let media = request.headers().get(ACCEPT);
    let is_ours = request.method() == Method::GET
        && uri.scheme_str() == Some("https")
        && url
            .split('?')
            .next()
            .is_some_and(|url| asked.eq_ignore_ascii_case(url))
        && media.is_none_or(|media| media.as_bytes() == DNS_MESSAGE.as_bytes());
    let pairs = uri.query().filter(|_| is_ours)?.split('&');
    let encoded = pairs
        .into_iter()
        .find_map(|pair| pair.strip_prefix("dns="))?;
    URL_SAFE_NO_PAD.decode(encoded).ok()
}

/// Reads the names of URLs from a document as it arrives, each name as soon as complete.
#[derive(Debug, Default)]
pub struct DocumentNames {
    /// The end of the last piece, possibly continued by the next.
    tail: Vec<u8>,
}

impl DocumentNames {
    /// Returns the names in a further piece, without a name possibly continued in the next piece.
    pub fn take(&mut self, piece: &[u8]) -> Vec<String> {
        self.tail.extend_from_slice(piece);
        let (names, used) = names_in(&self.tail, false);
        self.tail.drain(..used);
        names
    }

    /// Returns the last name, when the document ends with the name.
    pub fn end(self) -> Vec<String> {
        names_in(&self.tail, true).0
    }
}

/// Returns the names of URLs in bytes, and the number of bytes already done with.
fn names_in(bytes: &[u8], is_all: bool) -> (Vec<String>, usize) {
    let mut names = Vec::new();
    let mut at = 0;
    loop {
        let rest = &bytes[at..];
        let Some(found) = rest.windows(SCHEME.len()).position(|part| part == SCHEME) else {
            return (names, at + rest.len().saturating_sub(SCHEME.len() - 1));
        };
        let host = &rest[found + SCHEME.len()..];
        let length = host.iter().position(|byte| !is_of_name(*byte));
        let Some(length) = length.or(is_all.then_some(host.len())) else {
            // No name goes on for ever: what is longer is none.
            let is_endless = host.len() > NAME_MAX_BYTES;
            return (names, at + if is_endless { rest.len() } else { found });
        };
        if is_name(&host[..length]) {
            names.push(String::from_utf8_lossy(&host[..length]).to_ascii_lowercase());
        }
        at += found + SCHEME.len() + length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hickory_proto::rr::rdata::svcb::{SVCB, Unknown};
    use hickory_proto::rr::{Name, Record, rdata::HTTPS};
    use proptest::prelude::*;

    #[test]
    fn a_link_field_names_what_is_to_be_resolved() {
        let field = "<https://A.test>; rel=dns-prefetch, </style.css>; rel=preload; as=style, \
                     <https://b.test:8443/x>; rel=\"preconnect\"; crossorigin,<https://c.test/>;rel=preload";
        assert_eq!(linked_names(field), ["a.test", "b.test"]);
        for nothing in [
            "",
            "<",
            "<https://a.test",
            "<https://>; rel=preconnect",
            "a.test; rel=preconnect",
        ] {
            assert!(linked_names(nothing).is_empty(), "{nothing}");
        }
    }

    fn https(list: &[u8], key: u16) -> Message {
        let value = SvcParamValue::Unknown(Unknown(list.to_vec()));
        let svcb = SVCB::new(1, Name::root(), vec![(SvcParamKey::from(key), value)]);
        let mut message = Message::query();
        let name = Name::from_ascii("page.test.").unwrap();
        message.add_answer(Record::from_rdata(name, 60, RData::HTTPS(HTTPS(svcb))));
        // As it would come.
        Message::from_vec(&message.to_vec().unwrap()).unwrap()
    }

    #[test]
    fn an_https_record_lists_names_under_the_private_key() {
        assert_eq!(
            hinted_names(&https(b"a.test,B.test", NAMES_KEY)),
            ["a.test", "b.test"]
        );
        assert_eq!(
            hinted_names(&https(b"a.test,, b.test,\xff", NAMES_KEY)),
            ["a.test"]
        );
        assert!(hinted_names(&https(b"a.test", 65_401)).is_empty());
    }

    #[test]
    fn a_promise_counts_for_the_resolver_s_own_url_alone() {
        let url = "https://dns.test/dns-query";
        let query = |method: &str, uri: &str, media: &str| {
            let request = Request::builder()
                .method(method)
                .uri(uri)
                .header(ACCEPT, media);
            promised_query(&request.body(()).unwrap(), url)
        };
        let good = "https://dns.test/dns-query?dns=AAH7_w";
        assert_eq!(
            query("GET", good, DNS_MESSAGE).unwrap(),
            b"\x00\x01\xfb\xff"
        );
        for (method, uri, media) in [
            ("POST", good, DNS_MESSAGE),
            ("GET", good, "text/html"),
            ("GET", "https://dns.test/other?dns=AAH7_w", DNS_MESSAGE),
            ("GET", "https://page.test/dns-query?dns=AAH7_w", DNS_MESSAGE),
            ("GET", "http://dns.test/dns-query?dns=AAH7_w", DNS_MESSAGE),
            (
                "GET",
                "https://dns.test/dns-query?dns=AAH7%2Fw",
                DNS_MESSAGE,
            ),
            ("GET", "https://dns.test/dns-query", DNS_MESSAGE),
        ] {
            assert!(
                query(method, uri, media).is_none(),
                "{method} {uri} {media}"
            );
        }
    }

    #[test]
    fn a_name_counts_when_it_stands_whole() {
        let mut names = DocumentNames::default();
        assert!(names.take(b"<img src=htt").is_empty());
        assert!(names.take(b"ps://a.te").is_empty());
        assert_eq!(
            names.take(b"st/1><img src=\"https://B.test\"><a href=https://c.test"),
            ["a.test", "b.test"]
        );
        assert_eq!(names.end(), ["c.test"]);
    }

    #[test]
    fn a_name_that_does_not_end_is_none() {
        let mut names = DocumentNames::default();
        assert!(names.take(b"https://").is_empty());
        for _ in 0..100 {
            assert!(names.take(&[b'a'; 100]).is_empty());
        }
        assert!(names.tail.len() < 1_000);
        assert_eq!(names.take(b" https://b.test/"), ["b.test"]);
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(text in "(https?://[a-c.]{0,6}[ /\"]?|[ -~]{0,9}){0,12}", cut in 1_usize..9) {
            let bytes = text.as_bytes();
            let whole = names_in(bytes, true).0;
            let mut names = DocumentNames::default();
            let mut found: Vec<_> = bytes.chunks(cut).flat_map(|piece| names.take(piece)).collect();
            found.extend(names.end());
            prop_assert_eq!(found, whole);
        }
    }
}
