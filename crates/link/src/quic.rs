//! Counting Initial and 0-RTT packets in a UDP datagram by QUIC's invariant long header (RFC 8999
//! section 5.1), walking packets coalesced into it (RFC 9000 section 12.2). Long headers' types and
//! lengths are not encrypted. Not for: anything inside a packet.

const VERSION_1: u32 = 1;
/// RFC 9369.
const VERSION_2: u32 = 0x6b33_43cf;

/// Long-header packets found in a datagram.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LongHeaders {
    /// Initial packets.
    pub initial_count: u64,
    /// 0-RTT packets.
    pub zero_rtt_count: u64,
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum PacketType {
    Initial,
    ZeroRtt,
    Handshake,
    Retry,
}

/// Count what `datagram` carries; what is not QUIC version 1 or 2 counts nothing.
pub fn count_long_headers(datagram: &[u8]) -> LongHeaders {
    let mut counts = LongHeaders::default();
    let mut rest = datagram;
    while let Some((packet_type, after)) = take_packet(rest) {
        match packet_type {
            PacketType::Initial => counts.initial_count += 1,
            PacketType::ZeroRtt => counts.zero_rtt_count += 1,
            PacketType::Handshake | PacketType::Retry => {}
        }
        rest = after;
    }
    counts
}

/// The first packet's type and what follows it; `None` when it has no long header we can walk
/// over. Nothing can follow a Retry (RFC 9000 section 17.2.5: it has no length).
fn take_packet(bytes: &[u8]) -> Option<(PacketType, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    // Header form and fixed bit (RFC 9000 section 17.2).
    if first & 0xc0 != 0xc0 {
        return None;
    }
    let (version, rest) = rest.split_first_chunk::<4>()?;
    let packet_type = packet_type(*first, u32::from_be_bytes(*version))?;
    let rest = skip_connection_id(skip_connection_id(rest)?)?;
    match packet_type {
        PacketType::Retry => Some((packet_type, &[])),
        PacketType::Initial => {
            let (token_bytes, rest) = take_variable_integer(rest)?;
            Some((
                packet_type,
                skip_sized(rest.get(usize::try_from(token_bytes).ok()?..)?)?,
            ))
        }
        PacketType::ZeroRtt | PacketType::Handshake => Some((packet_type, skip_sized(rest)?)),
    }
}

/// Type bits mean other types in each version (RFC 9000 section 17.2, RFC 9369 section 3.2).
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

/// Skip what is preceded by its own length.
fn skip_sized(bytes: &[u8]) -> Option<&[u8]> {
    let (length, rest) = take_variable_integer(bytes)?;
    rest.get(usize::try_from(length).ok()?..)
}

/// RFC 9000 section 16.
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

    /// A packet of `version` with these type bits, an 8-byte and an empty connection id.
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
        assert_eq!(count_long_headers(&datagram), counts(1, 2));
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
        assert_eq!(count_long_headers(&datagram), counts(0, 0));
    }

    #[test]
    fn other_things_count_nothing() {
        let dns_query = [
            0xc1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, b'w', b'w', b'w', 0, 0, 1, 0, 1,
        ];
        assert_eq!(count_long_headers(&dns_query), counts(0, 0));
        assert_eq!(count_long_headers(&packet(0, 0, None, 20)), counts(0, 0));
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
