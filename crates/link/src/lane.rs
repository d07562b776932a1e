//! One direction of the ferry: packets under way from one device to the other, delivered at
//! the times the model gave them and in the order of those times. Not for: waiting (that is `ferry`).

use crate::clock::monotonic_ns;
use crate::device::Device;
use crate::hosts::Host;
use crate::model::{DirectionModel, Fate};
use crate::packet;
use crate::tap::FlowHandle;
use crate::window::Observer;
use std::collections::VecDeque;

/// Bytes under way at most, so that a flood into a link without a rate cannot use up memory; what
/// exceeds it counts as lost by the device.
const UNDER_WAY_LIMIT_BYTES: usize = 512 << 20;
/// Buffers kept for reuse.
const SPARE_LIMIT_COUNT: usize = 4_096;

/// One direction.
#[derive(Debug)]
pub struct Lane {
    sender: Host,
    /// The link.
    pub model: DirectionModel,
    under_way: VecDeque<Cargo>,
    /// Packets whose fate the model has not settled.
    waiting: VecDeque<Cargo>,
    under_way_bytes: usize,
    spare: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Cargo {
    entered_ns: u64,
    flow: FlowHandle,
    packet: Vec<u8>,
    /// 0 until it is known.
    due_ns: u64,
}

impl Lane {
    /// An empty one for what `sender` sends.
    pub fn new(sender: Host, model: DirectionModel) -> Self {
        Self {
            sender,
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
    pub fn take(&mut self, now_ns: u64, packet: &[u8], observer: &mut Observer) {
        let flow = observer.entered(self.sender, now_ns, packet);
        self.settle(now_ns, observer);
        if self.under_way_bytes >= UNDER_WAY_LIMIT_BYTES {
            observer.not_taken(self.sender, now_ns, packet);
            return;
        }
        let way = self.way_of(packet);
        match self.model.arrival_by(now_ns, packet.len() as u32, way) {
            Fate::Drop(cause) => observer.dropped(self.sender, now_ns, packet, cause),
            Fate::Release { at_ns } => {
                observer.admitted(self.sender, now_ns, packet);
                let cargo = self.cargo(now_ns, flow, packet);
                self.load(at_ns, cargo);
            }
            Fate::Waits => {
                let cargo = self.cargo(now_ns, flow, packet);
                self.waiting.push_back(cargo);
                self.settle(now_ns, observer);
            }
        }
    }

    fn way_of(&self, packet: &[u8]) -> Option<usize> {
        if self.model.far.is_empty() {
            return None;
        }
        let view = packet::view(packet)?;
        let server = match self.sender {
            Host::Client => view.destination,
            Host::Server => view.source,
        };
        self.model.far.way_to(server)
    }

    /// Act on the fates the model has settled since.
    pub fn settle(&mut self, now_ns: u64, observer: &mut Observer) {
        while let Some(fate) = self.model.settled(now_ns) {
            let Some(cargo) = self.waiting.pop_front() else {
                break;
            };
            match fate {
                Fate::Release { at_ns } => {
                    observer.admitted(self.sender, cargo.entered_ns, &cargo.packet);
                    self.load(at_ns, cargo);
                }
                Fate::Drop(cause) => {
                    observer.dropped(self.sender, cargo.entered_ns, &cargo.packet, cause);
                    self.unload(cargo.packet);
                }
                // The model never settles a packet to wait on.
                Fate::Waits => self.waiting.push_front(cargo),
            }
        }
    }

    /// Deliver to `device` everything due by `now_ns`; returns the time after the last write.
    pub fn deliver_due(
        &mut self,
        mut now_ns: u64,
        device: &mut Device,
        observer: &mut Observer,
    ) -> u64 {
        self.settle(now_ns, observer);
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
            let (flow, lateness_ns) = (cargo.flow, now_ns - cargo.due_ns);
            match written {
                Ok(()) => {
                    observer.delivered(self.sender, flow, now_ns, lateness_ns, &cargo.packet);
                }
                Err(_) => observer.refused(self.sender, now_ns, &cargo.packet),
            }
            self.unload(cargo.packet);
            self.settle(now_ns, observer);
        }
        now_ns
    }

    fn cargo(&mut self, entered_ns: u64, flow: FlowHandle, bytes: &[u8]) -> Cargo {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.clear();
        packet.extend_from_slice(bytes);
        self.under_way_bytes += packet.len();
        Cargo {
            entered_ns,
            flow,
            packet,
            due_ns: 0,
        }
    }

    fn load(&mut self, due_ns: u64, cargo: Cargo) {
        let cargo = Cargo { due_ns, ..cargo };
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

    fn up_lane(profile: &DirectionProfile) -> Lane {
        Lane::new(Host::Client, DirectionModel::new(profile, "up", 1))
    }

    #[test]
    fn packets_are_delivered_in_the_order_they_are_due() {
        let mut lane = up_lane(&DirectionProfile::default());
        let mut observer = Observer::default();
        for (due_ns, byte) in [(5, 2), (9, 4), (5, 3), (1, 1), (9, 5)] {
            let flow = observer.entered(Host::Client, 0, &[byte]);
            let cargo = lane.cargo(0, flow, &[byte]);
            lane.load(due_ns, cargo);
        }
        let (reader, writer) = pipe().unwrap();
        let mut device = Device::Tun(TunDevice::new(writer));
        lane.deliver_due(8, &mut device, &mut observer);
        drop(device);
        let mut delivered = [0; 8];
        let length = read(&reader, &mut delivered).unwrap();
        assert_eq!(delivered[..length], [1, 2, 3, 4, 5]);
        assert_eq!(lane.under_way_bytes, 0);
    }

    #[test]
    fn the_servers_address_decides_in_either_direction() {
        let mut lane = up_lane(&DirectionProfile::default());
        lane.model.far = FarServers::new(&[resolab_record::FarNetwork {
            network: "10.77.1.16/28".to_owned(),
            extra_one_way_delay_ms: 20.0,
        }]);
        let far = (Ipv4Addr::new(10, 77, 1, 17), 443);
        let client = (CLIENT_ADDRESS, 5_000);
        let up = packet::samples::ipv4(packet::UDP, client, far, b"x");
        let down = packet::samples::ipv4(packet::UDP, far, client, b"x");
        assert_eq!(lane.way_of(&up), Some(0));
        lane.sender = Host::Server;
        assert_eq!(lane.way_of(&down), Some(0));
        assert_eq!(lane.way_of(&up), None);
        lane.sender = Host::Client;
        let mut observer = Observer::default();
        lane.take(0, &up, &mut observer);
        assert_eq!(lane.next_due_ns(), Some(20_000_000));
        let near = packet::samples::ipv4(packet::UDP, client, (SERVER_ADDRESS, 53), b"x");
        lane.take(1, &near, &mut observer);
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
        let mut lane = up_lane(&profile);
        let mut observer = Observer::default();
        let (reader, writer) = pipe().unwrap();
        let mut device = Device::Tun(TunDevice::new(writer));
        // The first goes onto the link at once, two wait, one does not fit; all come out by 3 s.
        for byte in 1..=4 {
            lane.take(0, &[byte; 1_000], &mut observer);
        }
        assert_eq!(lane.next_due_ns(), Some(666_666_666));
        for now_ms in (0..3_000).step_by(100) {
            lane.deliver_due(now_ms * 1_000_000, &mut device, &mut observer);
        }
        drop(device);
        let mut delivered = [0; 8_192];
        assert_eq!(read(&reader, &mut delivered).unwrap(), 3_000);
        assert_eq!(
            (delivered[0], delivered[1_000], delivered[2_000]),
            (1, 2, 3)
        );
        let summary = observer.window().up.summary();
        assert_eq!(
            (summary.packets_out_count, summary.dropped_queue_count),
            (3, 1)
        );
        assert_eq!((lane.under_way_bytes, lane.next_due_ns()), (0, None));
    }
}
