//! A packet on its way between two devices, or a train of TCP segments that the link did not part,
//! with room in front for the header its device wants. Not for: when it is due.

use crate::devices::offload::Offload;

/// Enough for the header of either kind of device.
const HEADROOM_BYTES: usize = 16;

/// In a buffer that can be used again.
#[derive(Debug, Default)]
pub struct Parcel {
    bytes: Vec<u8>,
    /// What its device has left to do.
    pub offload: Offload,
}

impl Parcel {
    /// Have it hold what `fill` appends, which returns what is left to do.
    pub fn fill(&mut self, fill: impl FnOnce(&mut Vec<u8>) -> Offload) {
        self.bytes.resize(HEADROOM_BYTES, 0);
        self.offload = fill(&mut self.bytes);
    }

    /// Bytes of memory it holds.
    pub fn capacity_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// From the IP header on.
    pub fn packet(&self) -> &[u8] {
        self.bytes.get(HEADROOM_BYTES..).unwrap_or_default()
    }

    /// The packet behind this header of at most 16 bytes.
    pub fn behind<const LENGTH: usize>(&mut self, header: [u8; LENGTH]) -> &[u8] {
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
        let mut parcel = Parcel::default();
        for (packet, wanted) in [
            (&b"long packet"[..], &b"headlong packet"[..]),
            (b"x", b"headx"),
        ] {
            parcel.fill(|bytes| {
                bytes.extend_from_slice(packet);
                Offload::default()
            });
            assert_eq!(parcel.packet(), packet);
            assert_eq!(parcel.behind(*b"head"), wanted);
        }
        assert!(Parcel::default().packet().is_empty());
    }
}
