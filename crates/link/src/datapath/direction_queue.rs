//! One direction of the forwarder: packets under way between the two devices, delivered at the
//! model's times and in the order of these times. Not for: waiting (see `forwarder`).

use crate::clock::monotonic_ns;
use crate::datapath::window::{Delivery, Observer};
use crate::devices::offload::Train;
use crate::devices::packet;
use crate::devices::packet_buffer::PacketBuffer;
use crate::devices::{arrival::Arrival, device::Device};
use crate::hosts::Host;
use crate::model::{DirectionModel, PacketFate};
use crate::observation::capture::Packets;
use crate::observation::tap::FlowHandle;
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
    in_transit: VecDeque<QueuedPacket>,
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
    packet_buffer: PacketBuffer,
    /// Number of packets, and the packets' IP bytes together.
    count: usize,
    bytes: usize,
}

/// Consecutive packets of a train, released by the model at the same time.
#[derive(Debug, Clone, Copy)]
struct PacketRun {
    due_ns: u64,
    first: usize,
    count: usize,
}

impl QueuedPacket {
    fn packets(&self) -> Packets<'_> {
        Packets {
            frame: self.packet_buffer.packet(),
            offload: self.packet_buffer.offload,
            first: 0,
            count: self.count,
        }
    }
}

impl PacketRun {
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
    /// Makes an empty queue for packets sent by `sender`.
    pub fn new(sender: Host, model: DirectionModel) -> Self {
        Self {
            sender,
            model,
            in_transit: VecDeque::new(),
            waiting: VecDeque::new(),
            under_way_bytes: 0,
            spare: Vec::new(),
        }
    }

    /// Returns the next time to act: a packet is due, or a packet's fate is settled.
    pub fn next_due_ns(&self) -> Option<u64> {
        let due_ns = self.in_transit.front().map(|queued| queued.due_ns);
        match (due_ns, self.model.next_settlement_ns()) {
            (Some(due_ns), Some(settlement_ns)) => Some(due_ns.min(settlement_ns)),
            (due_ns, settlement_ns) => due_ns.or(settlement_ns),
        }
    }

    /// Takes an arrival, and asks the model for the fate of each packet in the arrival.
    pub fn take(&mut self, arrival: &Arrival<'_>, train: &Train, observer: &mut Observer) {
        let flow = observer.note_entry(self.sender, arrival, train);
        if self.under_way_bytes >= UNDER_WAY_LIMIT_BYTES {
            self.settle(arrival.at_ns, observer);
            let all = Packets::from_arrival(arrival, 0, train.count());
            observer.note_overflow(self.sender, arrival.at_ns, all);
            return;
        }
        let extra_delay = self.find_extra_delay(arrival.frame);
        let mut run: Option<PacketRun> = None;
        for index in 0..train.count() {
            self.settle(arrival.at_ns, observer);
            let packet = Packets::from_arrival(arrival, index, 1);
            let bytes = train.packet_bytes(index) as u32;
            match self.model.arrival_by(arrival.at_ns, bytes, extra_delay) {
                PacketFate::Drop(cause) => {
                    observer.note_drop(self.sender, arrival.at_ns, packet, cause);
                }
                PacketFate::Release { at_ns } => {
                    observer.note_admission(self.sender, arrival.at_ns, packet);
                    if let Some(run) = PacketRun::extend(&mut run, at_ns, index) {
                        self.enqueue_run(arrival, train, flow, run);
                    }
                }
                PacketFate::Waits => {
                    let queued = self.pack(arrival, train, flow, index);
                    self.waiting.push_back(queued);
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
    fn enqueue_run(
        &mut self,
        arrival: &Arrival<'_>,
        train: &Train,
        flow: FlowHandle,
        run: PacketRun,
    ) {
        if run.count == train.count() && run.count > 1 {
            let mut packet_buffer = self.spare.pop().unwrap_or_default();
            packet_buffer.fill(|bytes| {
                bytes.extend_from_slice(arrival.frame);
                arrival.offload
            });
            self.under_way_bytes += packet_buffer.packet().len();
            self.load(QueuedPacket {
                entered_ns: arrival.at_ns,
                flow,
                due_ns: run.due_ns,
                packet_buffer,
                count: train.count(),
                bytes: train.total_bytes(),
            });
            return;
        }
        for index in run.first..run.first + run.count {
            let queued = self.pack(arrival, train, flow, index);
            self.load(QueuedPacket {
                due_ns: run.due_ns,
                ..queued
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
        let mut packet_buffer = self.spare.pop().unwrap_or_default();
        packet_buffer.fill(|bytes| train.cut(arrival.offload, arrival.frame, index, bytes));
        let bytes = packet_buffer.packet().len();
        self.under_way_bytes += bytes;
        QueuedPacket {
            entered_ns: arrival.at_ns,
            flow,
            due_ns: 0,
            packet_buffer,
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
        while let Some(fate) = self.model.settle_next(now_ns) {
            let Some(queued) = self.waiting.pop_front() else {
                break;
            };
            match fate {
                PacketFate::Release { at_ns } => {
                    observer.note_admission(self.sender, queued.entered_ns, queued.packets());
                    self.load(QueuedPacket {
                        due_ns: at_ns,
                        ..queued
                    });
                }
                PacketFate::Drop(cause) => {
                    observer.note_drop(self.sender, queued.entered_ns, queued.packets(), cause);
                    self.unload(queued.packet_buffer);
                }
                // The model never settles a packet to wait on.
                PacketFate::Waits => self.waiting.push_front(queued),
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
            .in_transit
            .front()
            .is_some_and(|first| first.due_ns <= now_ns)
        {
            let Some(mut queued) = self.in_transit.pop_front() else {
                break;
            };
            let sent = device.send(&mut queued.packet_buffer);
            now_ns = monotonic_ns();
            match sent {
                Ok(()) => {
                    let delivery = Delivery {
                        flow: queued.flow,
                        at_ns: now_ns,
                        lateness_ns: now_ns - queued.due_ns,
                        bytes: queued.bytes,
                    };
                    observer.note_delivery(self.sender, &delivery, queued.packets());
                }
                Err(_) => observer.note_refusal(self.sender, now_ns, queued.packets()),
            }
            self.unload(queued.packet_buffer);
            self.settle(now_ns, observer);
        }
        now_ns
    }

    fn load(&mut self, queued: QueuedPacket) {
        let due_ns = queued.due_ns;
        // Nearly always in order already; the rest is a short move within the line.
        if self
            .in_transit
            .back()
            .is_none_or(|last| last.due_ns <= due_ns)
        {
            self.in_transit.push_back(queued);
            return;
        }
        let place = self
            .in_transit
            .partition_point(|other| other.due_ns <= due_ns);
        self.in_transit.insert(place, queued);
    }

    fn unload(&mut self, packet_buffer: PacketBuffer) {
        self.under_way_bytes -= packet_buffer.packet().len();
        if self.spare.len() < SPARE_LIMIT_COUNT
            && packet_buffer.capacity_bytes() <= SPARE_LIMIT_BYTES
        {
            self.spare.push(packet_buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::device::TunDevice;
    use crate::devices::offload::{HEADER_BYTES, Offload};
    use crate::elements::far_servers::FarServers;
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

    fn take(queue: &mut DirectionQueue, at_ns: u64, packet: &[u8], observer: &mut Observer) {
        let arrival = arrival(at_ns, packet);
        let train = Train::divide_frame(arrival.offload, arrival.frame);
        queue.take(&arrival, &train, observer);
    }

    fn up_queue(profile: &DirectionProfile) -> DirectionQueue {
        DirectionQueue::new(Host::Client, DirectionModel::new(profile, "up", 1))
    }

    /// Returns the content of a pipe: equal packets, each behind a header.
    fn read_delivered<const LENGTH: usize>(reader: &OwnedFd) -> Vec<[u8; LENGTH]> {
        let mut written = vec![0; 65_536];
        let length = read(reader, &mut written).unwrap();
        written[..length]
            .chunks(HEADER_BYTES + LENGTH)
            .map(|packet| packet[HEADER_BYTES..].try_into().unwrap())
            .collect()
    }

    #[test]
    fn packets_are_delivered_in_the_order_they_are_due() {
        let mut queue = up_queue(&DirectionProfile::default());
        let mut observer = Observer::default();
        for (due_ns, byte) in [(5, 2), (9, 4), (5, 3), (1, 1), (9, 5)] {
            let packet = [byte];
            let arrival = arrival(0, &packet);
            let train = Train::divide_frame(arrival.offload, arrival.frame);
            let flow = observer.note_entry(Host::Client, &arrival, &train);
            let queued = queue.pack(&arrival, &train, flow, 0);
            queue.load(QueuedPacket { due_ns, ..queued });
        }
        let (reader, writer) = pipe().unwrap();
        let mut device = Device::Tun(TunDevice::new(writer));
        queue.deliver_due(8, &mut device, &mut observer);
        drop(device);
        let delivered = read_delivered(&reader);
        assert_eq!(delivered, [[1], [2], [3], [4], [5]]);
        assert_eq!(queue.under_way_bytes, 0);
    }

    #[test]
    fn the_servers_address_decides_in_either_direction() {
        let mut queue = up_queue(&DirectionProfile::default());
        queue.model.far = FarServers::new(&[resolab_record::FarNetwork {
            network: "10.77.1.16/28".to_owned(),
            extra_one_way_delay_ms: 20.0,
        }]);
        let far = (Ipv4Addr::new(10, 77, 1, 17), 443);
        let client = (CLIENT_ADDRESS, 5_000);
        let up = packet::samples::ipv4(packet::UDP, client, far, b"x");
        let down = packet::samples::ipv4(packet::UDP, far, client, b"x");
        assert_eq!(queue.find_extra_delay(&up), Some(0));
        queue.sender = Host::Server;
        assert_eq!(queue.find_extra_delay(&down), Some(0));
        assert_eq!(queue.find_extra_delay(&up), None);
        queue.sender = Host::Client;
        let mut observer = Observer::default();
        take(&mut queue, 0, &up, &mut observer);
        assert_eq!(queue.next_due_ns(), Some(20_000_000));
        let near = packet::samples::ipv4(packet::UDP, client, (SERVER_ADDRESS, 53), b"x");
        take(&mut queue, 1, &near, &mut observer);
        assert_eq!(queue.next_due_ns(), Some(1));
    }

    #[test]
    fn packets_that_wait_are_delivered_or_counted() {
        let profile = DirectionProfile {
            rate_bps: Some(12_000.0),
            queue_bytes: Some(2_500),
            queue_discipline: Some(resolab_record::QueueDiscipline::Codel),
            ..DirectionProfile::default()
        };
        let mut queue = up_queue(&profile);
        let mut observer = Observer::default();
        let (reader, writer) = pipe().unwrap();
        let mut device = Device::Tun(TunDevice::new(writer));
        // The first goes onto the link at once, two wait, one does not fit; all come out by 3 s.
        for byte in 1..=4 {
            take(&mut queue, 0, &[byte; 1_000], &mut observer);
        }
        assert_eq!(queue.next_due_ns(), Some(666_666_666));
        for now_ms in (0..3_000).step_by(100) {
            queue.deliver_due(now_ms * 1_000_000, &mut device, &mut observer);
        }
        drop(device);
        let delivered = read_delivered(&reader);
        assert_eq!(delivered, [[1; 1_000], [2; 1_000], [3; 1_000]]);
        let summary = observer.window().up.summary();
        assert_eq!(
            (summary.packets_out_count, summary.dropped_queue_count),
            (3, 1)
        );
        assert_eq!((queue.under_way_bytes, queue.next_due_ns()), (0, None));
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

    fn queue_of(profile: &DirectionProfile) -> (DirectionQueue, Observer) {
        (up_queue(profile), Observer::default())
    }

    #[test]
    fn a_rate_parts_a_train_into_packets() {
        let (mut queue, mut observer) = queue_of(&DirectionProfile {
            rate_bps: Some(1_120_000.0),
            queue_bytes: Some(140),
            ..DirectionProfile::default()
        });
        let mut frame = Vec::new();
        let arrival = train_arrival(&mut frame);
        let train = Train::divide_frame(arrival.offload, arrival.frame);
        queue.take(&arrival, &train, &mut observer);
        // 140 bytes take 1 ms; the third does not fit into the queue.
        let due: Vec<_> = queue
            .in_transit
            .iter()
            .map(|queued| (queued.due_ns, queued.bytes))
            .collect();
        assert_eq!(due, [(1_000_000, 140), (2_000_000, 140)]);
        assert!(queue.in_transit.iter().all(|queued| queued.count == 1));
        let summary = observer.window().up.summary();
        assert_eq!((summary.packets_in_count, summary.bytes_in_bytes), (3, 370));
        assert_eq!(summary.dropped_queue_count, 1);
    }

    #[test]
    fn a_train_that_the_link_does_not_part_travels_whole() {
        let (mut queue, mut observer) = queue_of(&DirectionProfile {
            one_way_delay_ms: 2.0,
            ..DirectionProfile::default()
        });
        let mut frame = Vec::new();
        let arrival = train_arrival(&mut frame);
        let train = Train::divide_frame(arrival.offload, arrival.frame);
        queue.take(&arrival, &train, &mut observer);
        assert_eq!(queue.in_transit.len(), 1);
        let queued = &queue.in_transit[0];
        assert_eq!(
            (queued.due_ns, queued.count, queued.bytes),
            (2_000_000, 3, 370)
        );
        assert_eq!(queued.packet_buffer.packet(), arrival.frame);
        assert_eq!(queued.packet_buffer.offload, arrival.offload);
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
            let mut queue =
                DirectionQueue::new(Host::Client, DirectionModel::new(&lossy, "up", seed));
            let mut observer = Observer::default();
            queue.take(&arrival, &train, &mut observer);
            let in_transit: usize = queue.in_transit.iter().map(|queued| queued.count).sum();
            let lost = observer.window().up.summary().dropped_loss_count as usize;
            assert_eq!(in_transit + lost, 3);
            let whole = queue.in_transit.iter().any(|queued| queued.count > 1);
            assert_eq!(whole, lost == 0, "seed {seed}");
        }
    }
}
