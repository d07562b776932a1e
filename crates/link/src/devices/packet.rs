//! Reads the few header fields of an IP packet needed by the tap. Not for: checking packets; an
//! unreadable packet is carried all the same and counted as not recognised.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IP protocol number of TCP.
pub const TCP: u8 = 6;
/// IP protocol number of UDP.
pub const UDP: u8 = 17;
/// TCP's flags (RFC 9293 section 3.1).
const FIN: u8 = 0x01;
const SYN: u8 = 0x02;

const IPV4_HEADER_BYTES: usize = 20;
const IPV6_HEADER_BYTES: usize = 40;
const UDP_HEADER_BYTES: usize = 8;
const TCP_HEADER_BYTES: usize = 20;

/// The packet fields used by the tap.
#[derive(Debug, PartialEq, Eq)]
pub struct PacketView<'a> {
    /// IP protocol number, for example [`TCP`] or [`UDP`].
    pub protocol: u8,
    /// IP address of the sender.
    pub source: IpAddr,
    /// IP address of the receiver.
    pub destination: IpAddr,
    /// Source and destination port of TCP and UDP, except in fragments after the first.
    pub ports: Option<(u16, u16)>,
    /// The bytes after the IP header, of the length given there; empty in fragments after the
    /// first.
    segment: &'a [u8],
}

/// The sequence space a TCP segment takes (RFC 9293 section 3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceRange {
    /// Sequence number of the first byte, or of the SYN.
    pub start: u32,
    /// Bytes of payload, plus 1 for a SYN and 1 for a FIN; 0 for a pure acknowledgement.
    pub length: u32,
    /// True when the segment is a SYN, opening the connection in this direction.
    pub is_syn: bool,
}

impl<'a> PacketView<'a> {
    /// Returns the payload of a UDP datagram; empty for every other packet.
    pub fn udp_payload(&self) -> &'a [u8] {
        match self.protocol {
            UDP => self.segment.get(UDP_HEADER_BYTES..).unwrap_or(&[]),
            _ => &[],
        }
    }

    /// Returns the sequence space of a TCP segment; `None` for every other packet.
    pub fn tcp_range(&self) -> Option<SequenceRange> {
        if self.protocol != TCP {
            return None;
        }
        let header = self.segment.first_chunk::<TCP_HEADER_BYTES>()?;
        let header_bytes = usize::from(header[12] >> 4) * 4;
        let payload_bytes = self.segment.len().checked_sub(header_bytes)?;
        let flags = header[13];
        let is_syn = flags & SYN != 0;
        Some(SequenceRange {
            start: u32::from_be_bytes([header[4], header[5], header[6], header[7]]),
            length: payload_bytes as u32 + u32::from(is_syn) + u32::from(flags & FIN != 0),
            is_syn,
        })
    }
}

/// Reads a packet; `None` when the packet is neither IPv4 nor IPv6.
pub fn view(packet: &[u8]) -> Option<PacketView<'_>> {
    match packet.first()? >> 4 {
        4 => view_ipv4(packet),
        6 => view_ipv6(packet),
        _ => None,
    }
}

fn view_ipv4(packet: &[u8]) -> Option<PacketView<'_>> {
    let header = packet.get(..IPV4_HEADER_BYTES)?;
    let header_bytes = usize::from(header[0] & 0x0f) * 4;
    let address = |at: usize| {
        IpAddr::V4(Ipv4Addr::new(
            header[at],
            header[at + 1],
            header[at + 2],
            header[at + 3],
        ))
    };
    let later_fragment = u16::from_be_bytes([header[6], header[7]]) & 0x1fff != 0;
    let segment = if later_fragment {
        &[]
    } else {
        let packet_bytes = usize::from(u16::from_be_bytes([header[2], header[3]]));
        trim_padding(packet, packet_bytes, header_bytes).get(header_bytes..)?
    };
    Some(with_segment(header[9], address(12), address(16), segment))
}

fn view_ipv6(packet: &[u8]) -> Option<PacketView<'_>> {
    let header = packet.get(..IPV6_HEADER_BYTES)?;
    let address = |at: usize| {
        let octets: [u8; 16] = header[at..at + 16].try_into().unwrap_or_default();
        IpAddr::V6(Ipv6Addr::from(octets))
    };
    let packet_bytes = IPV6_HEADER_BYTES + usize::from(u16::from_be_bytes([header[4], header[5]]));
    // Extension headers are not walked: the protocol is then the first extension's number.
    Some(with_segment(
        header[6],
        address(8),
        address(24),
        &trim_padding(packet, packet_bytes, IPV6_HEADER_BYTES + 1)[IPV6_HEADER_BYTES..],
    ))
}

/// Returns the packet without padding from the link layer below. Returns the whole packet if the
/// header gives more bytes than are there, or fewer than possible (as for jumbograms).
fn trim_padding(packet: &[u8], said_bytes: usize, least_bytes: usize) -> &[u8] {
    let said = packet.get(..said_bytes).unwrap_or(packet);
    if said_bytes < least_bytes {
        packet
    } else {
        said
    }
}

fn with_segment(
    protocol: u8,
    source: IpAddr,
    destination: IpAddr,
    segment: &[u8],
) -> PacketView<'_> {
    let ports = match (protocol, segment) {
        (TCP | UDP, [s0, s1, d0, d1, ..]) => Some((
            u16::from_be_bytes([*s0, *s1]),
            u16::from_be_bytes([*d0, *d1]),
        )),
        _ => None,
    };
    PacketView {
        protocol,
        source,
        destination,
        ports,
        segment,
    }
}

#[cfg(test)]
pub mod samples {
    //! Packets for tests of this crate.

    use super::{TCP, UDP};
    use std::net::{Ipv4Addr, Ipv6Addr};

    /// Makes an IPv4 packet with empty checksums.
    pub fn ipv4(
        protocol: u8,
        source: (Ipv4Addr, u16),
        destination: (Ipv4Addr, u16),
        payload: &[u8],
    ) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0];
        packet.extend(source.0.octets());
        packet.extend(destination.0.octets());
        packet.extend(source.1.to_be_bytes());
        packet.extend(destination.1.to_be_bytes());
        match protocol {
            UDP => packet.extend([0; 4]),
            TCP => packet.extend([0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0, 0, 0, 0, 0, 0, 0]),
            _ => {}
        }
        packet.extend(payload);
        let packet_bytes = packet.len() as u16;
        packet[2..4].copy_from_slice(&packet_bytes.to_be_bytes());
        packet
    }

    /// Makes a TCP segment over IPv4.
    pub fn tcp(
        source: (Ipv4Addr, u16),
        destination: (Ipv4Addr, u16),
        start: u32,
        flags: u8,
        payload: &[u8],
    ) -> Vec<u8> {
        let mut packet = ipv4(TCP, source, destination, payload);
        packet[24..28].copy_from_slice(&start.to_be_bytes());
        packet[33] = flags;
        packet
    }

    /// Makes a UDP datagram over IPv6 with an empty checksum.
    pub fn udp_over_ipv6(
        source: (Ipv6Addr, u16),
        destination: (Ipv6Addr, u16),
        payload: &[u8],
    ) -> Vec<u8> {
        let datagram_bytes = (payload.len() + 8) as u16;
        let mut packet = vec![0x60, 0, 0, 0];
        packet.extend(datagram_bytes.to_be_bytes());
        packet.extend([UDP, 64]);
        packet.extend(source.0.octets());
        packet.extend(destination.0.octets());
        packet.extend(source.1.to_be_bytes());
        packet.extend(destination.1.to_be_bytes());
        packet.extend(datagram_bytes.to_be_bytes());
        packet.extend([0; 2]);
        packet.extend(payload);
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
    const B: Ipv4Addr = Ipv4Addr::new(10, 77, 1, 9);

    #[test]
    fn reads_udp_over_ipv4() {
        let packet = samples::ipv4(UDP, (A, 4_000), (B, 443), b"hello");
        let view = view(&packet).unwrap();
        assert_eq!(
            (view.source, view.destination),
            (IpAddr::V4(A), IpAddr::V4(B))
        );
        assert_eq!(view.ports, Some((4_000, 443)));
        assert_eq!(view.udp_payload(), b"hello");
    }

    #[test]
    fn a_later_fragment_has_no_ports() {
        let mut packet = samples::ipv4(UDP, (A, 4_000), (B, 443), b"hello");
        packet[7] = 1;
        let view = view(&packet).unwrap();
        assert_eq!((view.ports, view.udp_payload()), (None, &[][..]));
    }

    #[test]
    fn reads_udp_over_ipv6() {
        let address = |last| Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, last);
        let packet = samples::udp_over_ipv6((address(1), 53), (address(2), 54), &[7]);
        let view = view(&packet).unwrap();
        assert_eq!(view.source, "::1".parse::<IpAddr>().unwrap());
        assert_eq!((view.ports, view.udp_payload()), (Some((53, 54)), &[7][..]));
    }

    #[test]
    fn padding_is_no_payload() {
        let mut packet = samples::ipv4(UDP, (A, 4_000), (B, 443), b"hello");
        packet.extend([0; 13]);
        assert_eq!(view(&packet).unwrap().udp_payload(), b"hello");
        let mut packet = samples::tcp((A, 1), (B, 2), 9, 0x10, b"");
        packet.extend([0; 6]);
        assert_eq!(view(&packet).unwrap().tcp_range().unwrap().length, 0);
        // A length that cannot be says nothing.
        packet[2..4].fill(0);
        assert_eq!(view(&packet).unwrap().tcp_range().unwrap().length, 6);
    }

    #[test]
    fn syn_fin_and_payload_take_sequence_space() {
        let range = |flags, payload: &[u8]| {
            let packet = samples::tcp((A, 1), (B, 2), 0x8000_0001, flags, payload);
            view(&packet).unwrap().tcp_range().unwrap()
        };
        let expected = |length, is_syn| SequenceRange {
            start: 0x8000_0001,
            length,
            is_syn,
        };
        assert_eq!(range(0x10, b""), expected(0, false));
        assert_eq!(range(SYN, b""), expected(1, true));
        assert_eq!(range(0x10 | FIN, b"abc"), expected(4, false));
        let udp = samples::ipv4(UDP, (A, 1), (B, 2), &[0; 30]);
        assert_eq!(view(&udp).unwrap().tcp_range(), None);
    }

    #[test]
    fn short_or_foreign_packets_do_not_panic() {
        let packet = samples::ipv4(TCP, (A, 1), (B, 2), b"");
        for length in 0..packet.len() {
            if let Some(view) = view(&packet[..length]) {
                assert_eq!((view.tcp_range(), view.udp_payload()), (None, &[][..]));
            }
        }
        assert_eq!(view(&[]), None);
        assert_eq!(view(&[0x10; 60]), None);
        assert_eq!(view(&[0x6f; 39]), None);
    }
}
