//! Packets under way through the exchange, in the order in which something is to be done with them.
//! Not for: what that is (that is `exchange`).

use crate::devices::parcel::Parcel;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Bytes under way at most, so that a flood cannot use up memory; what exceeds it counts as lost by the
/// instrument.
const LIMIT_BYTES: usize = 512 << 20;
/// Buffers kept for reuse, and the largest that is kept.
const SPARE_LIMIT_COUNT: usize = 4_096;
const SPARE_LIMIT_BYTES: usize = 16_384;

/// What is to be done when it is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It comes to the receiving host's side of the exchange.
    Arrives,
    /// It is handed to the host.
    IsDelivered,
}

/// A packet, or a train of them that nothing has parted.
#[derive(Debug)]
pub struct Cargo {
    /// Whom it is for.
    pub to: usize,
    /// When.
    pub due_ns: u64,
    /// What.
    pub step: Step,
    /// The packets.
    pub parcel: Parcel,
    /// How many.
    pub count: usize,
}

#[derive(Debug)]
struct Entry {
    cargo: Cargo,
    /// Of two due at the same time that which was loaded first goes first.
    number: u64,
}

/// All of it.
#[derive(Debug, Default)]
pub struct UnderWay {
    heap: BinaryHeap<Entry>,
    loaded_count: u64,
    bytes: usize,
    spare: Vec<Parcel>,
}

impl UnderWay {
    /// A buffer.
    pub fn empty_parcel(&mut self) -> Parcel {
        self.spare.pop().unwrap_or_default()
    }

    /// Whether no more may be loaded.
    pub fn is_full(&self) -> bool {
        self.bytes >= LIMIT_BYTES
    }

    /// Put on the way.
    pub fn load(&mut self, cargo: Cargo) {
        self.bytes += cargo.parcel.packet().len();
        let number = self.loaded_count;
        self.loaded_count += 1;
        self.heap.push(Entry { cargo, number });
    }

    /// When something is next to be done.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.heap.peek().map(|entry| entry.cargo.due_ns)
    }

    /// The next that is due by `now_ns`.
    pub fn take_due(&mut self, now_ns: u64) -> Option<Cargo> {
        if self.next_due_ns()? > now_ns {
            return None;
        }
        let cargo = self.heap.pop()?.cargo;
        self.bytes -= cargo.parcel.packet().len();
        Some(cargo)
    }

    /// Have a buffer back.
    pub fn reuse(&mut self, parcel: Parcel) {
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

/// The heap gives its greatest first.
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

    fn cargo(to: usize, due_ns: u64) -> Cargo {
        let mut parcel = Parcel::default();
        parcel.fill(|bytes| {
            bytes.extend_from_slice(&[0; 100]);
            Offload::default()
        });
        Cargo {
            to,
            due_ns,
            step: Step::Arrives,
            parcel,
            count: 1,
        }
    }

    #[test]
    fn what_is_due_first_comes_first_and_equals_as_they_were_loaded() {
        let mut under_way = UnderWay::default();
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
        let mut under_way = UnderWay::default();
        assert!(!under_way.is_full());
        under_way.bytes = LIMIT_BYTES;
        assert!(under_way.is_full());
    }
}
