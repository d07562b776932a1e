//! Content codings: the choice for a client (RFC 9110 section 12.5.3), and the encoding itself.
//!
//! For: loading a site; nothing is encoded while a request waits. Not for: transfer codings.

use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderMap;
use http::header::ACCEPT_ENCODING;
use serde::Deserialize;
use std::io::Write;

/// A content coding of the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// The coding Brotli (RFC 7932).
    Br,
    /// The coding gzip (RFC 1952).
    Gzip,
}

/// The level commonly used by servers for encoding once; far from the slowest.
const GZIP_LEVEL: u32 = 6;
/// The default weight of a requested coding: 1.000 (RFC 9110 section 12.4.2), in thousandths.
const FULL_WEIGHT: u16 = 1_000;

impl Encoding {
    /// Returns the name of the coding in `content-encoding`.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Br => "br",
            Self::Gzip => "gzip",
        }
    }

    /// Encodes bytes; the same bytes give the same result.
    pub fn encode(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Br => resolab_brotli::encode(bytes),
            Self::Gzip => encode_gzip(bytes),
        }
    }
}

fn encode_gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(
        Vec::with_capacity(bytes.len() / 3 + 64),
        Compression::new(GZIP_LEVEL),
    );
    // Writing into memory does not fail; if it did, the empty result would not be used.
    let done = encoder.write_all(bytes).and_then(|()| encoder.finish());
    done.unwrap_or_default()
}

/// Chooses the coding for a client from the offered codings (in the server's order of preference).
/// `None` is identity.
pub fn choose(headers: &HeaderMap, offered: impl Iterator<Item = Encoding>) -> Option<Encoding> {
    let accepted = AcceptedEncodings::from_headers(headers)?;
    let mut best = None;
    for encoding in offered {
        let weight = accepted
            .weight(encoding.token())
            .or(accepted.any)
            .unwrap_or(0);
        if weight > best.map_or(0, |(_, weight)| weight) {
            best = Some((encoding, weight));
        }
    }
    let (encoding, weight) = best?;
    // Identity is always acceptable, and preferred only by a client that says so.
    let identity = accepted.weight("identity").unwrap_or(0);
    (weight >= identity).then_some(encoding)
}

struct AcceptedEncodings<'a> {
    named: Vec<(&'a str, u16)>,
    any: Option<u16>,
}

impl<'a> AcceptedEncodings<'a> {
    fn from_headers(headers: &'a HeaderMap) -> Option<Self> {
        headers.get(ACCEPT_ENCODING)?;
        let mut accepted = Self {
            named: Vec::new(),
            any: None,
        };
        let lines = headers.get_all(ACCEPT_ENCODING).iter();
        let texts = lines.filter_map(|line| line.to_str().ok());
        for item in texts.flat_map(|text| text.split(',')) {
            let (token, parameters) = item.split_once(';').unwrap_or((item, ""));
            let weight = weight_of(parameters);
            match token.trim() {
                "" => {}
                "*" => accepted.any = Some(weight),
                token => accepted.named.push((token, weight)),
            }
        }
        Some(accepted)
    }

    fn weight(&self, token: &str) -> Option<u16> {
        // RFC 9110 section 8.4.1.3: x-gzip is gzip.
        let is = |name: &str| {
            name.eq_ignore_ascii_case(token)
                || (token == "gzip" && name.eq_ignore_ascii_case("x-gzip"))
        };
        let found = self.named.iter().find(|(name, _)| is(name));
        found.map(|(_, weight)| *weight)
    }
}

/// Returns a `q` parameter in thousandths; a malformed parameter means not acceptable.
pub fn weight_of(parameters: &str) -> u16 {
    let Some((name, value)) = parameters.split_once('=') else {
        return FULL_WEIGHT;
    };
    if !name.trim().eq_ignore_ascii_case("q") {
        return FULL_WEIGHT;
    }
    // RFC 9110 section 12.4.2: neither a sign nor an exponent.
    let text = value.trim();
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: f32 = text.parse().ok().filter(|_| is_plain).unwrap_or(0.0);
    if (0.0..=1.0).contains(&value) {
        (value * f32::from(FULL_WEIGHT)).round() as u16
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn chosen(accept: &str) -> Option<Encoding> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, accept.parse().unwrap());
        choose(&headers, [Encoding::Br, Encoding::Gzip].into_iter())
    }

    #[test]
    fn weights_decide_and_then_the_server() {
        for (accept, expected) in [
            ("gzip, deflate, br, zstd", Some(Encoding::Br)),
            ("gzip", Some(Encoding::Gzip)),
            ("X-GZIP", Some(Encoding::Gzip)),
            ("br;q=0.5, gzip;q=0.8", Some(Encoding::Gzip)),
            ("br; q=0, *", Some(Encoding::Gzip)),
            ("br;q=0.001", Some(Encoding::Br)),
            ("*;q=0", None),
            ("*", Some(Encoding::Br)),
            ("identity, gzip;q=0.9", None),
            ("identity;q=0.5, gzip;q=0.9", Some(Encoding::Gzip)),
            ("deflate", None),
            ("", None),
            ("gzip;q=7, br;q=x", None),
            ("gzip;q=+1, br;q=1e-1", None),
        ] {
            assert_eq!(chosen(accept), expected, "{accept}");
        }
        assert_eq!(choose(&HeaderMap::new(), [Encoding::Br].into_iter()), None);
    }

    #[test]
    fn what_is_encoded_can_be_decoded() {
        let text = b"<!doctype html>".repeat(500);
        let mut decoded = Vec::new();
        let gzip = Encoding::Gzip.encode(&text);
        flate2::read::GzDecoder::new(&gzip[..])
            .read_to_end(&mut decoded)
            .unwrap();
        assert_eq!(decoded, text);
        let mut decoded = Vec::new();
        let br = Encoding::Br.encode(&text);
        brotli::BrotliDecompress(&mut &br[..], &mut decoded).unwrap();
        assert_eq!(decoded, text);
        assert!(br.len() < gzip.len() && gzip.len() < text.len() / 10);
    }
}
