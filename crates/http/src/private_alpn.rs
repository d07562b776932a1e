//! The wire format under our private ALPN: DoQ and HTTP/3 on one QUIC connection
//! (docs/formats/private-alpn.md).
//!
//! For: separating DoQ from HTTP/3 by a stream's first bytes. Not for: the bytes after the prefix.

/// ALPN. Not registered; for the lab only.
pub const ALPN: &str = "resolab-doq-h3/1";

/// First bytes of a client's bidirectional stream with DoQ: the HTTP/3 frame type 0x0451 as a
/// variable-length integer of two bytes, `DQ` when read as text. The type is neither registered nor
/// reserved for greasing (0x1f * N + 0x21), and no HTTP/3 client begins a request with this type.
pub const DNS_PREFIX: [u8; 2] = *b"DQ";

/// The protocol of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamKind {
    /// DoQ follows the prefix.
    Dns,
    /// HTTP/3, from the first byte.
    Http3,
}

/// Returns the protocol of a stream with these first bytes; `None` when undecided.
pub fn stream_kind(first: &[u8]) -> Option<StreamKind> {
    let seen = first.len().min(DNS_PREFIX.len());
    if first[..seen] != DNS_PREFIX[..seen] {
        Some(StreamKind::Http3)
    } else if seen == DNS_PREFIX.len() {
        Some(StreamKind::Dns)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9000 section 16, of two bytes.
    fn prefix_value() -> u64 {
        u64::from(u16::from_be_bytes(DNS_PREFIX) & 0x3fff)
    }

    #[test]
    fn the_prefix_is_a_whole_integer_that_means_nothing_in_http3() {
        assert_eq!(DNS_PREFIX[0] >> 6, 1, "of two bytes");
        assert_eq!(prefix_value(), 0x0451);
        assert_ne!((prefix_value() - 0x21) % 0x1f, 0, "a grease type");
    }

    #[test]
    fn only_the_whole_prefix_is_dns() {
        assert_eq!(stream_kind(b""), None);
        assert_eq!(stream_kind(b"D"), None);
        assert_eq!(stream_kind(b"DQ"), Some(StreamKind::Dns));
        assert_eq!(stream_kind(b"DQ\x01\x00\0\0"), Some(StreamKind::Dns));
        // HEADERS, DoQ without prefix, another frame type that begins like it.
        for first in [
            &b"\x01"[..],
            b"\x00\x21\0\0",
            b"\x01\x00\0\0",
            b"DR",
            b"\x40\x41",
        ] {
            assert_eq!(stream_kind(first), Some(StreamKind::Http3), "{first:?}");
        }
    }
}
