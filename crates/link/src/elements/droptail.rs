//! The queue before the link: packets arriving at a full queue are dropped. Only waiting packets
//! count, neither the packet on the link nor packets under way. Not for: deciding a packet's
//! service time (see the rate).

use crate::elements::queue_limit::QueueLimit;
use std::collections::VecDeque;

/// A droptail queue in virtual time: a packet leaves the queue at the start of its service.
#[derive(Debug, Clone)]
pub struct Droptail {
    limit: QueueLimit,
    waiting_bytes: u64,
    waiting: VecDeque<WaitingPacket>,
}

#[derive(Debug, Clone, Copy)]
struct WaitingPacket {
    service_start_ns: u64,
    bytes: u32,
}

impl Droptail {
    /// Makes an empty queue.
    pub fn new(limit: QueueLimit) -> Self {
        Self {
            limit,
            waiting_bytes: 0,
            waiting: VecDeque::new(),
        }
    }

    /// Changes to another limit; packets already waiting stay.
    pub fn change(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }

    /// Lets a packet in at `now_ns`, with service starting at `service_start_ns`; `false` means
    /// dropped. A packet without a wait is never dropped.
    pub fn admit(&mut self, now_ns: u64, service_start_ns: u64, bytes: u32) -> bool {
        self.leave_until(now_ns);
        if service_start_ns <= now_ns {
            return true;
        }
        if !self
            .limit
            .has_room(self.waiting_bytes, self.waiting.len(), bytes)
        {
            return false;
        }
        self.waiting_bytes += u64::from(bytes);
        self.waiting.push_back(WaitingPacket {
            service_start_ns,
            bytes,
        });
        true
    }

    fn leave_until(&mut self, now_ns: u64) {
        while let Some(first) = self.waiting.front() {
            if first.service_start_ns > now_ns {
                break;
            }
            self.waiting_bytes -= u64::from(first.bytes);
            self.waiting.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(limit: u64) -> QueueLimit {
        QueueLimit {
            bytes: Some(limit),
            packets_count: None,
        }
    }

    #[test]
    fn packets_are_counted_whatever_their_length() {
        let mut queue = Droptail::new(QueueLimit {
            bytes: None,
            packets_count: Some(2),
        });
        assert!(queue.admit(0, 0, 1_500));
        assert!(queue.admit(0, 100, 9_000) && queue.admit(0, 200, 40));
        assert!(!queue.admit(0, 300, 40));
        assert!(queue.admit(100, 300, 40));
    }

    #[test]
    fn the_packet_on_the_link_does_not_count() {
        let mut queue = Droptail::new(bytes(1_000));
        assert!(queue.admit(0, 0, 1_500));
        assert!(queue.admit(0, 100, 600));
        assert!(queue.admit(0, 200, 400));
        assert!(!queue.admit(0, 300, 1));
    }

    #[test]
    fn room_comes_back_when_service_starts() {
        let mut queue = Droptail::new(bytes(1_000));
        assert!(queue.admit(0, 100, 1_000));
        assert!(!queue.admit(99, 200, 1_000));
        assert!(queue.admit(100, 200, 1_000));
    }

    #[test]
    fn a_queue_of_nothing_lets_only_the_link_work() {
        let mut queue = Droptail::new(bytes(0));
        assert!(queue.admit(10, 10, 1_500));
        assert!(!queue.admit(10, 11, 1));
    }

    #[test]
    fn without_a_limit_nothing_is_dropped() {
        let mut queue = Droptail::new(QueueLimit::default());
        assert!((0..10_000).all(|index| queue.admit(0, index, 1_500)));
    }

    #[test]
    fn a_smaller_limit_keeps_who_waits() {
        let mut queue = Droptail::new(bytes(3_000));
        assert!(queue.admit(0, 100, 1_500) && queue.admit(0, 200, 1_500));
        queue.change(bytes(1_500));
        assert!(!queue.admit(150, 300, 1));
        assert!(queue.admit(200, 300, 1_500));
    }
}
