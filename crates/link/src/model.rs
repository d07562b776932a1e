//! One direction of an access link as a pure model in virtual time: what becomes of a packet of so
//! many bytes that comes at such a time. Times follow from the model's own clock, never from when
//! anybody woke up, so lateness of the ferry never accumulates. Not for: packets, clocks, I/O.
//!
//! Order: loss -> policer -> queue -> rate -> delay. A queue that decides when packets leave it (CoDel) makes
//! them wait; their fates follow when the link would take them. An element with memory of its own (bursty loss, a queue
//! that drops on waiting time, a trace of delivery opportunities, delay that varies in time) takes
//! the place of the one it refines; cross traffic is arrivals fed to queue and rate whose releases
//! nobody carries.

use crate::elements::burst_loss::BurstLoss;
use crate::elements::codel::{self, Codel, DEFAULT_INTERVAL_MS, DEFAULT_TARGET_MS, Waiting};
use crate::elements::cross_traffic::{self, CrossTraffic};
use crate::elements::delay::{Delay, to_ns};
use crate::elements::droptail::Droptail;
use crate::elements::far::FarServers;
use crate::elements::link_rate::LinkRate;
use crate::elements::loss::IndependentLoss;
use crate::elements::policer::Policer;
use crate::elements::queue_limit::QueueLimit;
use crate::elements::random::RandomStream;
use crate::elements::trace::Trace;
use resolab_record::{DirectionProfile, QueueDiscipline};
use std::collections::VecDeque;
use std::sync::Arc;

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It comes out of the link at this time.
    Release {
        /// On the clock of the arrivals.
        at_ns: u64,
    },
    /// It never comes out.
    Drop(DropCause),
    /// Not known yet: [`DirectionModel::settled`] tells, in the order of arrivals.
    Waits,
}

/// Why a packet never comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropCause {
    /// The loss process took it.
    Loss,
    /// It found too few tokens at the policer.
    Policer,
    /// It did not fit into the queue.
    QueueFull,
    /// CoDel dropped it for its wait.
    Codel,
    /// It came during an outage.
    Outage,
}

/// One direction of the link.
#[derive(Debug, Clone)]
pub struct DirectionModel {
    label: &'static str,
    loss: IndependentLoss,
    burst_loss: BurstLoss,
    policer: Policer,
    queue: Queue,
    rate: LinkRate,
    /// What every packet takes on the link beyond its length.
    overhead_bytes: u32,
    delay: Delay,
    /// Nothing enters the link before this.
    outage_until_ns: u64,
    last_release_ns: u64,
    settled: VecDeque<Fate>,
    /// Packets to be carried whose fate is not settled.
    waiting_count: usize,
    advanced_ns: u64,
    cross_traffic: CrossTraffic,
    /// Servers behind the link that are farther away.
    pub far: FarServers,
}

#[derive(Debug, Clone)]
enum Queue {
    Droptail(Droptail),
    Codel(Codel<Traffic>),
}

/// Whose packet waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Traffic {
    /// One to be carried, this way after the link.
    Carried(Option<usize>),
    /// Cross traffic's.
    Phantom,
}

impl Queue {
    fn new(profile: &DirectionProfile) -> Self {
        match profile.queue_discipline {
            Some(QueueDiscipline::Codel) => Self::Codel(Codel::new(codel_settings(profile))),
            Some(QueueDiscipline::Droptail) | None => {
                Self::Droptail(Droptail::new(QueueLimit::of(profile)))
            }
        }
    }
}

impl DirectionModel {
    /// A fresh link, without a trace; `label` (`up`, `down`) sets the directions' random streams
    /// apart.
    pub fn new(profile: &DirectionProfile, label: &'static str, seed: u64) -> Self {
        Self::with_trace(profile, None, label, seed)
    }

    /// A fresh link over the trace that the profile names.
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
            cross_traffic: CrossTraffic::new(*cross_traffic, stream(seed, label, "cross_traffic")),
            far: FarServers::default(),
        }
    }

    /// Put another profile in force. Packets already taken keep their times, and the link stays
    /// busy with them; those in a CoDel queue stay in it, or go onto the link without another look
    /// if the new profile has none. What others sent until `now_ns` met the old one. Without a seed
    /// the random streams run on.
    pub fn change(&mut self, profile: &DirectionProfile, seed: Option<u64>, now_ns: u64) {
        self.change_over(profile, None, seed, now_ns);
    }

    /// The same for a profile that names a trace; a seed restarts that too, and fills a policer's
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

    /// From `now_ns` on let nothing enter the link before `until_ns`, neither packets to be carried
    /// nor those of others; 0 ends an outage. Packets on their way, and those that wait, are not held
    /// up.
    pub fn set_outage(&mut self, now_ns: u64, until_ns: u64) {
        self.advance(now_ns);
        self.outage_until_ns = until_ns;
    }

    /// The fate of a packet of `bytes` that comes at `now_ns`. Arrivals must come in time order;
    /// releases are in the same order, also across a change to a shorter delay, unless the profile
    /// asks for packets that overtake each other.
    pub fn arrival(&mut self, now_ns: u64, bytes: u32) -> Fate {
        self.arrival_by(now_ns, bytes, None)
    }

    /// The same for a packet of a far server; `way` is what [`FarServers::way_to`] said.
    pub fn arrival_by(&mut self, now_ns: u64, bytes: u32, way: Option<usize>) -> Fate {
        if now_ns < self.outage_until_ns {
            return Fate::Drop(DropCause::Outage);
        }
        // Both draw for every packet, whatever the other says.
        if self.loss.takes_next() | self.burst_loss.takes_next() {
            return Fate::Drop(DropCause::Loss);
        }
        if !self.policer.passes(now_ns, bytes) {
            return Fate::Drop(DropCause::Policer);
        }
        self.advance(now_ns);
        self.enqueue(now_ns, bytes, Traffic::Carried(way))
    }

    /// The fate of the packet that has waited longest, once it is settled. To be asked until it has
    /// none before every arrival, with that arrival's time, and again after it.
    pub fn settled(&mut self, now_ns: u64) -> Option<Fate> {
        while self.settled.is_empty() && self.waiting_count > 0 && self.step(now_ns) {}
        self.settled.pop_front()
    }

    /// When the next packets' fates may be settled; never if none waits to be carried.
    pub fn next_settlement_ns(&self) -> Option<u64> {
        if !self.settled.is_empty() {
            return Some(0);
        }
        if self.waiting_count == 0 {
            return None;
        }
        self.next_dequeue_ns()
    }

    /// Let everything happen that happens by `now_ns`.
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

    /// The next thing that happens by `now_ns`, if there is one: a packet of others comes, or CoDel's
    /// next leave the queue.
    fn step(&mut self, now_ns: u64) -> bool {
        let dequeue_ns = self.next_dequeue_ns().filter(|at_ns| *at_ns <= now_ns);
        // One that comes as another leaves still finds it gone, as real arrivals do.
        let before_ns = dequeue_ns.map_or(now_ns, |at_ns| at_ns.saturating_sub(1));
        if let Some((at_ns, bytes)) = self.cross_traffic.take_until(before_ns) {
            if at_ns >= self.outage_until_ns {
                self.enqueue(at_ns, bytes, Traffic::Phantom);
            }
        } else if let Some(at_ns) = dequeue_ns {
            self.dequeue(at_ns);
        } else {
            return false;
        }
        true
    }

    fn enqueue(&mut self, now_ns: u64, bytes: u32, tag: Traffic) -> Fate {
        let start_ns = self.rate.next_start_ns(now_ns);
        let admitted = match &mut self.queue {
            Queue::Droptail(queue) => queue.admit(now_ns, start_ns, bytes),
            Queue::Codel(queue) => {
                let packet = Waiting {
                    arrived_ns: now_ns,
                    bytes,
                    tag,
                };
                queue.admit(packet, start_ns <= now_ns)
            }
        };
        match (admitted, &self.queue, tag) {
            (false, ..) => Fate::Drop(DropCause::QueueFull),
            (true, Queue::Droptail(_), Traffic::Carried(way)) => {
                let service = self.rate.serve(now_ns, bytes + self.overhead_bytes);
                self.release(service.finish_ns, way)
            }
            (true, Queue::Droptail(_), Traffic::Phantom) => {
                self.rate.serve(now_ns, bytes + self.overhead_bytes);
                Fate::Waits
            }
            (true, Queue::Codel(_), _) => {
                self.waiting_count += usize::from(tag != Traffic::Phantom);
                Fate::Waits
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
            if packet.tag != Traffic::Phantom {
                self.settle(Fate::Drop(DropCause::Codel));
            }
        }
        if let Some(packet) = dequeued.taken {
            self.serve_waiting(packet);
        }
    }

    fn serve_waiting(&mut self, packet: Waiting<Traffic>) {
        let service = self
            .rate
            .serve(packet.arrived_ns, packet.bytes + self.overhead_bytes);
        if let Traffic::Carried(way) = packet.tag {
            let fate = self.release(service.finish_ns, way);
            self.settle(fate);
        }
    }

    fn settle(&mut self, fate: Fate) {
        self.waiting_count -= 1;
        self.settled.push_back(fate);
    }

    fn change_queue(&mut self, profile: &DirectionProfile) {
        let next = Queue::new(profile);
        match (&mut self.queue, next) {
            (Queue::Droptail(queue), Queue::Droptail(_)) => queue.change(QueueLimit::of(profile)),
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

    fn release(&mut self, finish_ns: u64, way: Option<usize>) -> Fate {
        let wanted_ns = self.delay.arrival_ns(finish_ns);
        self.last_release_ns = self.last_release_ns.max(wanted_ns);
        let at_ns = if self.delay.reorders() {
            wanted_ns
        } else {
            self.last_release_ns
        };
        let at_ns = way.map_or(at_ns, |way| {
            self.far.arrival_ns(way, at_ns, self.delay.reorders())
        });
        Fate::Release { at_ns }
    }
}

fn codel_settings(profile: &DirectionProfile) -> codel::Settings {
    let target_ms = profile.codel_target_ms.unwrap_or(DEFAULT_TARGET_MS);
    let interval_ms = profile.codel_interval_ms.unwrap_or(DEFAULT_INTERVAL_MS);
    codel::Settings {
        limit: QueueLimit::of(profile),
        target_ns: to_ns(target_ms),
        interval_ns: to_ns(interval_ms),
    }
}

fn stream(seed: u64, label: &str, element: &str) -> RandomStream {
    RandomStream::derive(seed, &format!("link/{label}/{element}"))
}

#[cfg(test)]
mod tests;
