//! A packet between two devices, or a train of TCP segments kept whole by the link, with room in
//! front for the device's header. Not for: the packet's departure time.

use crate::devices::offload::Offload;

/// Room for the header of either kind of device.
const HEADROOM_BYTES: usize = 16;

/// A packet or train in a reusable buffer.
#[derive(Debug, Default)]
pub struct PacketBuffer {
    bytes: Vec<u8>,
    /// The work left to the receiving device.
    pub offload: Offload,
}

impl PacketBuffer {
    /// Replaces the content by the bytes appended by `fill`; `fill` returns the work left.
    pub fn fill(&mut self, fill: impl FnOnce(&mut Vec<u8>) -> Offload) {
        self.bytes.resize(HEADROOM_BYTES, 0);
        self.offload = fill(&mut self.bytes);
    }

    /// Returns the size of the allocated buffer, in bytes.
    pub fn capacity_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// Returns the bytes from the IP header on.
    pub fn packet(&self) -> &[u8] {
        self.bytes.get(HEADROOM_BYTES..).unwrap_or_default()
    }

    /// Returns the packet with this header of at most 16 bytes in front.
    pub fn prepend_header<const LENGTH: usize>(&mut self, header: [u8; LENGTH]) -> &[u8] {
        let start = HEADROOM_BYTES - LENGTH;
        self.bytes[start..HEADROOM_BYTES].copy_from_slice(&header);
        &self.bytes[start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parcel_is_filled_again_and_sent_behind_any_header() {
        let mut packet_buffer = PacketBuffer::default();
        for (packet, wanted) in [
            (&b"long packet"[..], &b"headlong packet"[..]),
            (b"x", b"headx"),
        ] {
            packet_buffer.fill(|bytes| {
                bytes.extend_from_slice(packet);
                Offload::default()
            });
            assert_eq!(packet_buffer.packet(), packet);
            assert_eq!(packet_buffer.prepend_header(*b"head"), wanted);
        }
        assert!(PacketBuffer::default().packet().is_empty());
    }
}
