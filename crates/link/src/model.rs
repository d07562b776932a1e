//! One direction of an access link as a pure model in virtual time: what becomes of a packet of so
//! many bytes that comes at such a time. Times follow from the model's own clock, never from when
//! anybody woke up, so lateness of the ferry never accumulates. Not for: packets, clocks, I/O.
//!
//! Order: loss -> queue -> rate -> delay. A queue that decides when packets leave it (CoDel) makes
//! them wait; their fates follow when the link would take them. An element with memory of its own (bursty loss, a queue
//! that drops on waiting time, a trace of delivery opportunities, delay that varies in time) takes
//! the place of the one it refines; cross traffic is arrivals fed to queue and rate whose releases
//! nobody carries.

use crate::burst_loss::BurstLoss;
use crate::codel::{self, Codel, DEFAULT_INTERVAL_MS, DEFAULT_TARGET_MS, Waiting};
use crate::cross_traffic::{self, CrossTraffic};
use crate::delay::{Delay, to_ns};
use crate::droptail::Droptail;
use crate::far::FarServers;
use crate::link_rate::LinkRate;
use crate::loss::IndependentLoss;
use crate::random::RandomStream;
use crate::trace::Trace;
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
    /// It did not fit into the queue.
    QueueFull,
    /// CoDel dropped it for its wait.
    Codel,
}

/// One direction of the link.
#[derive(Debug, Clone)]
pub struct DirectionModel {
    label: &'static str,
    loss: IndependentLoss,
    burst_loss: BurstLoss,
    queue: Queue,
    rate: LinkRate,
    delay: Delay,
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
                Self::Droptail(Droptail::new(profile.queue_bytes))
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
        Self {
            label,
            loss: IndependentLoss::new(profile.loss_ratio, stream(seed, label, "loss")),
            burst_loss: BurstLoss::new(
                profile.gilbert_elliott.as_ref(),
                stream(seed, label, "burst_loss"),
            ),
            queue: Queue::new(profile),
            rate: LinkRate::new(profile.rate_bps, trace),
            delay: Delay::new(profile, stream(seed, label, "jitter")),
            last_release_ns: 0,
            settled: VecDeque::new(),
            waiting_count: 0,
            advanced_ns: 0,
            cross_traffic: CrossTraffic::new(
                profile.cross_traffic,
                stream(seed, label, "cross_traffic"),
            ),
            far: FarServers::default(),
        }
    }

    /// Put another profile in force. Packets already taken keep their times, and the link stays
    /// busy with them; those in a CoDel queue stay in it, or go onto the link without another look
    /// if the new profile has none. Without a seed the random streams run on.
    pub fn change(&mut self, profile: &DirectionProfile, seed: Option<u64>) {
        self.change_over(profile, None, seed);
    }

    /// The same for a profile that names a trace; a seed restarts that too.
    pub fn change_over(
        &mut self,
        profile: &DirectionProfile,
        trace: Option<Arc<Trace>>,
        seed: Option<u64>,
    ) {
        let new_stream = |element| seed.map(|seed| stream(seed, self.label, element));
        self.loss.change(profile.loss_ratio, new_stream("loss"));
        self.burst_loss
            .change(profile.gilbert_elliott.as_ref(), new_stream("burst_loss"));
        self.cross_traffic
            .change(profile.cross_traffic, new_stream("cross_traffic"));
        self.change_queue(profile);
        self.rate.change(profile.rate_bps, trace, seed.is_some());
        self.delay.change(profile, new_stream("jitter"));
    }

    /// The fate of a packet of `bytes` that comes at `now_ns`. Arrivals must come in time order;
    /// releases are in the same order, also across a change to a shorter delay, unless the profile
    /// asks for packets that overtake each other.
    pub fn arrival(&mut self, now_ns: u64, bytes: u32) -> Fate {
        self.arrival_by(now_ns, bytes, None)
    }

    /// The same for a packet of a far server; `way` is what [`FarServers::way_to`] said.
    pub fn arrival_by(&mut self, now_ns: u64, bytes: u32, way: Option<usize>) -> Fate {
        // Both draw for every packet, whatever the other says.
        if self.loss.takes_next() | self.burst_loss.takes_next() {
            return Fate::Drop(DropCause::Loss);
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
        self.advanced_ns = now_ns;
    }

    /// The next thing that happens by `now_ns`, if there is one: a packet of others comes, or CoDel's
    /// next leave the queue.
    fn step(&mut self, now_ns: u64) -> bool {
        let dequeue_ns = self.next_dequeue_ns().filter(|at_ns| *at_ns <= now_ns);
        // One that comes as another leaves still finds it gone, as real arrivals do.
        let before_ns = dequeue_ns.map_or(now_ns, |at_ns| at_ns.saturating_sub(1));
        if let Some((at_ns, bytes)) = self.cross_traffic.take_until(before_ns) {
            self.enqueue(at_ns, bytes, Traffic::Phantom);
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
                let service = self.rate.serve(now_ns, bytes);
                self.release(service.finish_ns, way)
            }
            (true, Queue::Droptail(_), Traffic::Phantom) => {
                self.rate.serve(now_ns, bytes);
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
        let service = self.rate.serve(packet.arrived_ns, packet.bytes);
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
            (Queue::Droptail(queue), Queue::Droptail(_)) => queue.change(profile.queue_bytes),
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
        limit_bytes: profile.queue_bytes,
        target_ns: to_ns(target_ms),
        interval_ns: to_ns(interval_ms),
    }
}

fn stream(seed: u64, label: &str, element: &str) -> RandomStream {
    RandomStream::derive(seed, &format!("link/{label}/{element}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn profile(delay_ms: f64, rate_bps: Option<f64>, queue_bytes: Option<u64>) -> DirectionProfile {
        DirectionProfile {
            one_way_delay_ms: delay_ms,
            rate_bps,
            queue_bytes,
            ..DirectionProfile::default()
        }
    }

    fn released(fate: Fate) -> u64 {
        match fate {
            Fate::Release { at_ns } => at_ns,
            fate => panic!("not released: {fate:?}"),
        }
    }

    #[test]
    fn a_lone_packet_takes_its_bits_and_the_delay() {
        let mut link = DirectionModel::new(&profile(20.0, Some(12e6), Some(15_000)), "up", 1);
        assert_eq!(
            released(link.arrival(1_000, 1_500)),
            1_000 + 1_000_000 + 20_000_000
        );
    }

    #[test]
    fn the_delay_line_does_not_fill_the_queue() {
        let mut link = DirectionModel::new(&profile(1_000.0, Some(12e6), Some(0)), "up", 1);
        for index in 0..900 {
            let now_ns = index * 1_000_000;
            assert_eq!(
                released(link.arrival(now_ns, 1_500)),
                now_ns + 1_001_000_000
            );
        }
    }

    #[test]
    fn a_burst_is_cut_at_the_queue_limit() {
        let mut link = DirectionModel::new(&profile(5.0, Some(12e6), Some(4_500)), "up", 1);
        let fates: Vec<Fate> = (0..6).map(|_| link.arrival(0, 1_500)).collect();
        assert_eq!(released(fates[3]), 4_000_000 + 5_000_000);
        assert_eq!(fates[4..], [Fate::Drop(DropCause::QueueFull); 2]);
    }

    #[test]
    fn a_lost_packet_does_not_use_the_link() {
        let lossy = DirectionProfile {
            loss_ratio: 1.0,
            ..profile(0.0, Some(12e6), Some(0))
        };
        let mut link = DirectionModel::new(&lossy, "up", 1);
        assert_eq!(link.arrival(0, 1_500), Fate::Drop(DropCause::Loss));
        link.change(&profile(0.0, Some(12e6), Some(0)), None);
        assert_eq!(released(link.arrival(0, 1_500)), 1_000_000);
    }

    #[test]
    fn a_new_seed_restarts_the_loss_pattern() {
        let lossy = DirectionProfile {
            loss_ratio: 0.5,
            ..profile(0.0, None, None)
        };
        let pattern = |link: &mut DirectionModel| -> Vec<bool> {
            (0..64)
                .map(|_| matches!(link.arrival(0, 100), Fate::Drop(_)))
                .collect()
        };
        let mut link = DirectionModel::new(&lossy, "up", 1);
        let first = pattern(&mut link);
        assert_ne!(pattern(&mut link), first);
        link.change(&lossy, Some(1));
        assert_eq!(pattern(&mut link), first);
        assert_ne!(pattern(&mut DirectionModel::new(&lossy, "down", 1)), first);
    }

    fn jittery(per_packet_reordering: bool) -> DirectionProfile {
        DirectionProfile {
            jitter: Some(resolab_record::Jitter {
                standard_deviation_ms: Some(3.0),
                interval_ms: Some(15.0),
                per_packet_reordering,
                ..resolab_record::Jitter::default()
            }),
            ..profile(26.65, Some(50e6), Some(100_000))
        }
    }

    #[test]
    fn jitter_keeps_order_unless_asked() {
        for (reordering, share) in [(false, 0.0..=0.0), (true, 0.4..=0.7)] {
            let mut link = DirectionModel::new(&jittery(reordering), "up", 1);
            let releases: Vec<u64> = (0..10_000)
                .map(|index| released(link.arrival(index * 1_000_000, 100)))
                .collect();
            let overtaken = releases.windows(2).filter(|pair| pair[1] < pair[0]).count();
            assert!(
                share.contains(&(overtaken as f64 / 10_000.0)),
                "{overtaken} overtaken"
            );
        }
    }

    #[test]
    fn a_new_seed_restarts_the_jitter() {
        let delays = |link: &mut DirectionModel, from_ns: u64| -> Vec<u64> {
            (0..100)
                .map(|index| from_ns + index * 5_000_000)
                .map(|now_ns| released(link.arrival(now_ns, 100)) - now_ns)
                .collect()
        };
        let mut link = DirectionModel::new(&jittery(false), "up", 1);
        let first = delays(&mut link, 0);
        link.change(&jittery(false), Some(1));
        assert_eq!(delays(&mut link, 10_000_000_000), first);
        assert_ne!(delays(&mut link, 20_000_000_000), first);
    }

    fn codel(rate_bps: f64) -> DirectionProfile {
        DirectionProfile {
            queue_discipline: Some(QueueDiscipline::Codel),
            ..profile(5.0, Some(rate_bps), None)
        }
    }

    /// All fates of a train of packets, in their order, as the lane would ask for them.
    fn fates(link: &mut DirectionModel, gap_ns: u64, count: u64) -> Vec<Fate> {
        let mut fates = Vec::new();
        for now_ns in (0..count).map(|index| index * gap_ns) {
            fates.extend(std::iter::from_fn(|| link.settled(now_ns)));
            fates.extend(Some(link.arrival(now_ns, 1_500)).filter(|fate| *fate != Fate::Waits));
            fates.extend(std::iter::from_fn(|| link.settled(now_ns)));
        }
        fates.extend(std::iter::from_fn(|| link.settled(u64::MAX)));
        fates
    }

    #[test]
    fn codel_is_droptail_while_nobody_waits_long() {
        let mut droptail = DirectionModel::new(&profile(5.0, Some(12e6), None), "up", 1);
        let mut link = DirectionModel::new(&codel(12e6), "up", 1);
        assert_eq!(
            fates(&mut link, 1_000_001, 500),
            fates(&mut droptail, 1_000_001, 500)
        );
    }

    /// An unresponsive flow at twice the rate: the standing queue is attacked ever faster.
    #[test]
    fn codel_drops_from_a_standing_queue_and_keeps_the_rate() {
        let mut link = DirectionModel::new(&codel(12e6), "up", 1);
        let fates = fates(&mut link, 500_000, 4_000);
        assert_eq!(fates.len(), 4_000);
        let first_drop = fates
            .iter()
            .position(|fate| *fate == Fate::Drop(DropCause::Codel));
        assert_eq!(first_drop, Some(110));
        let releases: Vec<u64> = fates
            .iter()
            .filter(|fate| matches!(fate, Fate::Release { .. }))
            .map(|fate| released(*fate))
            .collect();
        assert!(
            releases
                .windows(2)
                .all(|pair| pair[1] - pair[0] == 1_000_000)
        );
        assert!(releases.len() < 3_950);
    }

    #[test]
    fn leaving_codel_keeps_who_waits() {
        let mut link = DirectionModel::new(&codel(12e6), "up", 1);
        assert!((0..5).all(|_| link.arrival(0, 1_500) == Fate::Waits));
        link.change(&profile(5.0, Some(12e6), None), None);
        for index in 1..=5 {
            let fate = link.settled(0).unwrap();
            assert_eq!(released(fate), index * 1_000_000 + 5_000_000);
        }
        assert_eq!(released(link.arrival(0, 1_500)), 11_000_000);
        assert_eq!(link.next_settlement_ns(), None);
    }

    fn busy(load: f64) -> DirectionProfile {
        DirectionProfile {
            cross_traffic: Some(resolab_record::CrossTraffic {
                model: resolab_record::CrossTrafficModel::Poisson,
                rate_bps: 10.7e6 * load,
                packet_bytes: None,
                on_ms: None,
                off_ms: None,
            }),
            ..profile(0.0, Some(10.7e6), None)
        }
    }

    /// Pollaczek and Khinchine: the mean wait at load r and service time s is r s / (2 (1 - r)).
    #[test]
    fn waits_behind_poisson_traffic_are_those_of_an_m_d_1_queue() {
        let service_ns = 12_000.0 * 1e9 / 10.7e6;
        for load in [0.3, 0.7] {
            let mut link = DirectionModel::new(&busy(load), "up", 1);
            let waits = (1..=40_000).map(|index| {
                let now_ns = index * 50_000_000;
                released(link.arrival(now_ns, 1)) - now_ns - 747
            });
            let mean_ns = waits.sum::<u64>() as f64 / 40_000.0;
            let expected_ns = load * service_ns / (2.0 * (1.0 - load));
            assert!(
                (mean_ns / expected_ns - 1.0).abs() < 0.03,
                "{mean_ns} for {expected_ns}"
            );
        }
    }

    #[test]
    fn codel_sees_the_traffic_of_others() {
        let crowded = DirectionProfile {
            queue_discipline: Some(QueueDiscipline::Codel),
            ..busy(1.3)
        };
        let mut link = DirectionModel::new(&crowded, "up", 1);
        let fates = fates(&mut link, 20_000_000, 1_000);
        assert_eq!(fates.len(), 1_000);
        let dropped = fates
            .iter()
            .filter(|fate| **fate == Fate::Drop(DropCause::Codel))
            .count();
        assert!((100..400).contains(&dropped), "{dropped} dropped");
        assert_eq!(link.next_settlement_ns(), None);
    }

    #[test]
    fn far_servers_share_the_link_and_take_longer() {
        for discipline in [QueueDiscipline::Droptail, QueueDiscipline::Codel] {
            let wanted = DirectionProfile {
                queue_discipline: Some(discipline),
                ..profile(5.0, Some(12e6), None)
            };
            let mut link = DirectionModel::new(&wanted, "up", 1);
            link.far = FarServers::new(&[resolab_record::FarNetwork {
                network: "10.77.1.16/28".to_owned(),
                extra_one_way_delay_ms: 20.0,
            }]);
            let way = link.far.way_to("10.77.1.20".parse().unwrap());
            let mut times_ms = Vec::new();
            for way in [way, None, way] {
                let fate = link.arrival_by(0, 1_500, way);
                let fate = if fate == Fate::Waits {
                    link.settled(10_000_000)
                } else {
                    Some(fate)
                };
                times_ms.push(released(fate.unwrap()) / 1_000_000);
            }
            assert_eq!(times_ms, [26, 7, 28]);
        }
    }

    #[test]
    fn bursts_are_loss_too() {
        let bursty = DirectionProfile {
            gilbert_elliott: Some(resolab_record::GilbertElliott {
                good_to_bad_ratio: 1.0,
                bad_to_good_ratio: 1.0,
                good_loss_ratio: None,
                bad_loss_ratio: None,
            }),
            ..profile(0.0, None, None)
        };
        let mut link = DirectionModel::new(&bursty, "up", 1);
        assert_eq!(released(link.arrival(0, 100)), 0);
        assert_eq!(link.arrival(0, 100), Fate::Drop(DropCause::Loss));
        assert_eq!(released(link.arrival(0, 100)), 0);
    }

    #[test]
    fn a_shorter_delay_does_not_overtake() {
        let mut link = DirectionModel::new(&profile(50.0, None, None), "up", 1);
        assert_eq!(released(link.arrival(0, 100)), 50_000_000);
        link.change(&profile(1.0, None, None), None);
        assert_eq!(released(link.arrival(1, 100)), 50_000_000);
        assert_eq!(released(link.arrival(60_000_000, 100)), 61_000_000);
    }

    proptest! {
        /// Whatever the link and the arrivals: order is kept, nobody is early, and waiting is
        /// never longer than a full queue takes.
        #[test]
        fn releases_are_ordered_and_bounded(
            delay_ms in 0.0_f64..300.0,
            rate_bps in 100_000.0_f64..1e9,
            queue_bytes in 0_u64..200_000,
            packets in prop::collection::vec((0_u64..2_000_000, 20_u32..1_501), 1..300),
        ) {
            let wanted = profile(delay_ms, Some(rate_bps), Some(queue_bytes));
            let mut link = DirectionModel::new(&wanted, "up", 1);
            let (mut now_ns, mut last_ns) = (1_000_000_000, 0);
            for (gap_ns, bytes) in packets {
                now_ns += gap_ns;
                let Fate::Release { at_ns } = link.arrival(now_ns, bytes) else { continue };
                let delay_ns = delay_ms * 1e6;
                let own_ns = f64::from(bytes) * 8e9 / rate_bps;
                let most_ns = (queue_bytes as f64 + 1_500.0) * 8e9 / rate_bps + own_ns;
                let way_ns = (at_ns - now_ns) as f64;
                prop_assert!(at_ns >= last_ns);
                prop_assert!(way_ns >= delay_ns + own_ns - 2.0);
                prop_assert!(way_ns <= delay_ns + most_ns + 3.0);
                last_ns = at_ns;
            }
        }
    }
}
