//! Counts packets by type in a UDP datagram by QUIC's invariant long header (RFC 8999 section 5.1),
//! walking coalesced packets (RFC 9000 section 12.2). Long headers' types and lengths are not
//! encrypted. Not for: anything inside a packet.
//!
//! The fixed bit is ignored: peers may agree to clear the bit at random, in long headers too (RFC
//! 9287). The version and the fitting lengths separate QUIC from other protocols well enough. A DNS
//! message with version 1 or 2 there would have more than 255 questions or no known flags.

/// Header form (RFC 8999 section 5.1).
const LONG_FORM: u8 = 0x80;
/// Marks Version Negotiation (RFC 8999 section 6).
const NO_VERSION: u32 = 0;
const VERSION_1: u32 = 1;
/// QUIC version 2 of RFC 9369.
const VERSION_2: u32 = 0x6b33_43cf;

const VERSION_BYTES: usize = 4;
const RETRY_TAG_BYTES: usize = 16;

/// Long-header packets found in a datagram.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_field_names)] // A unit stands in every name.
pub struct LongHeaders {
    /// Number of Initial packets.
    pub initial_count: u64,
    /// Number of 0-RTT packets.
    pub zero_rtt_count: u64,
    /// Number of Handshake packets.
    pub handshake_count: u64,
    /// Number of Retry packets.
    pub retry_count: u64,
    /// Number of Version Negotiation packets.
    pub version_negotiation_count: u64,
}

impl LongHeaders {
    /// Adds the counts of another datagram.
    pub fn add(&mut self, other: Self) {
        self.initial_count += other.initial_count;
        self.zero_rtt_count += other.zero_rtt_count;
        self.handshake_count += other.handshake_count;
        self.retry_count += other.retry_count;
        self.version_negotiation_count += other.version_negotiation_count;
    }
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum PacketType {
    Initial,
    ZeroRtt,
    Handshake,
    Retry,
    VersionNegotiation,
}

/// Returns true when a datagram may begin with a long header. Spares most datagrams the walk.
pub fn has_long_form(datagram: &[u8]) -> bool {
    datagram.first().is_some_and(|first| first & LONG_FORM != 0)
}

/// Counts the long-header packets of `datagram`. Packets other than QUIC version 1 or 2 and version
/// negotiation do not count.
pub fn count_long_headers(datagram: &[u8]) -> LongHeaders {
    let mut counts = LongHeaders::default();
    let mut rest = datagram;
    while let Some((packet_type, after)) = take_packet(rest) {
        match packet_type {
            PacketType::Initial => counts.initial_count += 1,
            PacketType::ZeroRtt => counts.zero_rtt_count += 1,
            PacketType::Handshake => counts.handshake_count += 1,
            PacketType::Retry => counts.retry_count += 1,
            PacketType::VersionNegotiation => counts.version_negotiation_count += 1,
        }
        rest = after;
    }
    counts
}

/// Returns the first packet's type and the remaining bytes; `None` without a walkable long header.
/// No packet can follow a Retry or Version Negotiation (RFC 9000 sections 17.2.5 and 17.2.1: they
/// have no length).
fn take_packet(bytes: &[u8]) -> Option<(PacketType, &[u8])> {
    if !has_long_form(bytes) {
        return None;
    }
    let (first, rest) = bytes.split_first()?;
    let (version, rest) = rest.split_first_chunk::<4>()?;
    let version = u32::from_be_bytes(*version);
    if version == NO_VERSION {
        return lists_versions(rest).then_some((PacketType::VersionNegotiation, &[]));
    }
    let packet_type = packet_type(*first, version)?;
    let rest = skip_connection_id(skip_connection_id(rest)?)?;
    let after = match packet_type {
        PacketType::Initial => skip_sized(skip_sized(rest)?)?,
        PacketType::ZeroRtt | PacketType::Handshake => skip_sized(rest)?,
        // A token, which must not be empty, and the integrity tag (RFC 9000 section 17.2.5).
        PacketType::Retry if rest.len() > RETRY_TAG_BYTES => &[],
        PacketType::Retry | PacketType::VersionNegotiation => return None,
    };
    Some((packet_type, after))
}

/// Returns true when two connection ids of any length and a list of versions fill the rest (RFC
/// 8999 section 6).
fn lists_versions(bytes: &[u8]) -> bool {
    let skip = |bytes: &mut &[u8]| {
        let (length, rest) = bytes.split_first()?;
        *bytes = rest.get(usize::from(*length)..)?;
        Some(())
    };
    let mut rest = bytes;
    skip(&mut rest).and_then(|()| skip(&mut rest)).is_some()
        && !rest.is_empty()
        && rest.len().is_multiple_of(VERSION_BYTES)
}

/// Returns the packet type of a first byte. Type bits have different meanings in each version (RFC
/// 9000 section 17.2, RFC 9369 section 3.2).
fn packet_type(first: u8, version: u32) -> Option<PacketType> {
    let bits = (first >> 4) & 0x03;
    let order = [
        PacketType::Initial,
        PacketType::ZeroRtt,
        PacketType::Handshake,
        PacketType::Retry,
    ];
    match version {
        VERSION_1 => Some(order[usize::from(bits)]),
        VERSION_2 => Some(order[usize::from(bits.wrapping_sub(1) & 0x03)]),
        _ => None,
    }
}

fn skip_connection_id(bytes: &[u8]) -> Option<&[u8]> {
    let (length, rest) = bytes.split_first()?;
    // Longer ones are invalid in both versions (RFC 9000 section 17.2).
    if *length > 20 {
        return None;
    }
    rest.get(usize::from(*length)..)
}

/// Skips a field behind a length.
fn skip_sized(bytes: &[u8]) -> Option<&[u8]> {
    let (length, rest) = take_variable_integer(bytes)?;
    rest.get(usize::try_from(length).ok()?..)
}

/// Takes a variable-length integer (RFC 9000 section 16).
fn take_variable_integer(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = 1_usize << (bytes.first()? >> 6);
    let (integer, rest) = bytes.split_at_checked(length)?;
    let value = integer
        .iter()
        .fold(0, |value, byte| value << 8 | u64::from(*byte));
    Some((value & (u64::MAX >> (66 - 8 * length as u32)), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Makes a packet of `version` with these type bits, an 8-byte and an empty connection id.
    fn packet(version: u32, bits: u8, token: Option<&[u8]>, payload_bytes: usize) -> Vec<u8> {
        let mut bytes = vec![0xc0 | bits << 4];
        bytes.extend(version.to_be_bytes());
        bytes.extend([8, 1, 2, 3, 4, 5, 6, 7, 8, 0]);
        if let Some(token) = token {
            bytes.push(token.len() as u8);
            bytes.extend(token);
        }
        bytes.extend((0x4000 | payload_bytes as u16).to_be_bytes());
        bytes.extend(vec![0xee; payload_bytes]);
        bytes
    }

    fn counts(initial_count: u64, zero_rtt_count: u64) -> LongHeaders {
        LongHeaders {
            initial_count,
            zero_rtt_count,
            ..LongHeaders::default()
        }
    }

    #[test]
    fn a_padded_initial() {
        let mut datagram = packet(1, 0, Some(b"token"), 300);
        datagram.resize(1_200, 0);
        assert_eq!(count_long_headers(&datagram), counts(1, 0));
    }

    #[test]
    fn coalesced_initial_zero_rtt_and_short() {
        let mut datagram = packet(1, 0, Some(b""), 300);
        datagram.extend(packet(1, 1, None, 80));
        datagram.extend(packet(1, 1, None, 90));
        datagram.extend(packet(1, 2, None, 20));
        datagram.extend([0x41; 50]);
        let expected = LongHeaders {
            handshake_count: 1,
            ..counts(1, 2)
        };
        assert_eq!(count_long_headers(&datagram), expected);
    }

    #[test]
    fn version_2_has_its_own_types() {
        let mut datagram = packet(VERSION_2, 1, Some(b""), 300);
        datagram.extend(packet(VERSION_2, 2, None, 80));
        assert_eq!(count_long_headers(&datagram), counts(1, 1));
    }

    #[test]
    fn a_retry_ends_the_walk() {
        let mut datagram = packet(1, 3, None, 20);
        datagram.extend(packet(1, 0, Some(b""), 20));
        let retry = LongHeaders {
            retry_count: 1,
            ..counts(0, 0)
        };
        assert_eq!(count_long_headers(&datagram), retry);
        // Without a token.
        assert_eq!(
            count_long_headers(&packet(1, 3, None, 14)[..15 + 16]),
            counts(0, 0)
        );
    }

    #[test]
    fn a_greased_fixed_bit_changes_nothing() {
        let mut datagram = packet(1, 0, Some(b""), 300);
        datagram[0] &= !0x40;
        let mut handshake = packet(1, 2, None, 80);
        handshake[0] &= !0x40;
        datagram.extend(handshake);
        let expected = LongHeaders {
            handshake_count: 1,
            ..counts(1, 0)
        };
        assert_eq!(count_long_headers(&datagram), expected);
    }

    #[test]
    fn version_negotiation_lists_versions() {
        let mut datagram = vec![0x80 | 0x2a, 0, 0, 0, 0, 2, 1, 2, 25];
        datagram.extend([7; 25]);
        assert_eq!(count_long_headers(&datagram), counts(0, 0), "no version");
        datagram.extend(1_u32.to_be_bytes());
        datagram.extend(VERSION_2.to_be_bytes());
        let expected = LongHeaders {
            version_negotiation_count: 1,
            ..counts(0, 0)
        };
        assert_eq!(count_long_headers(&datagram), expected);
        datagram.pop();
        assert_eq!(
            count_long_headers(&datagram),
            counts(0, 0),
            "a cut list of versions"
        );
    }

    #[test]
    fn sums_add_up() {
        let mut sum = counts(1, 2);
        sum.add(LongHeaders {
            handshake_count: 3,
            retry_count: 4,
            version_negotiation_count: 5,
            ..counts(1, 1)
        });
        let expected = LongHeaders {
            initial_count: 2,
            zero_rtt_count: 3,
            handshake_count: 3,
            retry_count: 4,
            version_negotiation_count: 5,
        };
        assert_eq!(sum, expected);
    }

    #[test]
    fn other_things_count_nothing() {
        let dns_query = [
            0xc1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, b'w', b'w', b'w', 0, 0, 1, 0, 1,
        ];
        assert_eq!(count_long_headers(&dns_query), counts(0, 0));
        assert_eq!(count_long_headers(&packet(9, 0, None, 20)), counts(0, 0));
        assert!(!has_long_form(&[0x7f]) && !has_long_form(&[]));
        assert_eq!(count_long_headers(&[]), counts(0, 0));
    }

    #[test]
    fn a_cut_packet_counts_nothing() {
        let whole = packet(1, 0, Some(b"token"), 300);
        for length in 0..whole.len() {
            assert_eq!(
                count_long_headers(&whole[..length]),
                counts(0, 0),
                "{length}"
            );
        }
    }

    proptest! {
        #[test]
        fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            count_long_headers(&bytes);
        }
    }
}
