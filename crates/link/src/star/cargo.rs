//! Packets under way through the exchange, in the order of their next steps. Not for: the steps
//! (see `exchange`).

use crate::devices::parcel::PacketBuffer;
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
pub enum Step {
    /// The packet arrives at the receiving host's side of the exchange.
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
    pub step: Step,
    /// The bytes of the packets.
    pub parcel: PacketBuffer,
    /// Number of packets in the cargo.
    pub count: usize,
}

#[derive(Debug)]
struct Entry {
    cargo: TransitPacket,
    /// Order of loading. Of two packets due at the same time, the first loaded goes first.
    number: u64,
}

/// All packets under way.
#[derive(Debug, Default)]
pub struct TransitQueue {
    heap: BinaryHeap<Entry>,
    loaded_count: u64,
    bytes: usize,
    spare: Vec<PacketBuffer>,
}

impl TransitQueue {
    /// Returns an empty buffer, reused if possible.
    pub fn empty_parcel(&mut self) -> PacketBuffer {
        self.spare.pop().unwrap_or_default()
    }

    /// Returns true when no more may be loaded.
    pub fn is_full(&self) -> bool {
        self.bytes >= LIMIT_BYTES
    }

    /// Adds packets to the packets under way.
    pub fn load(&mut self, cargo: TransitPacket) {
        self.bytes += cargo.parcel.packet().len();
        let number = self.loaded_count;
        self.loaded_count += 1;
        self.heap.push(Entry { cargo, number });
    }

    /// Returns the due time of the next step.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.heap.peek().map(|entry| entry.cargo.due_ns)
    }

    /// Takes the next packets due by `now_ns`.
    pub fn take_due(&mut self, now_ns: u64) -> Option<TransitPacket> {
        if self.next_due_ns()? > now_ns {
            return None;
        }
        let cargo = self.heap.pop()?.cargo;
        self.bytes -= cargo.parcel.packet().len();
        Some(cargo)
    }

    /// Takes a buffer back for reuse.
    pub fn reuse(&mut self, parcel: PacketBuffer) {
        if self.spare.len() < SPARE_LIMIT_COUNT && parcel.capacity_bytes() <= SPARE_LIMIT_BYTES {
            self.spare.push(parcel);
        }
    }
}

impl Entry {
    fn key(&self) -> (u64, u64) {
        (self.cargo.due_ns, self.number)
    }
}

/// Reverses the order, because the heap returns the greatest entry first.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::offload::Offload;

    fn cargo(to: usize, due_ns: u64) -> TransitPacket {
        let mut parcel = PacketBuffer::default();
        parcel.fill(|bytes| {
            bytes.extend_from_slice(&[0; 100]);
            Offload::default()
        });
        TransitPacket {
            to,
            due_ns,
            step: Step::Arrives,
            parcel,
            count: 1,
        }
    }

    #[test]
    fn what_is_due_first_comes_first_and_equals_as_they_were_loaded() {
        let mut under_way = TransitQueue::default();
        for (to, due_ns) in [(0, 30), (1, 10), (2, 20), (3, 10), (4, 10)] {
            under_way.load(cargo(to, due_ns));
        }
        assert_eq!((under_way.next_due_ns(), under_way.bytes), (Some(10), 500));
        assert!(under_way.take_due(9).is_none());
        let order: Vec<_> = std::iter::from_fn(|| Some(under_way.take_due(20)?.to)).collect();
        assert_eq!(order, [1, 3, 4, 2]);
        assert_eq!((under_way.next_due_ns(), under_way.bytes), (Some(30), 100));
    }

    #[test]
    fn there_is_a_limit() {
        let mut under_way = TransitQueue::default();
        assert!(!under_way.is_full());
        under_way.bytes = LIMIT_BYTES;
        assert!(under_way.is_full());
    }
}
