//! One direction of the ferry: packets under way between the two devices, delivered at the model's
//! times and in the order of these times. Not for: waiting (see `ferry`).

use crate::carrying::window::{Delivery, Observer};
use crate::clock::monotonic_ns;
use crate::devices::offload::Train;
use crate::devices::packet;
use crate::devices::parcel::PacketBuffer;
use crate::devices::{arrival::Arrival, device::Device};
use crate::hosts::Host;
use crate::model::{DirectionModel, Fate};
use crate::seeing::capture::Packets;
use crate::seeing::tap::FlowHandle;
use std::collections::VecDeque;

/// Maximum number of bytes under way. A flood into a link without a rate can therefore not use up
/// memory; the excess counts as lost by the device.
const UNDER_WAY_LIMIT_BYTES: usize = 512 << 20;
/// Number of buffers kept for reuse, and the size of the largest buffer kept.
const SPARE_LIMIT_COUNT: usize = 4_096;
const SPARE_LIMIT_BYTES: usize = 16_384;

/// A direction of the link with the packets under way.
#[derive(Debug)]
pub struct DirectionQueue {
    sender: Host,
    /// The model of the link in this direction.
    pub model: DirectionModel,
    under_way: VecDeque<QueuedPacket>,
    /// Packets with a fate not yet settled by the model.
    waiting: VecDeque<QueuedPacket>,
    under_way_bytes: usize,
    spare: Vec<PacketBuffer>,
}

#[derive(Debug)]
struct QueuedPacket {
    entered_ns: u64,
    flow: FlowHandle,
    /// Delivery time in ns; 0 until known.
    due_ns: u64,
    parcel: PacketBuffer,
    /// Number of packets, and the packets' IP bytes together.
    count: usize,
    bytes: usize,
}

/// Consecutive packets of a train, released by the model at the same time.
#[derive(Debug, Clone, Copy)]
struct Run {
    due_ns: u64,
    first: usize,
    count: usize,
}

impl QueuedPacket {
    fn packets(&self) -> Packets<'_> {
        Packets {
            frame: self.parcel.packet(),
            offload: self.parcel.offload,
            first: 0,
            count: self.count,
        }
    }
}

impl Run {
    /// Extends the run to packet `index`. Starts a new run if necessary, and returns the previous
    /// run.
    fn extend(run: &mut Option<Self>, due_ns: u64, index: usize) -> Option<Self> {
        if let Some(run) = run
            && run.due_ns == due_ns
            && run.first + run.count == index
        {
            run.count += 1;
            return None;
        }
        run.replace(Self {
            due_ns,
            first: index,
            count: 1,
        })
    }
}

impl DirectionQueue {
    /// Makes an empty lane for packets sent by `sender`.
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

    /// Returns the next time to act: a packet is due, or a packet's fate is settled.
    pub fn next_due_ns(&self) -> Option<u64> {
        let due_ns = self.under_way.front().map(|cargo| cargo.due_ns);
        match (due_ns, self.model.next_settlement_ns()) {
            (Some(due_ns), Some(settlement_ns)) => Some(due_ns.min(settlement_ns)),
            (due_ns, settlement_ns) => due_ns.or(settlement_ns),
        }
    }

    /// Takes an arrival, and asks the model for the fate of each packet in the arrival.
    pub fn take(&mut self, arrival: &Arrival<'_>, train: &Train, observer: &mut Observer) {
        let flow = observer.entered(self.sender, arrival, train);
        if self.under_way_bytes >= UNDER_WAY_LIMIT_BYTES {
            self.settle(arrival.at_ns, observer);
            let all = Packets::of_arrival(arrival, 0, train.count());
            observer.note_overflow(self.sender, arrival.at_ns, all);
            return;
        }
        let way = self.find_extra_delay(arrival.frame);
        let mut run: Option<Run> = None;
        for index in 0..train.count() {
            self.settle(arrival.at_ns, observer);
            let one = Packets::of_arrival(arrival, index, 1);
            let bytes = train.packet_bytes(index) as u32;
            match self.model.arrival_by(arrival.at_ns, bytes, way) {
                Fate::Drop(cause) => observer.dropped(self.sender, arrival.at_ns, one, cause),
                Fate::Release { at_ns } => {
                    observer.note_admission(self.sender, arrival.at_ns, one);
                    if let Some(run) = Run::extend(&mut run, at_ns, index) {
                        self.enqueue_run(arrival, train, flow, run);
                    }
                }
                Fate::Waits => {
                    let cargo = self.pack(arrival, train, flow, index);
                    self.waiting.push_back(cargo);
                    self.settle(arrival.at_ns, observer);
                }
            }
        }
        if let Some(run) = run {
            self.enqueue_run(arrival, train, flow, run);
        }
    }

    /// Loads a run. A whole train stays whole if the link does not part the train; all other runs
    /// are loaded packet by packet.
    fn enqueue_run(&mut self, arrival: &Arrival<'_>, train: &Train, flow: FlowHandle, run: Run) {
        if run.count == train.count() && run.count > 1 {
            let mut parcel = self.spare.pop().unwrap_or_default();
            parcel.fill(|bytes| {
                bytes.extend_from_slice(arrival.frame);
                arrival.offload
            });
            self.under_way_bytes += parcel.packet().len();
            self.load(QueuedPacket {
                entered_ns: arrival.at_ns,
                flow,
                due_ns: run.due_ns,
                parcel,
                count: train.count(),
                bytes: train.total_bytes(),
            });
            return;
        }
        for index in run.first..run.first + run.count {
            let cargo = self.pack(arrival, train, flow, index);
            self.load(QueuedPacket {
                due_ns: run.due_ns,
                ..cargo
            });
        }
    }

    /// Copies one packet of the arrival into a buffer.
    fn pack(
        &mut self,
        arrival: &Arrival<'_>,
        train: &Train,
        flow: FlowHandle,
        index: usize,
    ) -> QueuedPacket {
        let mut parcel = self.spare.pop().unwrap_or_default();
        parcel.fill(|bytes| train.cut(arrival.offload, arrival.frame, index, bytes));
        let bytes = parcel.packet().len();
        self.under_way_bytes += bytes;
        QueuedPacket {
            entered_ns: arrival.at_ns,
            flow,
            due_ns: 0,
            parcel,
            count: 1,
            bytes,
        }
    }

    fn find_extra_delay(&self, packet: &[u8]) -> Option<usize> {
        if self.model.far.is_empty() {
            return None;
        }
        let view = packet::view(packet)?;
        let server = match self.sender {
            Host::Client => view.destination,
            Host::Server => view.source,
        };
        self.model.far.find_delay(server)
    }

    /// Acts on the fates newly settled by the model.
    pub fn settle(&mut self, now_ns: u64, observer: &mut Observer) {
        while let Some(fate) = self.model.settled(now_ns) {
            let Some(cargo) = self.waiting.pop_front() else {
                break;
            };
            match fate {
                Fate::Release { at_ns } => {
                    observer.note_admission(self.sender, cargo.entered_ns, cargo.packets());
                    self.load(QueuedPacket {
                        due_ns: at_ns,
                        ..cargo
                    });
                }
                Fate::Drop(cause) => {
                    observer.dropped(self.sender, cargo.entered_ns, cargo.packets(), cause);
                    self.unload(cargo.parcel);
                }
                // The model never settles a packet to wait on.
                Fate::Waits => self.waiting.push_front(cargo),
            }
        }
    }

    /// Delivers to `device` everything due by `now_ns`; returns the time after the last write.
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
            let Some(mut cargo) = self.under_way.pop_front() else {
                break;
            };
            let sent = device.send(&mut cargo.parcel);
            now_ns = monotonic_ns();
            match sent {
                Ok(()) => {
                    let delivery = Delivery {
                        flow: cargo.flow,
                        at_ns: now_ns,
                        lateness_ns: now_ns - cargo.due_ns,
                        bytes: cargo.bytes,
                    };
                    observer.delivered(self.sender, &delivery, cargo.packets());
                }
                Err(_) => observer.note_refusal(self.sender, now_ns, cargo.packets()),
            }
            self.unload(cargo.parcel);
            self.settle(now_ns, observer);
        }
        now_ns
    }

    fn load(&mut self, cargo: QueuedPacket) {
        let due_ns = cargo.due_ns;
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

    fn unload(&mut self, parcel: PacketBuffer) {
        self.under_way_bytes -= parcel.packet().len();
        if self.spare.len() < SPARE_LIMIT_COUNT && parcel.capacity_bytes() <= SPARE_LIMIT_BYTES {
            self.spare.push(parcel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::device::TunDevice;
    use crate::devices::offload::{HEADER_BYTES, Offload};
    use crate::elements::far::FarServers;
    use crate::hosts::{CLIENT_ADDRESS, SERVER_ADDRESS};
    use nix::unistd::{pipe, read};
    use resolab_record::DirectionProfile;
    use std::net::Ipv4Addr;
    use std::os::fd::OwnedFd;

    fn arrival(at_ns: u64, frame: &[u8]) -> Arrival<'_> {
        Arrival {
            frame,
            offload: Offload::default(),
            at_ns,
            read_ns: at_ns,
        }
    }

    fn take(lane: &mut DirectionQueue, at_ns: u64, packet: &[u8], observer: &mut Observer) {
        let arrival = arrival(at_ns, packet);
        let train = Train::divide_frame(arrival.offload, arrival.frame);
        lane.take(&arrival, &train, observer);
    }

    fn up_lane(profile: &DirectionProfile) -> DirectionQueue {
        DirectionQueue::new(Host::Client, DirectionModel::new(profile, "up", 1))
    }

    /// Returns the content of a pipe: equal packets, each behind a header.
    fn delivered<const LENGTH: usize>(reader: &OwnedFd) -> Vec<[u8; LENGTH]> {
        let mut written = vec![0; 65_536];
        let length = read(reader, &mut written).unwrap();
        written[..length]
            .chunks(HEADER_BYTES + LENGTH)
            .map(|one| one[HEADER_BYTES..].try_into().unwrap())
            .collect()
    }

    #[test]
    fn packets_are_delivered_in_the_order_they_are_due() {
        let mut lane = up_lane(&DirectionProfile::default());
        let mut observer = Observer::default();
        for (due_ns, byte) in [(5, 2), (9, 4), (5, 3), (1, 1), (9, 5)] {
            let packet = [byte];
            let arrival = arrival(0, &packet);
            let train = Train::divide_frame(arrival.offload, arrival.frame);
            let flow = observer.entered(Host::Client, &arrival, &train);
            let cargo = lane.pack(&arrival, &train, flow, 0);
            lane.load(QueuedPacket { due_ns, ..cargo });
        }
        let (reader, writer) = pipe().unwrap();
        let mut device = Device::Tun(TunDevice::new(writer));
        lane.deliver_due(8, &mut device, &mut observer);
        drop(device);
        let delivered = delivered(&reader);
        assert_eq!(delivered, [[1], [2], [3], [4], [5]]);
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
        assert_eq!(lane.find_extra_delay(&up), Some(0));
        lane.sender = Host::Server;
        assert_eq!(lane.find_extra_delay(&down), Some(0));
        assert_eq!(lane.find_extra_delay(&up), None);
        lane.sender = Host::Client;
        let mut observer = Observer::default();
        take(&mut lane, 0, &up, &mut observer);
        assert_eq!(lane.next_due_ns(), Some(20_000_000));
        let near = packet::samples::ipv4(packet::UDP, client, (SERVER_ADDRESS, 53), b"x");
        take(&mut lane, 1, &near, &mut observer);
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
            take(&mut lane, 0, &[byte; 1_000], &mut observer);
        }
        assert_eq!(lane.next_due_ns(), Some(666_666_666));
        for now_ms in (0..3_000).step_by(100) {
            lane.deliver_due(now_ms * 1_000_000, &mut device, &mut observer);
        }
        drop(device);
        let delivered = delivered(&reader);
        assert_eq!(delivered, [[1; 1_000], [2; 1_000], [3; 1_000]]);
        let summary = observer.window().up.summary();
        assert_eq!(
            (summary.packets_out_count, summary.dropped_queue_count),
            (3, 1)
        );
        assert_eq!((lane.under_way_bytes, lane.next_due_ns()), (0, None));
    }

    /// Makes a train of three segments of 100, 100 and 50 bytes' payload, 40 bytes' headers.
    fn train_arrival(frame: &mut Vec<u8>) -> Arrival<'_> {
        let (from, to) = ((CLIENT_ADDRESS, 5_000), (SERVER_ADDRESS, 443));
        *frame = packet::samples::ipv4(packet::TCP, from, to, &[7; 250]);
        frame[32] = 5 << 4;
        let header = [1, 1, 40, 0, 100, 0, 20, 0, 16, 0];
        Arrival {
            frame,
            offload: Offload::decode(header),
            at_ns: 0,
            read_ns: 0,
        }
    }

    fn lane_of(profile: &DirectionProfile) -> (DirectionQueue, Observer) {
        (up_lane(profile), Observer::default())
    }

    #[test]
    fn a_rate_parts_a_train_into_packets() {
        let (mut lane, mut observer) = lane_of(&DirectionProfile {
            rate_bps: Some(1_120_000.0),
            queue_bytes: Some(140),
            ..DirectionProfile::default()
        });
        let mut frame = Vec::new();
        let arrival = train_arrival(&mut frame);
        let train = Train::divide_frame(arrival.offload, arrival.frame);
        lane.take(&arrival, &train, &mut observer);
        // 140 bytes take 1 ms; the third does not fit into the queue.
        let due: Vec<_> = lane
            .under_way
            .iter()
            .map(|cargo| (cargo.due_ns, cargo.bytes))
            .collect();
        assert_eq!(due, [(1_000_000, 140), (2_000_000, 140)]);
        assert!(lane.under_way.iter().all(|cargo| cargo.count == 1));
        let summary = observer.window().up.summary();
        assert_eq!((summary.packets_in_count, summary.bytes_in_bytes), (3, 370));
        assert_eq!(summary.dropped_queue_count, 1);
    }

    #[test]
    fn a_train_that_the_link_does_not_part_travels_whole() {
        let (mut lane, mut observer) = lane_of(&DirectionProfile {
            one_way_delay_ms: 2.0,
            ..DirectionProfile::default()
        });
        let mut frame = Vec::new();
        let arrival = train_arrival(&mut frame);
        let train = Train::divide_frame(arrival.offload, arrival.frame);
        lane.take(&arrival, &train, &mut observer);
        assert_eq!(lane.under_way.len(), 1);
        let cargo = &lane.under_way[0];
        assert_eq!(
            (cargo.due_ns, cargo.count, cargo.bytes),
            (2_000_000, 3, 370)
        );
        assert_eq!(cargo.parcel.packet(), arrival.frame);
        assert_eq!(cargo.parcel.offload, arrival.offload);
    }

    #[test]
    fn a_train_that_loses_a_packet_goes_on_in_packets() {
        let lossy = DirectionProfile {
            loss_ratio: 0.5,
            ..DirectionProfile::default()
        };
        let mut frame = Vec::new();
        let arrival = train_arrival(&mut frame);
        let train = Train::divide_frame(arrival.offload, arrival.frame);
        for seed in 1..50 {
            let mut lane =
                DirectionQueue::new(Host::Client, DirectionModel::new(&lossy, "up", seed));
            let mut observer = Observer::default();
            lane.take(&arrival, &train, &mut observer);
            let under_way: usize = lane.under_way.iter().map(|cargo| cargo.count).sum();
            let lost = observer.window().up.summary().dropped_loss_count as usize;
            assert_eq!(under_way + lost, 3);
            let whole = lane.under_way.iter().any(|cargo| cargo.count > 1);
            assert_eq!(whole, lost == 0, "seed {seed}");
        }
    }
}
