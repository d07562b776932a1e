//! Parameters of SVCB and HTTPS records as text (RFC 9460 section 2.1 and appendix A, RFC 9461
//! section 5). Not for: priority and target (ordinary parts in `record_data`).

use super::characters::word;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Display;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Names of parameters by number (IANA, Service Parameter Keys).
const NAMES: [&str; 11] = [
    "mandatory",
    "alpn",
    "no-default-alpn",
    "port",
    "ipv4hint",
    "ech",
    "ipv6hint",
    "dohpath",
    "ohttp",
    "tls-supported-groups",
    "docpath",
];
const MANDATORY: u16 = 0;
const ALPN: u16 = 1;
const NO_DEFAULT_ALPN: u16 = 2;
const PORT: u16 = 3;
const IPV4_HINT: u16 = 4;
const ECH: u16 = 5;
const IPV6_HINT: u16 = 6;
const DOH_PATH: u16 = 7;
const OHTTP: u16 = 8;

/// Writes all parameters. `None` when the bytes are not a list of parameters in order.
pub(super) fn write_parameters(mut rest: &[u8], words: &mut Vec<String>) -> Option<()> {
    let mut last = None;
    while let Some((head, tail)) = rest.split_first_chunk::<4>() {
        let [a, b, c, d] = *head;
        let key = u16::from_be_bytes([a, b]);
        let (value, tail) = tail.split_at_checked(u16::from_be_bytes([c, d]).into())?;
        if last >= Some(key) {
            return None;
        }
        words.push(parameter(key, value));
        last = Some(key);
        rest = tail;
    }
    rest.is_empty().then_some(())
}

/// Writes one parameter. A value invalid for its key is written under the key's number, where any
/// bytes are allowed.
fn parameter(key: u16, value: &[u8]) -> String {
    match value_text(key, value) {
        Some(text) if text.is_empty() => key_text(key),
        Some(text) => format!("{}={text}", key_text(key)),
        None if value.is_empty() => format!("key{key}"),
        None => format!("key{key}={}", word(value)),
    }
}

fn key_text(key: u16) -> String {
    let known = NAMES.get(usize::from(key));
    known.map_or_else(|| format!("key{key}"), ToString::to_string)
}

/// Returns a value as text; empty for keys without a value.
fn value_text(key: u16, value: &[u8]) -> Option<String> {
    match key {
        MANDATORY => list(value, |pair: [u8; 2]| key_text(u16::from_be_bytes(pair))),
        ALPN => alpn(value),
        NO_DEFAULT_ALPN | OHTTP => value.is_empty().then(String::new),
        PORT => Some(u16::from_be_bytes(value.try_into().ok()?).to_string()),
        IPV4_HINT => list(value, |octets: [u8; 4]| Ipv4Addr::from(octets)),
        IPV6_HINT => list(value, |octets: [u8; 16]| Ipv6Addr::from(octets)),
        ECH => Some(STANDARD.encode(value)).filter(|text| !text.is_empty()),
        DOH_PATH => (!value.is_empty()).then(|| word(value)),
        _ => None,
    }
}

fn list<const N: usize, T: Display>(
    value: &[u8],
    element: impl Fn([u8; N]) -> T,
) -> Option<String> {
    let (elements, rest) = value.as_chunks::<N>();
    if elements.is_empty() || !rest.is_empty() {
        return None;
    }
    let texts: Vec<_> = elements
        .iter()
        .map(|item| element(*item).to_string())
        .collect();
    Some(texts.join(","))
}

/// Writes ALPN identifiers separated by commas. Commas and backslashes in an identifier are escaped
/// with a backslash, then escaped once more with all other characters of the value (RFC 9460
/// appendix A.1).
fn alpn(mut value: &[u8]) -> Option<String> {
    let mut listed = Vec::with_capacity(value.len());
    while let Some((length, rest)) = value.split_first() {
        let (id, rest) = rest.split_at_checked(usize::from(*length))?;
        if id.is_empty() {
            return None;
        }
        if !listed.is_empty() {
            listed.push(b',');
        }
        for byte in id {
            if matches!(byte, b',' | b'\\') {
                listed.push(b'\\');
            }
            listed.push(*byte);
        }
        value = rest;
    }
    (!listed.is_empty()).then(|| word(&listed))
}
