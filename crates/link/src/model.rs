//! One direction of an access link as a pure model in virtual time: the fate of a packet of a given
//! length arriving at a given time. Times follow from the model's own clock, never from the
//! forwarder's wake-ups. Lateness of the forwarder therefore never accumulates. Not for: packets,
//! clocks, I/O.
//!
//! Order: loss -> policer -> queue -> rate -> delay. A queue deciding at the departure (CoDel)
//! makes packets wait; their fates follow at the link's next free moment. An element with memory
//! (bursty loss, a queue dropping by waiting time, a trace of delivery opportunities, a delay
//! varying in time) replaces the simpler element in the same position. Cross traffic is arrivals
//! fed to queue and rate; their releases are not carried.

use crate::elements::burst_loss::BurstLoss;
use crate::elements::codel::{self, Codel, CodelPacket, DEFAULT_INTERVAL_MS, DEFAULT_TARGET_MS};
use crate::elements::cross_traffic::{self, CrossTrafficArrivals};
use crate::elements::delay::{Delay, to_ns};
use crate::elements::droptail::Droptail;
use crate::elements::far_servers::FarServers;
use crate::elements::link_rate::LinkRate;
use crate::elements::loss::IndependentLoss;
use crate::elements::policer::Policer;
use crate::elements::queue_limit::QueueLimit;
use crate::elements::random::RandomStream;
use crate::elements::trace::Trace;
use resolab_record::{DirectionProfile, QueueDiscipline};
use std::collections::VecDeque;
use std::sync::Arc;

/// The fate of a packet in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketFate {
    /// The packet leaves the link at this time.
    Release {
        /// Time of release in ns, on the clock of the arrivals.
        at_ns: u64,
    },
    /// The packet is dropped.
    Drop(DropCause),
    /// Not known yet: [`DirectionModel::settle_next`] returns the fate later, in the order of
    /// arrivals.
    Waits,
}

/// The cause of a packet's drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropCause {
    /// The loss process dropped the packet.
    Loss,
    /// The policer had too few tokens.
    Policer,
    /// The packet did not fit into the queue.
    QueueFull,
    /// CoDel dropped the packet for a long wait.
    Codel,
    /// The packet came during an outage.
    Outage,
}

/// The model of one direction of the link.
#[derive(Debug, Clone)]
pub struct DirectionModel {
    label: &'static str,
    loss: IndependentLoss,
    burst_loss: BurstLoss,
    policer: Policer,
    queue: Queue,
    rate: LinkRate,
    /// Bytes taken by every packet on the link beyond the IP length.
    overhead_bytes: u32,
    delay: Delay,
    /// End of the outage, in ns: no packet enters the link before.
    outage_until_ns: u64,
    last_release_ns: u64,
    settled: VecDeque<PacketFate>,
    /// Number of carried packets with a fate not yet settled.
    waiting_count: usize,
    advanced_ns: u64,
    cross_traffic: CrossTrafficArrivals,
    /// Servers behind the link with extra delay.
    pub far: FarServers,
}

#[derive(Debug, Clone)]
enum Queue {
    Droptail(Droptail),
    Codel(Codel<PacketOwner>),
}

/// The owner of a waiting packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PacketOwner {
    /// A packet to be carried, with the index of the extra delay after the link.
    Carried(Option<usize>),
    /// A packet of the cross traffic.
    Phantom,
}

impl Queue {
    fn new(profile: &DirectionProfile) -> Self {
        match profile.queue_discipline {
            Some(QueueDiscipline::Codel) => Self::Codel(Codel::new(codel_settings(profile))),
            Some(QueueDiscipline::Droptail) | None => {
                Self::Droptail(Droptail::new(QueueLimit::from_profile(profile)))
            }
        }
    }
}

impl DirectionModel {
    /// Makes a fresh link, without a trace; `label` (`up`, `down`) separates the directions' random
    /// streams.
    pub fn new(profile: &DirectionProfile, label: &'static str, seed: u64) -> Self {
        Self::with_trace(profile, None, label, seed)
    }

    /// Makes a fresh link over the profile's trace.
    pub fn with_trace(
        profile: &DirectionProfile,
        trace: Option<Arc<Trace>>,
        label: &'static str,
        seed: u64,
    ) -> Self {
        // Every key by name, so that a new one is not forgotten here, nor in `change_over`.
        let DirectionProfile {
            loss_ratio,
            gilbert_elliott,
            policer,
            rate_bps,
            trace_file: _, // is `trace`
            packet_overhead_bytes,
            queue_bytes: _, // this and the next four are the queue's
            queue_packets: _,
            queue_discipline: _,
            codel_target_ms: _,
            codel_interval_ms: _,
            one_way_delay_ms: _, // this and the next are the delay's
            jitter: _,
            cross_traffic,
        } = profile;
        Self {
            label,
            loss: IndependentLoss::new(*loss_ratio, stream(seed, label, "loss")),
            burst_loss: BurstLoss::new(gilbert_elliott.as_ref(), stream(seed, label, "burst_loss")),
            policer: Policer::new(*policer),
            queue: Queue::new(profile),
            rate: LinkRate::new(*rate_bps, trace),
            overhead_bytes: packet_overhead_bytes.unwrap_or(0),
            outage_until_ns: 0,
            delay: Delay::new(profile, stream(seed, label, "jitter")),
            last_release_ns: 0,
            settled: VecDeque::new(),
            waiting_count: 0,
            advanced_ns: 0,
            cross_traffic: CrossTrafficArrivals::new(
                *cross_traffic,
                stream(seed, label, "cross_traffic"),
            ),
            far: FarServers::default(),
        }
    }

    /// Puts another profile in force. Packets already taken keep their times and keep the link
    /// busy. Packets in a CoDel queue stay there, or go onto the link without another decision if
    /// the new profile has no CoDel queue. Cross traffic up to `now_ns` met the old profile.
    /// Without a seed the random streams run on.
    pub fn change(&mut self, profile: &DirectionProfile, seed: Option<u64>, now_ns: u64) {
        self.change_over(profile, None, seed, now_ns);
    }

    /// Puts a profile with a trace in force. A seed also restarts the trace, and fills a policer's
    /// bucket.
    pub fn change_over(
        &mut self,
        profile: &DirectionProfile,
        trace: Option<Arc<Trace>>,
        seed: Option<u64>,
        now_ns: u64,
    ) {
        self.advance(now_ns);
        let new_stream = |element| seed.map(|seed| stream(seed, self.label, element));
        self.loss.change(profile.loss_ratio, new_stream("loss"));
        self.burst_loss
            .change(profile.gilbert_elliott.as_ref(), new_stream("burst_loss"));
        self.cross_traffic
            .change(profile.cross_traffic, new_stream("cross_traffic"));
        self.policer.change(profile.policer, seed.is_some());
        self.change_queue(profile);
        self.rate.change(profile.rate_bps, trace, seed.is_some());
        self.overhead_bytes = profile.packet_overhead_bytes.unwrap_or(0);
        self.delay.change(profile, new_stream("jitter"));
    }

    /// Starts an outage at `now_ns`: no packet, carried or cross traffic, enters the link before
    /// `until_ns`; 0 ends an outage. Packets under way or waiting are not held up.
    pub fn set_outage(&mut self, now_ns: u64, until_ns: u64) {
        self.advance(now_ns);
        self.outage_until_ns = until_ns;
    }

    /// Returns the fate of a packet of `bytes` arriving at `now_ns`. Arrivals must come in time
    /// order. Releases are in the same order, also across a change to a shorter delay, unless the
    /// profile permits overtaking.
    pub fn arrival(&mut self, now_ns: u64, bytes: u32) -> PacketFate {
        self.arrival_by(now_ns, bytes, None)
    }

    /// Returns the fate of a far server's packet; `extra_delay` is the result of
    /// [`FarServers::way_to`].
    pub fn arrival_by(
        &mut self,
        now_ns: u64,
        bytes: u32,
        extra_delay: Option<usize>,
    ) -> PacketFate {
        if now_ns < self.outage_until_ns {
            return PacketFate::Drop(DropCause::Outage);
        }
        // Both draw for every packet, whatever the other says.
        if self.loss.takes_next() | self.burst_loss.takes_next() {
            return PacketFate::Drop(DropCause::Loss);
        }
        if !self.policer.passes(now_ns, bytes) {
            return PacketFate::Drop(DropCause::Policer);
        }
        self.advance(now_ns);
        self.enqueue(now_ns, bytes, PacketOwner::Carried(extra_delay))
    }

    /// Returns the fate of the longest waiting packet, once settled. Call before every arrival,
    /// with the arrival's time, until no fate is left, and again after the arrival.
    pub fn settle_next(&mut self, now_ns: u64) -> Option<PacketFate> {
        while self.settled.is_empty() && self.waiting_count > 0 && self.step(now_ns) {}
        self.settled.pop_front()
    }

    /// Returns the next possible time of settling fates; `None` when no carried packet waits.
    pub fn next_settlement_ns(&self) -> Option<u64> {
        if !self.settled.is_empty() {
            return Some(0);
        }
        if self.waiting_count == 0 {
            return None;
        }
        self.next_dequeue_ns()
    }

    /// Carries out all events up to `now_ns`.
    fn advance(&mut self, now_ns: u64) {
        let silence_ns = now_ns.saturating_sub(self.advanced_ns);
        if self.waiting_count == 0
            && silence_ns > cross_traffic::WARM_UP_NS
            && let Queue::Codel(queue) = &mut self.queue
        {
            // Cross traffic starts anew after such a silence; so does what it left waiting.
            queue.drain().for_each(drop);
        }
        while self.step(now_ns) {}
        self.advanced_ns = self.advanced_ns.max(now_ns);
    }

    /// Carries out the next event up to `now_ns`, if any: the arrival of a cross-traffic packet, or
    /// CoDel's next departure from the queue.
    fn step(&mut self, now_ns: u64) -> bool {
        let dequeue_ns = self.next_dequeue_ns().filter(|at_ns| *at_ns <= now_ns);
        // One that comes as another leaves still finds it gone, as real arrivals do.
        let before_ns = dequeue_ns.map_or(now_ns, |at_ns| at_ns.saturating_sub(1));
        if let Some((at_ns, bytes)) = self.cross_traffic.take_until(before_ns) {
            if at_ns >= self.outage_until_ns {
                self.enqueue(at_ns, bytes, PacketOwner::Phantom);
            }
        } else if let Some(at_ns) = dequeue_ns {
            self.dequeue(at_ns);
        } else {
            return false;
        }
        true
    }

    fn enqueue(&mut self, now_ns: u64, bytes: u32, tag: PacketOwner) -> PacketFate {
        let start_ns = self.rate.next_start_ns(now_ns);
        let admitted = match &mut self.queue {
            Queue::Droptail(queue) => queue.admit(now_ns, start_ns, bytes),
            Queue::Codel(queue) => {
                let packet = CodelPacket {
                    arrived_ns: now_ns,
                    bytes,
                    tag,
                };
                queue.admit(packet, start_ns <= now_ns)
            }
        };
        match (admitted, &self.queue, tag) {
            (false, ..) => PacketFate::Drop(DropCause::QueueFull),
            (true, Queue::Droptail(_), PacketOwner::Carried(extra_delay)) => {
                let service = self.rate.serve(now_ns, bytes + self.overhead_bytes);
                self.release(service.finish_ns, extra_delay)
            }
            (true, Queue::Droptail(_), PacketOwner::Phantom) => {
                self.rate.serve(now_ns, bytes + self.overhead_bytes);
                PacketFate::Waits
            }
            (true, Queue::Codel(_), _) => {
                self.waiting_count += usize::from(tag != PacketOwner::Phantom);
                PacketFate::Waits
            }
        }
    }

    fn next_dequeue_ns(&self) -> Option<u64> {
        let Queue::Codel(queue) = &self.queue else {
            return None;
        };
        Some(self.rate.next_start_ns(queue.first_arrived_ns()?))
    }

    fn dequeue(&mut self, now_ns: u64) {
        let Queue::Codel(queue) = &mut self.queue else {
            return;
        };
        let dequeued = queue.dequeue(now_ns);
        for packet in dequeued.dropped {
            if packet.tag != PacketOwner::Phantom {
                self.settle(PacketFate::Drop(DropCause::Codel));
            }
        }
        if let Some(packet) = dequeued.taken {
            self.serve_waiting(packet);
        }
    }

    fn serve_waiting(&mut self, packet: CodelPacket<PacketOwner>) {
        let service = self
            .rate
            .serve(packet.arrived_ns, packet.bytes + self.overhead_bytes);
        if let PacketOwner::Carried(extra_delay) = packet.tag {
            let fate = self.release(service.finish_ns, extra_delay);
            self.settle(fate);
        }
    }

    fn settle(&mut self, fate: PacketFate) {
        self.waiting_count -= 1;
        self.settled.push_back(fate);
    }

    fn change_queue(&mut self, profile: &DirectionProfile) {
        let next = Queue::new(profile);
        match (&mut self.queue, next) {
            (Queue::Droptail(queue), Queue::Droptail(_)) => {
                queue.change(QueueLimit::from_profile(profile));
            }
            (Queue::Codel(queue), Queue::Codel(_)) => queue.change(codel_settings(profile)),
            (Queue::Droptail(_), next) => self.queue = next,
            (Queue::Codel(queue), next) => {
                let waiting: Vec<_> = queue.drain().collect();
                self.queue = next;
                for packet in waiting {
                    self.serve_waiting(packet);
                }
            }
        }
    }

    fn release(&mut self, finish_ns: u64, extra_delay: Option<usize>) -> PacketFate {
        let wanted_ns = self.delay.arrival_ns(finish_ns);
        self.last_release_ns = self.last_release_ns.max(wanted_ns);
        let at_ns = if self.delay.reorders() {
            wanted_ns
        } else {
            self.last_release_ns
        };
        let at_ns = extra_delay.map_or(at_ns, |extra_delay| {
            self.far
                .arrival_ns(extra_delay, at_ns, self.delay.reorders())
        });
        PacketFate::Release { at_ns }
    }
}

fn codel_settings(profile: &DirectionProfile) -> codel::Settings {
    let target_ms = profile.codel_target_ms.unwrap_or(DEFAULT_TARGET_MS);
    let interval_ms = profile.codel_interval_ms.unwrap_or(DEFAULT_INTERVAL_MS);
    codel::Settings {
        limit: QueueLimit::from_profile(profile),
        target_ns: to_ns(target_ms),
        interval_ns: to_ns(interval_ms),
    }
}

fn stream(seed: u64, label: &str, element: &str) -> RandomStream {
    RandomStream::derive(seed, &format!("link/{label}/{element}"))
}

#[cfg(test)]
mod tests;
