//! The packets under way through the exchange: taken at reading, moved on when due. Not for:
//! waiting and reading (see `exchange`), nor for a packet's fate (see `model`).

use crate::clock::monotonic_ns;
use crate::devices::arrival::Arrival;
use crate::devices::device::Device;
use crate::devices::offload::Train;
use crate::devices::packet::{self, PacketView};
use crate::seeing::capture::Packets;
use crate::star::cargo::{Step, TransitPacket, TransitQueue};
use crate::star::model::{DropReason, HostChange, Route, StarModel};
use crate::star::seen::ExchangeObserver;
use std::net::IpAddr;

/// All packets under way, with the model and the observer.
#[derive(Debug)]
pub struct Traffic {
    model: StarModel,
    under_way: TransitQueue,
    /// The observer notified of every packet.
    pub seen: ExchangeObserver,
}

impl Traffic {
    /// Makes empty traffic at `now_ns`.
    pub fn new(model: StarModel, now_ns: u64) -> Self {
        Self {
            model,
            under_way: TransitQueue::default(),
            seen: ExchangeObserver::new(now_ns),
        }
    }

    /// Returns the due time of the next step.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.under_way.next_due_ns()
    }

    /// Changes a host from now on.
    pub fn change(&mut self, host: usize, change: HostChange) {
        self.model.change(host, change);
    }

    /// Takes an arrival from host `from`, and asks the model for the packets' fates.
    pub fn take(&mut self, from: usize, arrival: &Arrival<'_>) {
        let train = Train::divide_frame(arrival.offload, arrival.frame);
        let view = packet::view(arrival.frame);
        self.seen.sent(from, view.as_ref(), &train);
        match self.route(from, view.as_ref()) {
            Err(why) => self.seen.refused(from, arrival, (0, train.count()), why),
            Ok(_) if self.under_way.is_full() => self.seen.not_taken(from, arrival, train.count()),
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
            Err(why) => self.seen.refused(route.from, arrival, (0, count), why),
            Ok(due_ns) => {
                self.seen.admitted(route.from, arrival, 0, count);
                let mut parcel = self.under_way.empty_parcel();
                parcel.fill(|bytes| {
                    bytes.extend_from_slice(arrival.frame);
                    arrival.offload
                });
                self.under_way.load(TransitPacket {
                    to: route.to,
                    due_ns,
                    step: Step::Arrives,
                    parcel,
                    count,
                });
            }
        }
    }

    fn take_apart(&mut self, route: Route, arrival: &Arrival<'_>, train: &Train) {
        for index in 0..train.count() {
            let bytes = train.packet_bytes(index) as u32;
            match self.model.depart(route, arrival.at_ns, bytes) {
                Err(why) => self.seen.refused(route.from, arrival, (index, 1), why),
                Ok(due_ns) => {
                    self.seen.admitted(route.from, arrival, index, 1);
                    let mut parcel = self.under_way.empty_parcel();
                    parcel.fill(|bytes| train.cut(arrival.offload, arrival.frame, index, bytes));
                    self.under_way.load(TransitPacket {
                        to: route.to,
                        due_ns,
                        step: Step::Arrives,
                        parcel,
                        count: 1,
                    });
                }
            }
        }
    }

    /// Does everything due by `now_ns`.
    pub fn deliver_due(&mut self, mut now_ns: u64, devices: &mut [Device]) {
        while let Some(cargo) = self.under_way.take_due(now_ns) {
            if self.model.is_down(cargo.to) {
                let packets = all_of(&cargo);
                self.seen
                    .gone(cargo.to, cargo.due_ns, packets, DropReason::Down);
                self.under_way.reuse(cargo.parcel);
            } else if cargo.step == Step::IsDelivered || self.model.receives_plainly(cargo.to) {
                now_ns = self.deliver(cargo, devices);
            } else {
                self.arrive(cargo);
            }
        }
    }

    /// Takes packets at the side of a host with queue or loss, packet by packet.
    fn arrive(&mut self, cargo: TransitPacket) {
        let (to, at_ns) = (cargo.to, cargo.due_ns);
        let all = all_of(&cargo);
        let train = Train::divide_frame(all.offload, all.frame);
        for index in 0..train.count() {
            let bytes = train.packet_bytes(index) as u32;
            match self.model.arrive(to, at_ns, bytes) {
                Err(why) => {
                    let one = Packets {
                        first: index,
                        count: 1,
                        ..all
                    };
                    self.seen.gone(to, at_ns, one, why);
                }
                Ok(due_ns) => {
                    let mut parcel = self.under_way.empty_parcel();
                    parcel.fill(|bytes| train.cut(all.offload, all.frame, index, bytes));
                    self.under_way.load(TransitPacket {
                        to,
                        due_ns,
                        step: Step::IsDelivered,
                        parcel,
                        count: 1,
                    });
                }
            }
        }
        self.under_way.reuse(cargo.parcel);
    }

    /// Delivers packets to the device; returns the time afterwards.
    fn deliver(&mut self, mut cargo: TransitPacket, devices: &mut [Device]) -> u64 {
        let taken = devices[cargo.to].send(&mut cargo.parcel);
        let now_ns = monotonic_ns();
        let packets = all_of(&cargo);
        match taken {
            Ok(()) => {
                let lateness_ns = now_ns.saturating_sub(cargo.due_ns);
                self.seen.delivered(cargo.to, now_ns, lateness_ns, packets);
            }
            Err(_) => self.seen.undeliverable(cargo.to, now_ns, packets),
        }
        self.under_way.reuse(cargo.parcel);
        now_ns
    }
}

fn all_of(cargo: &TransitPacket) -> Packets<'_> {
    Packets {
        frame: cargo.parcel.packet(),
        offload: cargo.parcel.offload,
        first: 0,
        count: cargo.count,
    }
}
