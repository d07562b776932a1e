//! One direction of the ferry: packets under way from one device to the other, delivered at
//! the times the model gave them and in the order of those times. Not for: waiting (that is `ferry`).

use crate::clock::monotonic_ns;
use crate::device::Device;
use crate::hosts::Host;
use crate::model::{DirectionModel, Fate};
use crate::packet;
use crate::window::DirectionCounts;
use std::collections::VecDeque;

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
    /// Packets whose fate the model has not settled.
    waiting: VecDeque<Vec<u8>>,
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
            waiting: VecDeque::new(),
            under_way_bytes: 0,
            spare: Vec::new(),
        }
    }

    /// When something is next to be done: a packet is due, or the fate of one is settled.
    pub fn next_due_ns(&self) -> Option<u64> {
        let due_ns = self.under_way.front().map(|cargo| cargo.due_ns);
        match (due_ns, self.model.next_settlement_ns()) {
            (Some(due_ns), Some(settlement_ns)) => Some(due_ns.min(settlement_ns)),
            (due_ns, settlement_ns) => due_ns.or(settlement_ns),
        }
    }

    /// A packet came at `now_ns`: ask the model what becomes of it.
    pub fn take(&mut self, now_ns: u64, sender: Host, packet: &[u8], counts: &mut DirectionCounts) {
        counts.entered(packet.len());
        self.settle(now_ns, counts);
        if self.under_way_bytes >= UNDER_WAY_LIMIT_BYTES {
            counts.dropped_by_device(1);
            return;
        }
        let way = self.way_of(sender, packet);
        match self.model.arrival_by(now_ns, packet.len() as u32, way) {
            Fate::Drop(cause) => counts.dropped(cause),
            Fate::Release { at_ns } => {
                let packet = self.copy(packet);
                self.load(at_ns, packet);
            }
            Fate::Waits => {
                let packet = self.copy(packet);
                self.waiting.push_back(packet);
                self.settle(now_ns, counts);
            }
        }
    }

    fn way_of(&self, sender: Host, packet: &[u8]) -> Option<usize> {
        if self.model.far.is_empty() {
            return None;
        }
        let view = packet::view(packet)?;
        let server = match sender {
            Host::Client => view.destination,
            Host::Server => view.source,
        };
        self.model.far.way_to(server)
    }

    /// Act on the fates the model has settled since.
    fn settle(&mut self, now_ns: u64, counts: &mut DirectionCounts) {
        while let Some(fate) = self.model.settled(now_ns) {
            let Some(packet) = self.waiting.pop_front() else {
                break;
            };
            match fate {
                Fate::Release { at_ns } => self.load(at_ns, packet),
                Fate::Drop(cause) => {
                    counts.dropped(cause);
                    self.unload(packet);
                }
                // The model never settles a packet to wait on.
                Fate::Waits => self.waiting.push_front(packet),
            }
        }
    }

    /// Deliver to `device` everything due by `now_ns`; returns the time after the last write.
    pub fn deliver_due(
        &mut self,
        mut now_ns: u64,
        device: &mut Device,
        counts: &mut DirectionCounts,
    ) -> u64 {
        self.settle(now_ns, counts);
        while self
            .under_way
            .front()
            .is_some_and(|first| first.due_ns <= now_ns)
        {
            let Some(cargo) = self.under_way.pop_front() else {
                break;
            };
            let written = device.send(&cargo.packet);
            now_ns = monotonic_ns();
            match written {
                Ok(()) => counts.delivered(cargo.packet.len(), now_ns - cargo.due_ns),
                Err(_) => counts.dropped_by_device(1),
            }
            self.unload(cargo.packet);
            self.settle(now_ns, counts);
        }
        now_ns
    }

    fn copy(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.clear();
        packet.extend_from_slice(bytes);
        self.under_way_bytes += packet.len();
        packet
    }

    fn load(&mut self, due_ns: u64, packet: Vec<u8>) {
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
    use crate::device::TunDevice;
    use crate::far::FarServers;
    use crate::hosts::{CLIENT_ADDRESS, SERVER_ADDRESS};
    use nix::unistd::{pipe, read};
    use resolab_record::DirectionProfile;
    use std::net::Ipv4Addr;

    #[test]
    fn packets_are_delivered_in_the_order_they_are_due() {
        let mut lane = Lane::new(DirectionModel::new(&DirectionProfile::default(), "up", 1));
        for (due_ns, byte) in [(5, 2), (9, 4), (5, 3), (1, 1), (9, 5)] {
            let packet = lane.copy(&[byte]);
            lane.load(due_ns, packet);
        }
        let (reader, writer) = pipe().unwrap();
        let mut device = Device::Tun(TunDevice::new(writer));
        let mut counts = DirectionCounts::default();
        lane.deliver_due(8, &mut device, &mut counts);
        drop(device);
        let mut delivered = [0; 8];
        let length = read(&reader, &mut delivered).unwrap();
        assert_eq!(delivered[..length], [1, 2, 3, 4, 5]);
        assert_eq!(lane.under_way_bytes, 0);
    }

    #[test]
    fn the_servers_address_decides_in_either_direction() {
        let mut lane = Lane::new(DirectionModel::new(&DirectionProfile::default(), "up", 1));
        lane.model.far = FarServers::new(&[resolab_record::FarNetwork {
            network: "10.77.1.16/28".to_owned(),
            extra_one_way_delay_ms: 20.0,
        }]);
        let far = (Ipv4Addr::new(10, 77, 1, 17), 443);
        let client = (CLIENT_ADDRESS, 5_000);
        let up = packet::samples::ipv4(packet::UDP, client, far, b"x");
        let down = packet::samples::ipv4(packet::UDP, far, client, b"x");
        assert_eq!(lane.way_of(Host::Client, &up), Some(0));
        assert_eq!(lane.way_of(Host::Server, &down), Some(0));
        assert_eq!(lane.way_of(Host::Server, &up), None);
        let mut counts = DirectionCounts::default();
        lane.take(0, Host::Client, &up, &mut counts);
        assert_eq!(lane.next_due_ns(), Some(20_000_000));
        let near = packet::samples::ipv4(packet::UDP, client, (SERVER_ADDRESS, 53), b"x");
        lane.take(1, Host::Client, &near, &mut counts);
        assert_eq!(lane.next_due_ns(), Some(1));
    }

    #[test]
    fn packets_that_wait_are_delivered_or_counted() {
        let profile = DirectionProfile {
            rate_bps: Some(12_000.0),
            queue_bytes: Some(2_500),
            queue_discipline: Some(resolab_record::QueueDiscipline::Codel),
            ..DirectionProfile::default()
        };
        let mut lane = Lane::new(DirectionModel::new(&profile, "up", 1));
        let mut counts = DirectionCounts::default();
        let (reader, writer) = pipe().unwrap();
        let mut device = Device::Tun(TunDevice::new(writer));
        // The first goes onto the link at once, two wait, one does not fit; all come out by 3 s.
        for byte in 1..=4 {
            lane.take(0, Host::Client, &[byte; 1_000], &mut counts);
        }
        assert_eq!(lane.next_due_ns(), Some(666_666_666));
        for now_ms in (0..3_000).step_by(100) {
            lane.deliver_due(now_ms * 1_000_000, &mut device, &mut counts);
        }
        drop(device);
        let mut delivered = [0; 8_192];
        assert_eq!(read(&reader, &mut delivered).unwrap(), 3_000);
        assert_eq!(
            (delivered[0], delivered[1_000], delivered[2_000]),
            (1, 2, 3)
        );
        let summary = counts.summary();
        assert_eq!(
            (summary.packets_out_count, summary.dropped_queue_count),
            (3, 1)
        );
        assert_eq!((lane.under_way_bytes, lane.next_due_ns()), (0, None));
    }
}
