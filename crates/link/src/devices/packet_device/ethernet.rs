//! Ethernet around IP packets: a frame's header and payload. Not for: any other payload, nor for
//! tags.

/// Length of an Ethernet header: destination, source, EtherType.
pub const HEADER_BYTES: usize = 14;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
const ETHERTYPE_IPV6: [u8; 2] = [0x86, 0xdd];

/// A hardware (MAC) address of six bytes.
pub type HardwareAddress = [u8; 6];

/// Returns the header of a frame carrying `packet`; `None` when the packet is neither IPv4 nor
/// IPv6.
pub fn header(
    destination: HardwareAddress,
    source: HardwareAddress,
    packet: &[u8],
) -> Option<[u8; HEADER_BYTES]> {
    let ethertype = match packet.first()? >> 4 {
        4 => ETHERTYPE_IPV4,
        6 => ETHERTYPE_IPV6,
        _ => return None,
    };
    let mut header = [0; HEADER_BYTES];
    header[..6].copy_from_slice(&destination);
    header[6..12].copy_from_slice(&source);
    header[12..].copy_from_slice(&ethertype);
    Some(header)
}

/// Returns the IP packet in `frame`; `None` when the frame has any other payload.
pub fn ip_packet(frame: &[u8]) -> Option<&[u8]> {
    let (header, packet) = frame.split_at_checked(HEADER_BYTES)?;
    [ETHERTYPE_IPV4, ETHERTYPE_IPV6]
        .iter()
        .any(|ethertype| header[12..] == *ethertype)
        .then_some(packet)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: HardwareAddress = [2, 0, 0, 0, 0, 1];
    const THERE: HardwareAddress = [2, 0, 0, 0, 0, 2];

    #[test]
    fn the_version_decides_the_ethertype() {
        for (first_byte, ethertype) in [(0x45, [0x08, 0x00]), (0x60, [0x86, 0xdd])] {
            let header = header(THERE, HERE, &[first_byte, 9]).unwrap();
            assert_eq!(header[..6], THERE);
            assert_eq!(header[6..12], HERE);
            assert_eq!(header[12..], ethertype);
            let frame = [&header[..], &[first_byte, 9]].concat();
            assert_eq!(ip_packet(&frame), Some(&[first_byte, 9][..]));
        }
        assert_eq!(header(THERE, HERE, &[0x15]), None);
        assert_eq!(header(THERE, HERE, &[]), None);
    }

    #[test]
    fn other_frames_hold_no_ip_packet() {
        let mut frame = header(THERE, HERE, &[0x45]).unwrap().to_vec();
        assert_eq!(ip_packet(&frame), Some(&[][..]));
        // ARP, then a frame cut short.
        frame[13] = 0x06;
        assert_eq!(ip_packet(&frame), None);
        assert_eq!(ip_packet(&frame[..13]), None);
    }
}
