//! One direction of the ferry: packets under way from one TUN device to the other, delivered at
//! the times the model gave them and in the order of those times. Not for: waiting (that is `ferry`).

use crate::clock::monotonic_ns;
use crate::model::{DirectionModel, Fate};
use crate::window::DirectionCounts;
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};

/// Bytes under way at most, so that a flood into a link without a rate cannot use up memory; what
/// exceeds it counts as lost by the device.
const UNDER_WAY_LIMIT_BYTES: usize = 512 << 20;
/// Buffers kept for reuse.
const SPARE_LIMIT_COUNT: usize = 4_096;

/// One direction.
#[derive(Debug)]
pub struct Lane {
    /// The link.
    pub model: DirectionModel,
    under_way: VecDeque<Cargo>,
    under_way_bytes: usize,
    spare: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Cargo {
    due_ns: u64,
    packet: Vec<u8>,
}

impl Lane {
    /// An empty one.
    pub fn new(model: DirectionModel) -> Self {
        Self {
            model,
            under_way: VecDeque::new(),
            under_way_bytes: 0,
            spare: Vec::new(),
        }
    }

    /// When the next packet is due.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.under_way.front().map(|cargo| cargo.due_ns)
    }

    /// A packet came at `now_ns`: ask the model what becomes of it.
    pub fn take(&mut self, now_ns: u64, packet: &[u8], counts: &mut DirectionCounts) {
        counts.entered(packet.len());
        match self.model.arrival(now_ns, packet.len() as u32) {
            Fate::Drop(cause) => counts.dropped(cause),
            Fate::Release { .. } if self.under_way_bytes >= UNDER_WAY_LIMIT_BYTES => {
                counts.dropped_by_device(1);
            }
            Fate::Release { at_ns } => self.load(at_ns, packet),
        }
    }

    /// Deliver to `device` everything due by `now_ns`; returns the time after the last write.
    pub fn deliver_due(
        &mut self,
        mut now_ns: u64,
        device: BorrowedFd<'_>,
        counts: &mut DirectionCounts,
    ) -> u64 {
        while self.next_due_ns().is_some_and(|due_ns| due_ns <= now_ns) {
            let Some(cargo) = self.under_way.pop_front() else {
                break;
            };
            let written = nix::unistd::write(device.as_fd(), &cargo.packet);
            now_ns = monotonic_ns();
            match written {
                Ok(_) => counts.delivered(cargo.packet.len(), now_ns - cargo.due_ns),
                Err(_) => counts.dropped_by_device(1),
            }
            self.unload(cargo.packet);
        }
        now_ns
    }

    fn load(&mut self, due_ns: u64, bytes: &[u8]) {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.clear();
        packet.extend_from_slice(bytes);
        self.under_way_bytes += packet.len();
        let cargo = Cargo { due_ns, packet };
        // Nearly always in order already; the rest is a short move within the line.
        if self
            .under_way
            .back()
            .is_none_or(|last| last.due_ns <= due_ns)
        {
            self.under_way.push_back(cargo);
            return;
        }
        let place = self
            .under_way
            .partition_point(|other| other.due_ns <= due_ns);
        self.under_way.insert(place, cargo);
    }

    fn unload(&mut self, packet: Vec<u8>) {
        self.under_way_bytes -= packet.len();
        if self.spare.len() < SPARE_LIMIT_COUNT {
            self.spare.push(packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::unistd::{pipe, read};
    use resolab_record::DirectionProfile;

    #[test]
    fn packets_are_delivered_in_the_order_they_are_due() {
        let mut lane = Lane::new(DirectionModel::new(&DirectionProfile::default(), "up", 1));
        for (due_ns, byte) in [(5, 2), (9, 4), (5, 3), (1, 1), (9, 5)] {
            lane.load(due_ns, &[byte]);
        }
        let (reader, writer) = pipe().unwrap();
        let mut counts = DirectionCounts::default();
        lane.deliver_due(8, writer.as_fd(), &mut counts);
        drop(writer);
        let mut delivered = [0; 8];
        let length = read(&reader, &mut delivered).unwrap();
        assert_eq!(delivered[..length], [1, 2, 3, 4, 5]);
        assert_eq!(lane.under_way_bytes, 0);
    }
}
