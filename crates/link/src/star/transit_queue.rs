//! Packets under way through the hub, in the order of their next steps. Not for: the steps
//! (see `hub`).

use crate::devices::packet_buffer::PacketBuffer;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Maximum number of bytes under way. A flood can therefore not use up memory; the excess counts as
/// lost by the instrument.
const LIMIT_BYTES: usize = 512 << 20;
/// Number of buffers kept for reuse, and the size of the largest buffer kept.
const SPARE_LIMIT_COUNT: usize = 4_096;
const SPARE_LIMIT_BYTES: usize = 16_384;

/// The next step of a packet, at the due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransitStep {
    /// The packet arrives at the receiving host's side of the hub.
    Arrives,
    /// The packet is handed to the host.
    IsDelivered,
}

/// A packet, or a train still whole.
#[derive(Debug)]
pub struct TransitPacket {
    /// Number of the receiving host.
    pub to: usize,
    /// Due time of the next step, in ns.
    pub due_ns: u64,
    /// Next step of the packet.
    pub step: TransitStep,
    /// The bytes of the packets.
    pub packet_buffer: PacketBuffer,
    /// Number of packets in transit.
    pub count: usize,
}

#[derive(Debug)]
struct TransitEntry {
    transit: TransitPacket,
    /// Order of loading. Of two packets due at the same time, the first loaded goes first.
    number: u64,
}

/// All packets under way.
#[derive(Debug, Default)]
pub struct TransitQueue {
    heap: BinaryHeap<TransitEntry>,
    loaded_count: u64,
    bytes: usize,
    spare: Vec<PacketBuffer>,
}

impl TransitQueue {
    /// Returns an empty buffer, reused if possible.
    pub fn empty_buffer(&mut self) -> PacketBuffer {
        self.spare.pop().unwrap_or_default()
    }

    /// Returns true when no more may be loaded.
    pub fn is_full(&self) -> bool {
        self.bytes >= LIMIT_BYTES
    }

    /// Adds packets to the packets under way.
    pub fn load(&mut self, transit: TransitPacket) {
        self.bytes += transit.packet_buffer.packet().len();
        let number = self.loaded_count;
        self.loaded_count += 1;
        self.heap.push(TransitEntry { transit, number });
    }

    /// Returns the due time of the next step.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.heap.peek().map(|entry| entry.transit.due_ns)
    }

    /// Takes the next packets due by `now_ns`.
    pub fn take_due(&mut self, now_ns: u64) -> Option<TransitPacket> {
        if self.next_due_ns()? > now_ns {
            return None;
        }
        let transit = self.heap.pop()?.transit;
        self.bytes -= transit.packet_buffer.packet().len();
        Some(transit)
    }

    /// Takes a buffer back for reuse.
    pub fn reuse(&mut self, packet_buffer: PacketBuffer) {
        if self.spare.len() < SPARE_LIMIT_COUNT
            && packet_buffer.capacity_bytes() <= SPARE_LIMIT_BYTES
        {
            self.spare.push(packet_buffer);
        }
    }
}

impl TransitEntry {
    fn key(&self) -> (u64, u64) {
        (self.transit.due_ns, self.number)
    }
}

/// Reverses the order, because the heap returns the greatest entry first.
impl Ord for TransitEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for TransitEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for TransitEntry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for TransitEntry {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::offload::Offload;

    fn transit(to: usize, due_ns: u64) -> TransitPacket {
        let mut packet_buffer = PacketBuffer::default();
        packet_buffer.fill(|bytes| {
            bytes.extend_from_slice(&[0; 100]);
            Offload::default()
        });
        TransitPacket {
            to,
            due_ns,
            step: TransitStep::Arrives,
            packet_buffer,
            count: 1,
        }
    }

    #[test]
    fn what_is_due_first_comes_first_and_equals_as_they_were_loaded() {
        let mut in_transit = TransitQueue::default();
        for (to, due_ns) in [(0, 30), (1, 10), (2, 20), (3, 10), (4, 10)] {
            in_transit.load(transit(to, due_ns));
        }
        assert_eq!(
            (in_transit.next_due_ns(), in_transit.bytes),
            (Some(10), 500)
        );
        assert!(in_transit.take_due(9).is_none());
        let order: Vec<_> = std::iter::from_fn(|| Some(in_transit.take_due(20)?.to)).collect();
        assert_eq!(order, [1, 3, 4, 2]);
        assert_eq!(
            (in_transit.next_due_ns(), in_transit.bytes),
            (Some(30), 100)
        );
    }

    #[test]
    fn there_is_a_limit() {
        let mut in_transit = TransitQueue::default();
        assert!(!in_transit.is_full());
        in_transit.bytes = LIMIT_BYTES;
        assert!(in_transit.is_full());
    }
}
