//! Parameters of SVCB and HTTPS records (RFC 9460 section 2.1 and appendix A).
//!
//! For: their text and wire form. Not for: priority and target, because both are ordinary values.

use super::entries::{Word, parse_unsigned, unescape};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

const MANDATORY: u16 = 0;
const ALPN: u16 = 1;
const NO_DEFAULT_ALPN: u16 = 2;
const PORT: u16 = 3;
const IPV4_HINT: u16 = 4;
const ECH: u16 = 5;
const IPV6_HINT: u16 = 6;
const DOH_PATH: u16 = 7;

const NAMES: [(&str, u16); 8] = [
    ("mandatory", MANDATORY),
    ("alpn", ALPN),
    ("no-default-alpn", NO_DEFAULT_ALPN),
    ("port", PORT),
    ("ipv4hint", IPV4_HINT),
    ("ech", ECH),
    ("ipv6hint", IPV6_HINT),
    ("dohpath", DOH_PATH),
];

/// Reads `key=value` words, and writes the parameters in the order of their keys.
pub fn push_parameters<'a>(
    content: &mut Vec<u8>,
    words: &mut impl Iterator<Item = &'a Word>,
) -> Result<(), String> {
    let mut parameters = BTreeMap::new();
    for word in words {
        let (name, value) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.text.as_str(), None),
        };
        let key = key_of(name)?;
        let is_numbered = NAMES.iter().all(|(known, _)| *known != name);
        let bytes = if is_numbered {
            // RFC 9460 section 2.1: the value of `keyNNNNN` is its octets, whatever the key.
            unescape(value.unwrap_or_default())
        } else {
            value_of(key, value)
        };
        let bytes = bytes.map_err(|reason| format!("{name}: {reason}"))?;
        if !has_length(key, &bytes) {
            return Err(format!("{name}: the value has a wrong length"));
        }
        if bytes.len() > usize::from(u16::MAX) {
            return Err(format!("{name} is longer than 65535 bytes"));
        }
        if parameters.insert(key, bytes).is_some() {
            return Err(format!("{name} stands twice"));
        }
    }
    if parameters.contains_key(&NO_DEFAULT_ALPN) && !parameters.contains_key(&ALPN) {
        return Err("no-default-alpn without alpn (RFC 9460 section 7.1.1)".to_owned());
    }
    if let Some(mandatory) = parameters.get(&MANDATORY) {
        for pair in mandatory.chunks_exact(2) {
            let key = u16::from_be_bytes([pair[0], pair[1]]);
            if !parameters.contains_key(&key) {
                return Err(format!("mandatory names key{key}, which is missing"));
            }
        }
    }
    for (key, bytes) in parameters {
        content.extend(key.to_be_bytes());
        content.extend((bytes.len() as u16).to_be_bytes());
        content.extend(bytes);
    }
    Ok(())
}

fn key_of(name: &str) -> Result<u16, String> {
    let known = NAMES.iter().find(|(known, _)| *known == name);
    let numbered = || {
        let digits = name.strip_prefix("key")?;
        // RFC 9460 section 2.1: without leading zeros; 65535 is reserved.
        let plain = digits == "0" || !digits.starts_with('0');
        parse_unsigned(digits).filter(|&key| plain && key != u16::MAX)
    };
    known
        .map(|(_, key)| *key)
        .or_else(numbered)
        .ok_or_else(|| format!("`{name}` is no service parameter"))
}

fn value_of(key: u16, value: Option<&str>) -> Result<Vec<u8>, String> {
    if key == NO_DEFAULT_ALPN {
        return match value {
            None => Ok(Vec::new()),
            Some(_) => Err("it has no value".to_owned()),
        };
    }
    let bytes = unescape(value.unwrap_or_default())?;
    if bytes.is_empty() && key <= DOH_PATH {
        return Err("the value is missing".to_owned());
    }
    let text = || String::from_utf8_lossy(&bytes).into_owned();
    match key {
        MANDATORY => mandatory(&text()),
        ALPN => alpn(&bytes),
        PORT => {
            let port: u16 =
                parse_unsigned(&text()).ok_or_else(|| format!("`{}` is no port", text()))?;
            Ok(port.to_be_bytes().to_vec())
        }
        IPV4_HINT => hints::<Ipv4Addr, 4>(&text(), |address| address.octets()),
        IPV6_HINT => hints::<Ipv6Addr, 16>(&text(), |address| address.octets()),
        ECH => base64(&text()),
        _ => Ok(bytes),
    }
}

fn mandatory(text: &str) -> Result<Vec<u8>, String> {
    let mut keys: Vec<u16> = text.split(',').map(key_of).collect::<Result<_, _>>()?;
    keys.sort_unstable();
    let mut once = keys.clone();
    once.dedup();
    if once != keys || keys.contains(&MANDATORY) {
        return Err("a key stands twice, or is `mandatory` itself".to_owned());
    }
    Ok(keys.into_iter().flat_map(u16::to_be_bytes).collect())
}

/// Reads identifiers between commas; `\,` and `\\` stand for themselves (RFC 9460 appendix A.1).
fn alpn(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut list = Vec::new();
    let mut id = Vec::new();
    let mut rest = bytes.iter();
    loop {
        let byte = rest.next();
        match byte {
            Some(b'\\') => id.extend(rest.next()),
            Some(b',') | None => {
                let length = u8::try_from(id.len()).ok().filter(|&length| length > 0);
                list.push(length.ok_or("an identifier has 1 to 255 bytes")?);
                list.append(&mut id);
            }
            Some(byte) => id.push(*byte),
        }
        if byte.is_none() {
            return Ok(list);
        }
    }
}

fn hints<T: std::str::FromStr, const N: usize>(
    text: &str,
    octets: impl Fn(T) -> [u8; N],
) -> Result<Vec<u8>, String> {
    let mut list = Vec::new();
    for address in text.split(',') {
        let parsed = address.parse();
        let parsed = parsed.map_err(|_| format!("`{address}` is no address of its family"))?;
        list.extend(octets(parsed));
    }
    Ok(list)
}

fn base64(text: &str) -> Result<Vec<u8>, String> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_err(|_| format!("`{text}` is no Base64"))
}

/// Returns true for parameters in strictly increasing order with values of the correct lengths.
pub fn are_well_formed(mut rest: &[u8]) -> bool {
    let mut last = None;
    while !rest.is_empty() {
        let Some(([a, b, c, d], tail)) = rest.split_first_chunk::<4>() else {
            return false;
        };
        let key = u16::from_be_bytes([*a, *b]);
        let length = usize::from(u16::from_be_bytes([*c, *d]));
        let Some((value, tail)) = tail.split_at_checked(length) else {
            return false;
        };
        if last.is_some_and(|last| last >= key) || !has_length(key, value) {
            return false;
        }
        last = Some(key);
        rest = tail;
    }
    true
}

fn has_length(key: u16, value: &[u8]) -> bool {
    let of = |unit: usize| !value.is_empty() && value.len().is_multiple_of(unit);
    match key {
        MANDATORY => of(2),
        ALPN => {
            let mut rest = value;
            while let Some((&length, tail)) = rest.split_first() {
                match tail.split_at_checked(usize::from(length)) {
                    Some((id, tail)) if !id.is_empty() => rest = tail,
                    _ => return false,
                }
            }
            !value.is_empty()
        }
        NO_DEFAULT_ALPN => value.is_empty(),
        PORT => value.len() == 2,
        IPV4_HINT => of(4),
        IPV6_HINT => of(16),
        _ => true,
    }
}
