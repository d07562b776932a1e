//! Reading the few header fields the tap needs from an IP packet. Not for: checking packets; what
//! cannot be read is carried all the same and counted as not recognised.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IP protocol number of TCP.
pub const TCP: u8 = 6;
/// IP protocol number of UDP.
pub const UDP: u8 = 17;

const IPV4_HEADER_BYTES: usize = 20;
const IPV6_HEADER_BYTES: usize = 40;
const UDP_HEADER_BYTES: usize = 8;

/// What the tap looks at.
#[derive(Debug, PartialEq, Eq)]
pub struct PacketView<'a> {
    /// IP protocol number.
    pub protocol: u8,
    /// Sender.
    pub source: IpAddr,
    /// Receiver.
    pub destination: IpAddr,
    /// Source and destination port of TCP and UDP, except in fragments after the first.
    pub ports: Option<(u16, u16)>,
    /// What a UDP datagram carries; empty for everything else.
    pub udp_payload: &'a [u8],
}

/// Read a packet; `None` if it is not IPv4 or IPv6.
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
        packet.get(header_bytes..)?
    };
    Some(with_segment(header[9], address(12), address(16), segment))
}

fn view_ipv6(packet: &[u8]) -> Option<PacketView<'_>> {
    let header = packet.get(..IPV6_HEADER_BYTES)?;
    let address = |at: usize| {
        let octets: [u8; 16] = header[at..at + 16].try_into().unwrap_or_default();
        IpAddr::V6(Ipv6Addr::from(octets))
    };
    // Extension headers are not walked: the protocol is then the first extension's number.
    Some(with_segment(
        header[6],
        address(8),
        address(24),
        &packet[IPV6_HEADER_BYTES..],
    ))
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
    let udp_payload = if protocol == UDP {
        segment.get(UDP_HEADER_BYTES..).unwrap_or(&[])
    } else {
        &[]
    };
    PacketView {
        protocol,
        source,
        destination,
        ports,
        udp_payload,
    }
}

#[cfg(test)]
pub mod samples {
    //! Packets for tests of this crate.

    use super::{TCP, UDP};
    use std::net::Ipv4Addr;

    /// An IPv4 packet with empty checksums.
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
            TCP => packet.extend([0; 16]),
            _ => {}
        }
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
        assert_eq!(view.udp_payload, b"hello");
    }

    #[test]
    fn a_later_fragment_has_no_ports() {
        let mut packet = samples::ipv4(UDP, (A, 4_000), (B, 443), b"hello");
        packet[7] = 1;
        let view = view(&packet).unwrap();
        assert_eq!((view.ports, view.udp_payload), (None, &[][..]));
    }

    #[test]
    fn reads_udp_over_ipv6() {
        let mut packet = vec![0; 40];
        packet[0] = 0x60;
        packet[6] = UDP;
        packet[23] = 1;
        packet[39] = 2;
        packet.extend([0, 53, 0, 54, 0, 9, 0, 0, 7]);
        let view = view(&packet).unwrap();
        assert_eq!(view.source, "::1".parse::<IpAddr>().unwrap());
        assert_eq!((view.ports, view.udp_payload), (Some((53, 54)), &[7][..]));
    }

    #[test]
    fn short_or_foreign_packets_do_not_panic() {
        let packet = samples::ipv4(TCP, (A, 1), (B, 2), b"");
        for length in 0..packet.len() {
            let _ = view(&packet[..length]);
        }
        assert_eq!(view(&[]), None);
        assert_eq!(view(&[0x10; 60]), None);
        assert_eq!(view(&[0x6f; 39]), None);
    }
}
