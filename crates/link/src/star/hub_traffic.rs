//! The packets under way through the hub: taken at reading, moved on when due. Not for:
//! waiting and reading (see `hub`), nor for a packet's fate (see `model`).

use crate::clock::monotonic_ns;
use crate::devices::arrival::Arrival;
use crate::devices::device::Device;
use crate::devices::offload::Train;
use crate::devices::packet::{self, PacketView};
use crate::observation::capture::Packets;
use crate::star::hub_observer::HubObserver;
use crate::star::model::{DropReason, HostChange, Route, StarModel};
use crate::star::transit_queue::{TransitPacket, TransitQueue, TransitStep};
use std::net::IpAddr;

/// All packets under way, with the model and the observer.
#[derive(Debug)]
pub struct HubTraffic {
    model: StarModel,
    in_transit: TransitQueue,
    /// The observer notified of every packet.
    pub observer: HubObserver,
}

impl HubTraffic {
    /// Makes empty traffic at `now_ns`.
    pub fn new(model: StarModel, now_ns: u64) -> Self {
        Self {
            model,
            in_transit: TransitQueue::default(),
            observer: HubObserver::new(now_ns),
        }
    }

    /// Returns the due time of the next step.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.in_transit.next_due_ns()
    }

    /// Changes a host from now on.
    pub fn change(&mut self, host: usize, change: HostChange) {
        self.model.change(host, change);
    }

    /// Takes an arrival from host `from`, and asks the model for the packets' fates.
    pub fn take(&mut self, from: usize, arrival: &Arrival<'_>) {
        let train = Train::divide_frame(arrival.offload, arrival.frame);
        let view = packet::view(arrival.frame);
        self.observer.note_sent(from, view.as_ref(), &train);
        match self.route(from, view.as_ref()) {
            Err(why) => self
                .observer
                .note_refusal(from, arrival, (0, train.count()), why),
            Ok(_) if self.in_transit.is_full() => {
                self.observer.note_not_taken(from, arrival, train.count());
            }
            Ok(route) if self.model.sends_plainly(from) => self.take_whole(route, arrival, &train),
            Ok(route) => self.take_apart(route, arrival, &train),
        }
    }

    fn route(&self, from: usize, view: Option<&PacketView<'_>>) -> Result<Route, DropReason> {
        match view.map(|view| (view.source, view.destination)) {
            Some((IpAddr::V4(source), IpAddr::V4(destination))) => {
                self.model.route(from, source, destination)
            }
            Some(_) | None => Err(DropReason::Unowned),
        }
    }

    /// Takes a train as a whole, if the host's access does not part trains.
    fn take_whole(&mut self, route: Route, arrival: &Arrival<'_>, train: &Train) {
        let (count, bytes) = (train.count(), train.total_bytes() as u32);
        match self.model.depart(route, arrival.at_ns, bytes) {
            Err(why) => self
                .observer
                .note_refusal(route.from, arrival, (0, count), why),
            Ok(due_ns) => {
                self.observer.note_admission(route.from, arrival, 0, count);
                let mut packet_buffer = self.in_transit.empty_buffer();
                packet_buffer.fill(|bytes| {
                    bytes.extend_from_slice(arrival.frame);
                    arrival.offload
                });
                self.in_transit.load(TransitPacket {
                    to: route.to,
                    due_ns,
                    step: TransitStep::Arrives,
                    packet_buffer,
                    count,
                });
            }
        }
    }

    fn take_apart(&mut self, route: Route, arrival: &Arrival<'_>, train: &Train) {
        for index in 0..train.count() {
            let bytes = train.packet_bytes(index) as u32;
            match self.model.depart(route, arrival.at_ns, bytes) {
                Err(why) => self
                    .observer
                    .note_refusal(route.from, arrival, (index, 1), why),
                Ok(due_ns) => {
                    self.observer.note_admission(route.from, arrival, index, 1);
                    let mut packet_buffer = self.in_transit.empty_buffer();
                    packet_buffer
                        .fill(|bytes| train.cut(arrival.offload, arrival.frame, index, bytes));
                    self.in_transit.load(TransitPacket {
                        to: route.to,
                        due_ns,
                        step: TransitStep::Arrives,
                        packet_buffer,
                        count: 1,
                    });
                }
            }
        }
    }

    /// Does everything due by `now_ns`.
    pub fn deliver_due(&mut self, mut now_ns: u64, devices: &mut [Device]) {
        while let Some(transit) = self.in_transit.take_due(now_ns) {
            if self.model.is_down(transit.to) {
                let packets = whole_transit(&transit);
                self.observer
                    .note_loss(transit.to, transit.due_ns, packets, DropReason::Down);
                self.in_transit.reuse(transit.packet_buffer);
            } else if transit.step == TransitStep::IsDelivered
                || self.model.receives_plainly(transit.to)
            {
                now_ns = self.deliver(transit, devices);
            } else {
                self.arrive(transit);
            }
        }
    }

    /// Takes packets at the side of a host with queue or loss, packet by packet.
    fn arrive(&mut self, transit: TransitPacket) {
        let (to, at_ns) = (transit.to, transit.due_ns);
        let all = whole_transit(&transit);
        let train = Train::divide_frame(all.offload, all.frame);
        for index in 0..train.count() {
            let bytes = train.packet_bytes(index) as u32;
            match self.model.arrive(to, at_ns, bytes) {
                Err(why) => {
                    let packet = Packets {
                        first: index,
                        count: 1,
                        ..all
                    };
                    self.observer.note_loss(to, at_ns, packet, why);
                }
                Ok(due_ns) => {
                    let mut packet_buffer = self.in_transit.empty_buffer();
                    packet_buffer.fill(|bytes| train.cut(all.offload, all.frame, index, bytes));
                    self.in_transit.load(TransitPacket {
                        to,
                        due_ns,
                        step: TransitStep::IsDelivered,
                        packet_buffer,
                        count: 1,
                    });
                }
            }
        }
        self.in_transit.reuse(transit.packet_buffer);
    }

    /// Delivers packets to the device; returns the time afterwards.
    fn deliver(&mut self, mut transit: TransitPacket, devices: &mut [Device]) -> u64 {
        let taken = devices[transit.to].send(&mut transit.packet_buffer);
        let now_ns = monotonic_ns();
        let packets = whole_transit(&transit);
        match taken {
            Ok(()) => {
                let lateness_ns = now_ns.saturating_sub(transit.due_ns);
                self.observer
                    .note_delivery(transit.to, now_ns, lateness_ns, packets);
            }
            Err(_) => self
                .observer
                .note_undeliverable(transit.to, now_ns, packets),
        }
        self.in_transit.reuse(transit.packet_buffer);
        now_ns
    }
}

fn whole_transit(transit: &TransitPacket) -> Packets<'_> {
    Packets {
        frame: transit.packet_buffer.packet(),
        offload: transit.packet_buffer.offload,
        first: 0,
        count: transit.count,
    }
}
