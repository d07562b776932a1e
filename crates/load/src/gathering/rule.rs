//! The rule for gathering answers: the wait between the first answer and reading all answers.
//! Without a wait, a client of a busy server wakes for every answer, and the wakes dominate the
//! cost. Not for: the waiting itself.

use resolab_record::DnsTransport;
use std::time::Duration;

/// The number of outstanding queries without a wait: with so few queries, a wait would idle the
/// server.
const OUTSTANDING_TOO_FEW: u32 = 8;
/// The smallest batch without a wait counted as large enough. A batch must also have half of all
/// outstanding queries. All connections share a batch, and each connection costs system calls.
const BATCH_LARGE_ENOUGH: u64 = 16;
/// The divisor for the longest wait, relative to the mean response time.
const SHARE_OF_RESPONSE_TIME: u64 = 4;
/// The number of wakes with a wait before a wake without a wait. The wake without a wait shows if
/// answers now arrive in batches anyway.
const WAKES_PER_TRIAL: u32 = 64;
/// The inverse weight of the newest wake in the running mean.
const MEAN_OVER: f64 = 16.0;

/// The longest adaptive wait for transports with answers timed at reading.
const GATHERING_LIMIT: Duration = Duration::from_micros(100);
/// The longest adaptive wait with kernel timestamps: no measured time includes the wait.
const GATHERING_LIMIT_WITH_STAMPS: Duration = Duration::from_micros(200);

/// Returns the longest adaptive wait for a transport.
pub fn gathering_limit(transport: DnsTransport) -> Duration {
    match transport {
        DnsTransport::Doudp => GATHERING_LIMIT_WITH_STAMPS,
        DnsTransport::Dotcp
        | DnsTransport::Dot
        | DnsTransport::Doh
        | DnsTransport::Doh3
        | DnsTransport::Doq => GATHERING_LIMIT,
    }
}

/// The rule for the wait between the first answer and reading all answers. A wait gives fewer wakes
/// and larger batches, but answers are read later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatheringRule {
    /// The wait follows the observed answers: see [`Gatherer`].
    Adaptive,
    /// The wait is constant; 0 for no wait.
    Fixed(Duration),
}

/// The gathering rule with the observed batches.
#[derive(Debug, Clone)]
pub struct GatheringState {
    rule: GatheringRule,
    limit: Duration,
    is_worthwhile: bool,
    large_enough: u64,
    comes_in_batches: bool,
    wakes_until_trial: u32,
    mean_response_time_ns: f64,
}

impl GatheringState {
    /// Creates the rule for a worker with `outstanding` queries; the adaptive wait is never above
    /// `limit`.
    pub fn new(rule: GatheringRule, limit: Duration, outstanding: u32) -> Self {
        Self {
            rule,
            limit,
            is_worthwhile: outstanding > OUTSTANDING_TOO_FEW,
            large_enough: BATCH_LARGE_ENOUGH.max(u64::from(outstanding) / 2),
            comes_in_batches: false,
            wakes_until_trial: WAKES_PER_TRIAL,
            mean_response_time_ns: 0.0,
        }
    }

    /// Returns the wait after a first answer; 0 for no wait.
    pub fn wait_ns(&self) -> u64 {
        match self.rule {
            GatheringRule::Fixed(wait) => wait.as_nanos() as u64,
            GatheringRule::Adaptive if self.waits() => {
                let share = self.mean_response_time_ns as u64 / SHARE_OF_RESPONSE_TIME;
                share.min(self.limit.as_nanos() as u64)
            }
            GatheringRule::Adaptive => 0,
        }
    }

    fn waits(&self) -> bool {
        self.is_worthwhile && !self.comes_in_batches && self.wakes_until_trial > 0
    }

    /// Learns from a wake: the number of answers taken after the wait, and the sum of their
    /// response times.
    pub fn note_wake(&mut self, answer_count: u64, response_time_sum_ns: u64) {
        if answer_count == 0 {
            return;
        }
        let mean_ns = response_time_sum_ns as f64 / answer_count as f64;
        if self.mean_response_time_ns == 0.0 {
            self.mean_response_time_ns = mean_ns;
        }
        self.mean_response_time_ns += (mean_ns - self.mean_response_time_ns) / MEAN_OVER;
        if self.waits() {
            self.wakes_until_trial -= 1;
        } else {
            self.comes_in_batches = answer_count >= self.large_enough;
            self.wakes_until_trial = WAKES_PER_TRIAL;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_micros(100);

    fn adaptive(outstanding: u32) -> GatheringState {
        GatheringState::new(GatheringRule::Adaptive, LIMIT, outstanding)
    }

    #[test]
    fn a_fixed_wait_is_always_the_same() {
        let mut gatherer =
            GatheringState::new(GatheringRule::Fixed(Duration::from_micros(70)), LIMIT, 1);
        for batch in [1, 100, 1] {
            assert_eq!(gatherer.wait_ns(), 70_000);
            gatherer.note_wake(batch, 1);
        }
    }

    #[test]
    fn few_outstanding_queries_are_never_held_up() {
        let mut gatherer = adaptive(8);
        gatherer.note_wake(1, 1_000_000);
        assert_eq!(gatherer.wait_ns(), 0);
    }

    #[test]
    fn the_wait_is_a_share_of_what_answers_take_within_a_limit() {
        let mut gatherer = adaptive(100);
        assert_eq!(gatherer.wait_ns(), 0);
        gatherer.note_wake(2, 400_000);
        assert_eq!(gatherer.wait_ns(), 50_000);
        for _ in 0..200 {
            gatherer.note_wake(4, 40_000_000);
        }
        assert!([0, 100_000].contains(&gatherer.wait_ns()));
    }

    #[test]
    fn batches_that_come_by_themselves_end_the_wait_and_single_answers_begin_it_again() {
        let mut gatherer = adaptive(100);
        gatherer.note_wake(1, 500_000);
        let mut waits = 0;
        while gatherer.wait_ns() > 0 {
            // Large because of the wait: says nothing.
            gatherer.note_wake(50, 25_000_000);
            waits += 1;
        }
        assert!((1..=WAKES_PER_TRIAL).contains(&waits));
        gatherer.note_wake(60, 30_000_000);
        assert_eq!(gatherer.wait_ns(), 0);
        gatherer.note_wake(50, 30_000_000);
        assert_eq!(gatherer.wait_ns(), 0);
        gatherer.note_wake(20, 10_000_000);
        assert!(gatherer.wait_ns() > 0);
    }
}
