//! The work left to us by a TUN device with offloads on (`struct virtio_net_hdr`, virtio 1.2,
//! section 5.1.6). Packets come with an unfinished checksum. Frames come with a train of TCP
//! segments, not yet cut by the sender's kernel. Cutting a frame here makes every segment a
//! separate packet for the model, at a fraction of the cost of reading each segment. Not for:
//! deciding whether to cut a frame (see `direction_queue`), nor for protocols other than TCP: the
//! kernel cuts their frames.

/// Length of the header in front of each packet.
pub const HEADER_BYTES: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const GSO_TCP_V4: u8 = 1;
const GSO_TCP_V6: u8 = 4;

const TCP_HEADER_BYTES: usize = 20;

/// Offset of the checksum in a UDP header; TCP has another offset.
const UDP_CHECKSUM_OFFSET: u16 = 6;

/// TCP flags: FIN and PSH belong to the last segment only, CWR to the first only.
const FIN_PSH: u8 = 0x01 | 0x08;
const CWR: u8 = 0x80;

/// The work left undone on a packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offload {
    flags: u8,
    gso_type: u8,
    header_bytes: u16,
    segment_bytes: u16,
    checksum_start: u16,
    checksum_offset: u16,
}

impl Offload {
    /// Reads the work left from a virtio header.
    pub fn decode(header: [u8; HEADER_BYTES]) -> Self {
        let [flags, gso_type, rest @ ..] = header;
        let field = |at: usize| u16::from_ne_bytes([rest[at], rest[at + 1]]);
        Self {
            flags,
            gso_type,
            header_bytes: field(0),
            segment_bytes: field(2),
            checksum_start: field(4),
            checksum_offset: field(6),
        }
    }

    /// Returns the work left as a virtio header.
    pub fn encode(self) -> [u8; HEADER_BYTES] {
        let mut header = [self.flags, self.gso_type, 0, 0, 0, 0, 0, 0, 0, 0];
        for (slot, field) in header[2..].chunks_exact_mut(2).zip([
            self.header_bytes,
            self.segment_bytes,
            self.checksum_start,
            self.checksum_offset,
        ]) {
            slot.copy_from_slice(&field.to_ne_bytes());
        }
        header
    }

    /// Finishes the checksum of a single packet, not a train.
    pub fn finish_checksum(self, packet: &mut [u8]) {
        let start = usize::from(self.checksum_start);
        let place = start + usize::from(self.checksum_offset);
        if self.flags & NEEDS_CHECKSUM == 0 || place + 2 > packet.len() {
            return;
        }
        // The field holds the pseudo-header's sum already. UDP's checksum of 0 is sent as its
        // complement, since 0 says there is none (RFC 768); TCP's is sent as 0 (RFC 1624, section
        // 3).
        let sum = match !fold(sum_of(&packet[start..])) {
            0 if self.checksum_offset == UDP_CHECKSUM_OFFSET => 0xffff,
            sum => sum,
        };
        packet[place..place + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

/// The division of a frame into packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Train {
    frame_bytes: usize,
    tcp_start: usize,
    header_bytes: usize,
    segment_bytes: usize,
    count: usize,
}

impl Train {
    /// Returns the division of a frame; a frame without a train of TCP segments is a single packet.
    pub fn divide_frame(offload: Offload, frame: &[u8]) -> Self {
        Self::from_segments(offload, frame).unwrap_or(Self {
            frame_bytes: frame.len(),
            tcp_start: 0,
            header_bytes: 0,
            segment_bytes: frame.len(),
            count: 1,
        })
    }

    fn from_segments(offload: Offload, frame: &[u8]) -> Option<Self> {
        if !matches!(offload.gso_type, GSO_TCP_V4 | GSO_TCP_V6) || offload.segment_bytes == 0 {
            return None;
        }
        let tcp_start = usize::from(offload.checksum_start);
        let header_bytes = tcp_start + usize::from(frame.get(tcp_start + 12)? >> 4) * 4;
        // Cutting writes into both headers, so they must be there.
        let ip_bytes = if frame[0] >> 4 == 6 { 40 } else { 20 };
        if tcp_start < ip_bytes || header_bytes < tcp_start + TCP_HEADER_BYTES {
            return None;
        }
        let payload_bytes = frame.len().checked_sub(header_bytes)?;
        let segment_bytes = usize::from(offload.segment_bytes);
        Some(Self {
            frame_bytes: frame.len(),
            tcp_start,
            header_bytes,
            segment_bytes,
            count: payload_bytes.div_ceil(segment_bytes).max(1),
        })
    }

    /// Returns the number of packets in the frame.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the IP length of packet `index`, in bytes.
    pub fn packet_bytes(&self, index: usize) -> usize {
        self.header_bytes + self.payload(index).len()
    }

    /// Returns the payload length of packet `index`, without the headers.
    pub fn payload_bytes(&self, index: usize) -> usize {
        self.payload(index).len()
    }

    /// Returns the IP length of all packets together, in bytes.
    pub fn total_bytes(&self) -> usize {
        self.frame_bytes + (self.count - 1) * self.header_bytes
    }

    /// Appends packet `index` of the frame to `packet`; the packet's checksum is still to be
    /// finished.
    pub fn cut(
        &self,
        offload: Offload,
        frame: &[u8],
        index: usize,
        packet: &mut Vec<u8>,
    ) -> Offload {
        if self.count == 1 {
            packet.extend_from_slice(frame);
            return offload;
        }
        let start = packet.len();
        packet.extend_from_slice(&frame[..self.header_bytes]);
        packet.extend_from_slice(&frame[self.payload(index)]);
        let own = &mut packet[start..];
        self.set_lengths(own, index);
        self.set_tcp_fields(own, index);
        Offload {
            flags: NEEDS_CHECKSUM,
            checksum_start: offload.checksum_start,
            checksum_offset: offload.checksum_offset,
            ..Offload::default()
        }
    }

    /// Returns the range of packet `index`'s payload in the frame.
    fn payload(&self, index: usize) -> std::ops::Range<usize> {
        let first = self.header_bytes + index * self.segment_bytes;
        first..(first + self.segment_bytes).min(self.frame_bytes)
    }

    /// Sets the lengths in the way of the kernel's own cutting: identifications count up (RFC 6864
    /// allows any value here).
    fn set_lengths(&self, packet: &mut [u8], index: usize) {
        let length = packet.len();
        if packet[0] >> 4 == 6 {
            packet[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
            return;
        }
        let identification = u16::from_be_bytes([packet[4], packet[5]]).wrapping_add(index as u16);
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        packet[4..6].copy_from_slice(&identification.to_be_bytes());
        packet[10..12].fill(0);
        let sum = !fold(sum_of(&packet[..self.tcp_start]));
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    }

    fn set_tcp_fields(&self, packet: &mut [u8], index: usize) {
        let pseudo_sum = self.pseudo_header_sum(packet);
        let tcp = &mut packet[self.tcp_start..];
        let sequence = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
        let own = sequence.wrapping_add((index * self.segment_bytes) as u32);
        tcp[4..8].copy_from_slice(&own.to_be_bytes());
        if index + 1 < self.count {
            tcp[13] &= !FIN_PSH;
        }
        if index > 0 {
            tcp[13] &= !CWR;
        }
        tcp[16..18].copy_from_slice(&pseudo_sum.to_be_bytes());
    }

    /// Returns the sum of addresses, protocol and length (RFC 9293, section 3.1).
    fn pseudo_header_sum(&self, packet: &[u8]) -> u16 {
        let addresses = if packet[0] >> 4 == 6 {
            &packet[8..40]
        } else {
            &packet[12..20]
        };
        let tcp_bytes = (packet.len() - self.tcp_start) as u64;
        fold(sum_of(addresses) + u64::from(crate::devices::packet::TCP) + tcp_bytes)
    }
}

/// Returns the Internet checksum's sum of 16-bit words (RFC 1071), not folded.
fn sum_of(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(2);
    let last = words
        .remainder()
        .first()
        .map_or(0, |byte| u64::from(*byte) << 8);
    words
        .map(|word| u64::from(u16::from_be_bytes([word[0], word[1]])))
        .sum::<u64>()
        + last
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::packet::{TCP, samples};
    use std::net::Ipv4Addr;

    const A: (Ipv4Addr, u16) = (Ipv4Addr::new(10, 77, 0, 2), 4_000);
    const B: (Ipv4Addr, u16) = (Ipv4Addr::new(10, 77, 1, 9), 443);

    /// Makes a train of TCP with PSH and FIN set, 20-byte header, over IPv4.
    fn frame(payload: &[u8]) -> Vec<u8> {
        let mut frame = samples::ipv4(TCP, A, B, payload);
        frame[20 + 12] = 5 << 4;
        frame[20 + 13] = 0x10 | FIN_PSH | CWR;
        frame[24..28].copy_from_slice(&(u32::MAX - 1_000).to_be_bytes());
        frame
    }

    fn offload(segment_bytes: u16) -> Offload {
        Offload {
            flags: NEEDS_CHECKSUM,
            gso_type: GSO_TCP_V4,
            header_bytes: 40,
            segment_bytes,
            checksum_start: 20,
            checksum_offset: 16,
        }
    }

    #[test]
    fn what_has_no_room_for_its_headers_is_one_packet() {
        let whole = frame(&[7; 100]);
        let is_one = |offload, frame: &[u8]| Train::divide_frame(offload, frame).count() == 1;
        assert!(!is_one(offload(30), &whole));
        let mut no_tcp_header = whole.clone();
        no_tcp_header[20 + 12] = 4 << 4;
        assert!(is_one(offload(30), &no_tcp_header));
        let mut no_ip_header = whole;
        no_ip_header[0] = 6 << 4;
        assert!(is_one(offload(30), &no_ip_header));
    }

    fn cut_all(frame: &[u8], offload: Offload) -> Vec<Vec<u8>> {
        let train = Train::divide_frame(offload, frame);
        (0..train.count())
            .map(|index| {
                let mut packet = Vec::new();
                let left = train.cut(offload, frame, index, &mut packet);
                left.finish_checksum(&mut packet);
                assert_eq!(packet.len(), train.packet_bytes(index));
                packet
            })
            .collect()
    }

    #[test]
    fn a_header_is_read_and_written_alike() {
        let wanted = offload(1_448);
        assert_eq!(Offload::decode(wanted.encode()), wanted);
        assert_eq!(wanted.encode()[..2], [NEEDS_CHECKSUM, GSO_TCP_V4]);
    }

    #[test]
    fn a_sum_of_nothing_is_zero_for_tcp_and_its_complement_for_udp() {
        for (checksum_offset, wanted) in [(16, [0, 0]), (UDP_CHECKSUM_OFFSET, [0xff, 0xff])] {
            let left = Offload {
                checksum_offset,
                ..offload(0)
            };
            let place = 20 + usize::from(checksum_offset);
            let mut packet = vec![0; 60];
            // The pseudo-header's sum makes the whole a sum of nothing.
            packet[place..place + 2].fill(0xff);
            left.finish_checksum(&mut packet);
            assert_eq!(packet[place..place + 2], wanted);
        }
    }

    #[test]
    fn segments_together_are_the_train() {
        let payload: Vec<u8> = (0..3_500_u32).map(|number| number as u8).collect();
        let packets = cut_all(&frame(&payload), offload(1_448));
        assert_eq!(
            packets.iter().map(Vec::len).collect::<Vec<_>>(),
            [1_488, 1_488, 644]
        );
        let joined: Vec<u8> = packets
            .iter()
            .flat_map(|packet| &packet[40..])
            .copied()
            .collect();
        assert_eq!(joined, payload);
        let train = Train::divide_frame(offload(1_448), &frame(&payload));
        assert_eq!(
            train.total_bytes(),
            packets.iter().map(Vec::len).sum::<usize>()
        );
    }

    #[test]
    fn each_segment_is_a_valid_packet() {
        let packets = cut_all(&frame(&[7; 3_001]), offload(1_000));
        for (index, packet) in packets.iter().enumerate() {
            assert_eq!(fold(sum_of(&packet[..20])), 0xffff, "IP checksum");
            let pseudo = sum_of(&packet[12..20]) + 6 + (packet.len() - 20) as u64;
            assert_eq!(fold(pseudo + sum_of(&packet[20..])), 0xffff, "TCP checksum");
            let total = u16::from_be_bytes([packet[2], packet[3]]);
            assert_eq!(usize::from(total), packet.len());
            let sequence = u32::from_be_bytes([packet[24], packet[25], packet[26], packet[27]]);
            let wanted = (u32::MAX - 1_000).wrapping_add(index as u32 * 1_000);
            assert_eq!(sequence, wanted);
            assert_eq!(u16::from_be_bytes([packet[4], packet[5]]), index as u16);
        }
        let flags: Vec<u8> = packets.iter().map(|packet| packet[33]).collect();
        assert_eq!(flags, [0x10 | CWR, 0x10, 0x10, 0x10 | FIN_PSH]);
    }

    #[test]
    fn over_ipv6_too() {
        let mut frame = vec![0; 60 + 2_500];
        frame[0] = 0x60;
        frame[6] = TCP;
        frame[23] = 1;
        frame[39] = 2;
        frame[52] = 5 << 4;
        let offload = Offload {
            gso_type: GSO_TCP_V6,
            checksum_start: 40,
            ..offload(1_000)
        };
        let packets = cut_all(&frame, offload);
        assert_eq!(packets.len(), 3);
        for packet in packets {
            let pseudo = sum_of(&packet[8..40]) + 6 + (packet.len() - 40) as u64;
            assert_eq!(fold(pseudo + sum_of(&packet[40..])), 0xffff);
            let payload = u16::from_be_bytes([packet[4], packet[5]]);
            assert_eq!(usize::from(payload), packet.len() - 40);
        }
    }

    #[test]
    fn what_is_no_train_is_one_packet() {
        let plain = frame(b"x");
        for frame in [
            Offload::default(),
            Offload {
                gso_type: 3,
                ..offload(100)
            },
            Offload {
                segment_bytes: 0,
                ..offload(100)
            },
            Offload {
                checksum_start: 9_000,
                ..offload(100)
            },
        ] {
            let train = Train::divide_frame(frame, &plain);
            assert_eq!((train.count(), train.total_bytes()), (1, plain.len()));
            let mut packet = Vec::new();
            assert_eq!(train.cut(frame, &plain, 0, &mut packet), frame);
            assert_eq!(packet, plain);
        }
    }
}
