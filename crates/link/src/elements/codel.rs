//! A queue with a short standing wait: CoDel (RFC 8289, section 5), in virtual time. The decision
//! to drop a packet comes at the packet's departure from the queue, from the packet's wait and the
//! bytes still waiting behind. At the arrival the decision is therefore still unknown. Besides, a
//! queue limit drops arrivals. Not for: the times of a free link (see the rate).

use crate::elements::queue_limit::QueueLimit;
use std::collections::VecDeque;

/// Default target of RFC 8289, section 4.3.
pub const DEFAULT_TARGET_MS: f64 = 5.0;
/// Default interval of RFC 8289, section 4.4.
pub const DEFAULT_INTERVAL_MS: f64 = 100.0;
/// Number of intervals after the last dropping state; a later dropping state starts from scratch.
const RECENT_INTERVALS: u64 = 16;

/// A packet in the queue; `T` is the model's data about the packet, needed at the departure.
#[derive(Debug, Clone, Copy)]
pub struct CodelPacket<T> {
    /// Arrival time of the packet, in ns.
    pub arrived_ns: u64,
    /// Length of the packet, in bytes.
    pub bytes: u32,
    /// The model's data, passed through unchanged.
    pub tag: T,
}

/// The result at the moment of a free link.
#[derive(Debug)]
pub struct DequeueResult<T> {
    /// Packets dropped now, in the order of arrival; all came before `taken`.
    pub dropped: Vec<CodelPacket<T>>,
    /// The packet going onto the link.
    pub taken: Option<CodelPacket<T>>,
}

/// The control law's settings.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The limit on waiting packets and bytes.
    pub limit: QueueLimit,
    /// Acceptable standing wait, in ns.
    pub target_ns: u64,
    /// Window for the wait to fall below the target once, in ns.
    pub interval_ns: u64,
}

/// The queue and the control law's state; names as in RFC 8289.
#[derive(Debug, Clone)]
pub struct Codel<T> {
    settings: Settings,
    waiting: VecDeque<CodelPacket<T>>,
    waiting_bytes: u64,
    /// Size of the largest packet so far. A queue with this number of waiting bytes or fewer never
    /// counts as bad.
    largest_packet_bytes: u64,
    first_above_ns: Option<u64>,
    is_dropping: bool,
    drop_next_ns: u64,
    count: u64,
    last_count: u64,
}

impl<T: Copy> Codel<T> {
    /// Makes an empty queue.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            largest_packet_bytes: 0,
            first_above_ns: None,
            is_dropping: false,
            drop_next_ns: 0,
            count: 0,
            last_count: 0,
        }
    }

    /// Changes to other settings; packets already waiting stay.
    pub fn change(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// Returns the arrival time of the packet next to leave.
    pub fn first_arrived_ns(&self) -> Option<u64> {
        self.waiting.front().map(|first| first.arrived_ns)
    }

    /// Lets a packet in; `false` means dropped. Packets must come in time order. With a free link
    /// no packet waits, and no packet is dropped.
    pub fn admit(&mut self, packet: CodelPacket<T>, link_is_free: bool) -> bool {
        let limit = self.settings.limit;
        if !link_is_free && !limit.has_room(self.waiting_bytes, self.waiting.len(), packet.bytes) {
            return false;
        }
        self.largest_packet_bytes = self.largest_packet_bytes.max(packet.bytes.into());
        self.waiting_bytes += u64::from(packet.bytes);
        self.waiting.push_back(packet);
        true
    }

    /// Takes the next packet for the link, free at `now_ns`. All earlier arrivals must have been
    /// let in.
    pub fn dequeue(&mut self, now_ns: u64) -> DequeueResult<T> {
        let mut dropped = Vec::new();
        let (mut taken, mut ok_to_drop) = self.take_first(now_ns);
        if self.is_dropping {
            self.is_dropping = ok_to_drop;
            while self.is_dropping && now_ns >= self.drop_next_ns {
                dropped.extend(taken);
                self.count += 1;
                (taken, ok_to_drop) = self.take_first(now_ns);
                self.is_dropping = ok_to_drop;
                if ok_to_drop {
                    self.drop_next_ns = self.next_drop_ns(self.drop_next_ns);
                }
            }
        } else if ok_to_drop {
            dropped.extend(taken);
            (taken, _) = self.take_first(now_ns);
            self.begin_dropping(now_ns);
        }
        DequeueResult { dropped, taken }
    }

    /// Does the RFC's dodequeue: returns the first packet, and true when the packet may be dropped.
    fn take_first(&mut self, now_ns: u64) -> (Option<CodelPacket<T>>, bool) {
        let Some(first) = self.waiting.pop_front() else {
            self.first_above_ns = None;
            return (None, false);
        };
        self.waiting_bytes -= u64::from(first.bytes);
        let wait_ns = now_ns.saturating_sub(first.arrived_ns);
        if wait_ns < self.settings.target_ns || self.waiting_bytes <= self.largest_packet_bytes {
            self.first_above_ns = None;
            return (Some(first), false);
        }
        let due_ns = *self
            .first_above_ns
            .get_or_insert(now_ns + self.settings.interval_ns);
        (Some(first), now_ns >= due_ns)
    }

    /// Starts dropping. Continues from the last controlling rate, if the last dropping state is
    /// recent.
    fn begin_dropping(&mut self, now_ns: u64) {
        self.is_dropping = true;
        let since_count = self.count.saturating_sub(self.last_count);
        let recent_ns = RECENT_INTERVALS * self.settings.interval_ns;
        let is_recent = now_ns.saturating_sub(self.drop_next_ns) < recent_ns;
        self.count = if since_count > 1 && is_recent {
            since_count
        } else {
            1
        };
        self.drop_next_ns = self.next_drop_ns(now_ns);
        self.last_count = self.count;
    }

    /// Computes the RFC's control_law.
    fn next_drop_ns(&self, from_ns: u64) -> u64 {
        from_ns + (self.settings.interval_ns as f64 / (self.count as f64).sqrt()) as u64
    }

    /// Lets all packets out without dropping, in the order of arrival.
    pub fn drain(&mut self) -> impl Iterator<Item = CodelPacket<T>> {
        self.waiting_bytes = 0;
        std::mem::take(&mut self.waiting).into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn settings(limit_bytes: Option<u64>) -> Settings {
        Settings {
            limit: QueueLimit {
                bytes: limit_bytes,
                packets_count: None,
            },
            target_ns: 5 * MS,
            interval_ns: 100 * MS,
        }
    }

    fn packet(arrived_ns: u64) -> CodelPacket<()> {
        CodelPacket {
            arrived_ns,
            bytes: 1_500,
            tag: (),
        }
    }

    /// Returns the times of drops when a packet comes each `gap_ns` until `until_ns`, and the link
    /// takes a packet each ms.
    fn drop_times(queue: &mut Codel<()>, gap_ns: u64, until_ns: u64, end_ns: u64) -> Vec<u64> {
        let (mut next_ns, mut times) = (0, Vec::new());
        for now_ns in (0..end_ns).step_by(MS as usize) {
            while next_ns <= now_ns && next_ns < until_ns {
                queue.admit(packet(next_ns), false);
                next_ns += gap_ns;
            }
            let dropped = queue.dequeue(now_ns).dropped.len();
            times.extend(std::iter::repeat_n(now_ns, dropped));
        }
        times
    }

    /// Nothing within the first interval above the target; then drops an interval over the square
    /// root of their number apart, each at the first departure from then on.
    #[test]
    fn drops_follow_the_control_law() {
        let times = drop_times(
            &mut Codel::new(settings(None)),
            MS / 2,
            u64::MAX,
            3_000 * MS,
        );
        // Waits grow by half a ms per packet: packet 10 is the first to wait 5 ms, at 10 ms.
        assert_eq!(times[0], 110 * MS);
        let mut law_ns = 110.0 * MS as f64;
        for (index, at_ns) in times.iter().enumerate().skip(1) {
            law_ns += 100.0 * MS as f64 / (index as f64).sqrt();
            let departure_ns = (law_ns / MS as f64 - 1e-3).ceil() as u64 * MS;
            assert_eq!(*at_ns, departure_ns, "drop {index}");
        }
        assert!(times.len() > 100);
    }

    #[test]
    fn a_burst_shorter_than_the_interval_passes_whole() {
        let times = drop_times(
            &mut Codel::new(settings(None)),
            MS / 10,
            10 * MS,
            1_000 * MS,
        );
        assert!(times.is_empty(), "{times:?}");
    }

    #[test]
    fn a_queue_below_the_target_is_left_alone() {
        let times = drop_times(&mut Codel::new(settings(None)), MS, u64::MAX, 5_000 * MS);
        assert!(times.is_empty(), "{times:?}");
    }

    #[test]
    fn a_last_packet_is_never_dropped_however_long_it_waited() {
        let mut queue = Codel::new(settings(None));
        for now_ms in (0..5_000).step_by(200) {
            queue.admit(packet(now_ms * MS), false);
            assert!(queue.dequeue((now_ms + 150) * MS).taken.is_some());
        }
    }

    #[test]
    fn dropping_begins_near_the_rate_of_a_recent_time() {
        let mut queue = Codel::new(settings(None));
        let first = drop_times(&mut queue, MS / 2, u64::MAX, 2_000 * MS);
        queue.drain().for_each(drop);
        queue.dequeue(2_000 * MS);
        let count = queue.count;
        assert!(count > 10 && count as usize == first.len());
        for index in 0..400 {
            queue.admit(packet(2_000 * MS + index * MS / 2), false);
        }
        (2_010..2_130).for_each(|now_ms| drop(queue.dequeue(now_ms * MS)));
        assert!(
            queue.is_dropping && queue.last_count == count - 1,
            "{queue:?}"
        );
    }

    #[test]
    fn the_limit_drops_arrivals() {
        let mut queue = Codel::new(settings(Some(3_000)));
        assert_eq!(
            [0, 1, 2].map(|at_ns| queue.admit(packet(at_ns), false)),
            [true, true, false]
        );
        assert!(queue.admit(packet(3), true));
        queue.dequeue(10);
        queue.dequeue(10);
        assert!(queue.admit(packet(11), false));
    }
}
