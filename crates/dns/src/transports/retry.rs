//! The timing of repeated DoUDP queries. Without I/O: round trips are arguments, waiting times are
//! results. Not for: TCP and QUIC, with their own retransmission; the deadline.

use resolab_record::RetryPolicy;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// RES_TIMEOUT of resolv.conf(5); the number of tries is RES_DFLRETRY.
const SYSTEM_TIMEOUT: Duration = Duration::from_secs(5);
const SYSTEM_TRY_COUNT: u32 = 2;
/// The timeout before a round trip is known (RFC 6298 section 2.1; RFC 8961 section 4 allows no
/// less).
const INITIAL_TIMEOUT: Duration = Duration::from_secs(1);
/// Unbound's minimum (unbound.conf(5), infra-cache-min-rtt). The 1 s of RFC 6298 would be useless
/// for DNS.
const TIMEOUT_MIN: Duration = Duration::from_millis(50);
/// The maximum timeout (RFC 6298 section 2.5).
const TIMEOUT_MAX: Duration = Duration::from_mins(1);
/// The clock granularity G of RFC 6298: tokio's timers.
const GRANULARITY: Duration = Duration::from_millis(1);
/// The number of tries, as in c-ares.
const MODERN_TRY_COUNT: u32 = 3;

/// The action when no response comes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UdpRetryPolicy {
    /// The C library's policy: 5 s a try, two tries (resolv.conf(5)).
    #[default]
    System,
    /// A timer like TCP's (RFC 6298), from the round trip times to the same resolver in this run.
    /// The timer doubles; there are three tries, and the last waits until the deadline.
    Modern,
    /// A single try, until the deadline.
    None,
    /// A number of tries, each with the same wait.
    Custom {
        /// The waiting time of each try.
        timeout: Duration,
        /// The maximum number of times the query is sent.
        try_count: u32,
    },
}

impl UdpRetryPolicy {
    /// Returns the policy's name in records.
    pub fn recorded(self) -> RetryPolicy {
        match self {
            Self::System => RetryPolicy::System,
            Self::Modern => RetryPolicy::Modern,
            Self::None => RetryPolicy::None,
            Self::Custom { .. } => RetryPolicy::Custom,
        }
    }
}

/// The time a try waits for the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseWait {
    /// A limited wait, followed by the next try.
    For(Duration),
    /// The last try's wait, ended by the deadline.
    UntilDeadline,
}

/// The retransmission timer of RFC 6298.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RetransmissionTimer {
    estimate: Option<Estimate>,
    timeout: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Estimate {
    smoothed: Duration,
    variation: Duration,
}

impl Default for RetransmissionTimer {
    fn default() -> Self {
        Self {
            estimate: None,
            timeout: INITIAL_TIMEOUT,
        }
    }
}

impl RetransmissionTimer {
    /// Returns the time to wait for a response.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Takes the round trip of a query sent once (sections 2.2 and 2.3).
    fn sample(&mut self, round_trip: Duration) {
        let estimate = match self.estimate {
            None => Estimate {
                smoothed: round_trip,
                variation: round_trip / 2,
            },
            Some(Estimate {
                smoothed,
                variation,
            }) => Estimate {
                variation: (variation * 3 + smoothed.abs_diff(round_trip)) / 4,
                smoothed: (smoothed * 7 + round_trip) / 8,
            },
        };
        let timeout = estimate.smoothed + (estimate.variation * 4).max(GRANULARITY);
        self.timeout = timeout.clamp(TIMEOUT_MIN, TIMEOUT_MAX);
        self.estimate = Some(estimate);
    }

    /// Backs off after no response within `waited` (section 5.5). The timer stays backed off for
    /// later queries, until a query is answered on its first try (Karn's algorithm). Queries
    /// waiting at the same time back off once.
    fn expire(&mut self, waited: Duration) {
        self.timeout = self.timeout.max(waited * 2).min(TIMEOUT_MAX);
    }
}

/// The tries of one query.
#[derive(Debug)]
pub(crate) struct QueryTries {
    policy: UdpRetryPolicy,
    count: u32,
    waited: Option<Duration>,
}

impl QueryTries {
    fn new(policy: UdpRetryPolicy) -> Self {
        Self {
            policy,
            count: 0,
            waited: None,
        }
    }

    /// Returns the next try's wait, after the previous try's wait has passed. `None` after the last
    /// try.
    fn next(&mut self, timer: &mut RetransmissionTimer) -> Option<ResponseWait> {
        let index = self.count;
        self.count += 1;
        match self.policy {
            UdpRetryPolicy::System => {
                (index < SYSTEM_TRY_COUNT).then_some(ResponseWait::For(SYSTEM_TIMEOUT))
            }
            UdpRetryPolicy::Custom { timeout, try_count } => {
                (index < try_count).then_some(ResponseWait::For(timeout))
            }
            UdpRetryPolicy::None => (index == 0).then_some(ResponseWait::UntilDeadline),
            UdpRetryPolicy::Modern => self.next_modern(index, timer),
        }
    }

    fn next_modern(&mut self, index: u32, timer: &mut RetransmissionTimer) -> Option<ResponseWait> {
        if let Some(waited) = self.waited {
            timer.expire(waited);
        }
        match index + 1 {
            ..MODERN_TRY_COUNT => {
                self.waited = Some(timer.timeout());
                self.waited.map(ResponseWait::For)
            }
            MODERN_TRY_COUNT => Some(ResponseWait::UntilDeadline),
            _ => None,
        }
    }

    /// Takes a response `round_trip` after the last try. Only counts a query sent once: a response
    /// to a query sent twice may belong to either try (Karn's algorithm).
    fn note_answer(&self, round_trip: Duration, timer: &mut RetransmissionTimer) {
        if self.count == 1 {
            timer.sample(round_trip);
        }
    }
}

/// A policy, with the knowledge learnt about one resolver.
#[derive(Debug)]
pub(crate) struct ResolverRetries {
    pub(crate) policy: UdpRetryPolicy,
    timer: Mutex<Arc<SharedTimer>>,
}

type SharedTimer = Mutex<RetransmissionTimer>;

/// The tries of one query, with the timer in use when the query began.
#[derive(Debug)]
pub(crate) struct TimedTries {
    tries: QueryTries,
    timer: Arc<SharedTimer>,
}

impl ResolverRetries {
    /// Begins without any knowledge.
    pub(crate) fn new(policy: UdpRetryPolicy) -> Self {
        Self {
            policy,
            timer: Mutex::default(),
        }
    }

    /// Forgets the learnt round trips. Pending queries keep the old timer; their later findings are
    /// lost.
    pub(crate) fn forget(&self) {
        *self.timer.lock().unwrap_or_else(PoisonError::into_inner) = Arc::default();
    }

    /// Begins the tries of a query.
    pub(crate) fn begin(&self) -> TimedTries {
        let timer = self.timer.lock().unwrap_or_else(PoisonError::into_inner);
        TimedTries {
            tries: QueryTries::new(self.policy),
            timer: Arc::clone(&timer),
        }
    }
}

impl TimedTries {
    /// Returns the next wait, see [`QueryTries::next`].
    pub(crate) fn next(&mut self) -> Option<ResponseWait> {
        let mut timer = self.timer.lock().unwrap_or_else(PoisonError::into_inner);
        self.tries.next(&mut timer)
    }

    /// Takes a response, see [`QueryTries::note_answer`].
    pub(crate) fn note_answer(&self, round_trip: Duration) {
        let mut timer = self.timer.lock().unwrap_or_else(PoisonError::into_inner);
        self.tries.note_answer(round_trip, &mut timer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: Duration = Duration::from_millis(1);

    fn waits(policy: UdpRetryPolicy, timer: &mut RetransmissionTimer) -> Vec<ResponseWait> {
        let mut tries = QueryTries::new(policy);
        std::iter::from_fn(|| tries.next(timer)).collect()
    }

    fn timer_after(round_trips: impl IntoIterator<Item = Duration>) -> RetransmissionTimer {
        let mut timer = RetransmissionTimer::default();
        for round_trip in round_trips {
            timer.sample(round_trip);
        }
        timer
    }

    #[test]
    fn each_policy_has_its_waits() {
        let new = RetransmissionTimer::default;
        let second = |count| ResponseWait::For(Duration::from_secs(count));
        let custom = UdpRetryPolicy::Custom {
            timeout: MS * 1000,
            try_count: 3,
        };
        for (policy, expected) in [
            (UdpRetryPolicy::System, vec![second(5); 2]),
            (custom, vec![second(1); 3]),
            (UdpRetryPolicy::None, vec![ResponseWait::UntilDeadline]),
            (
                UdpRetryPolicy::Modern,
                vec![second(1), second(2), ResponseWait::UntilDeadline],
            ),
        ] {
            assert_eq!(waits(policy, &mut new()), expected, "{policy:?}");
        }
    }

    #[test]
    fn the_timer_follows_rfc_6298() {
        // SRTT 100, RTTVAR 50; then RTTVAR 3/4 x 50 + 1/4 x 80, SRTT 7/8 x 100 + 1/8 x 180.
        assert_eq!(timer_after([MS * 100]).timeout(), MS * 300);
        assert_eq!(timer_after([MS * 100, MS * 180]).timeout(), MS * 340);
        assert_eq!(timer_after([Duration::ZERO]).timeout(), TIMEOUT_MIN);
    }

    #[test]
    fn a_lost_query_backs_the_timer_off_until_one_is_answered_at_once() {
        let mut timer = timer_after([MS * 100]);
        let mut tries = QueryTries::new(UdpRetryPolicy::Modern);
        assert_eq!(tries.next(&mut timer), Some(ResponseWait::For(MS * 300)));
        assert_eq!(tries.next(&mut timer), Some(ResponseWait::For(MS * 600)));
        tries.note_answer(MS * 100, &mut timer);
        assert_eq!(timer.timeout(), MS * 600, "which try was it?");
        let mut tries = QueryTries::new(UdpRetryPolicy::Modern);
        assert_eq!(tries.next(&mut timer), Some(ResponseWait::For(MS * 600)));
        tries.note_answer(MS * 100, &mut timer);
        assert_eq!(timer.timeout(), MS * 100 + MS * 150);
    }

    #[test]
    fn queries_lost_together_back_it_off_once() {
        let mut timer = timer_after([MS * 100]);
        let mut all: Vec<_> = (0..20)
            .map(|_| QueryTries::new(UdpRetryPolicy::Modern))
            .collect();
        for tries in &mut all {
            tries.next(&mut timer);
        }
        for tries in &mut all {
            assert_eq!(tries.next(&mut timer), Some(ResponseWait::For(MS * 600)));
        }
    }

    #[test]
    fn what_was_learnt_can_be_forgotten() {
        let retries = ResolverRetries::new(UdpRetryPolicy::Modern);
        let mut first = retries.begin();
        first.next();
        first.note_answer(MS * 100);
        let mut under_way = retries.begin();
        retries.forget();
        assert_eq!(under_way.next(), Some(ResponseWait::For(MS * 300)));
        assert_eq!(
            retries.begin().next(),
            Some(ResponseWait::For(INITIAL_TIMEOUT))
        );
        under_way.note_answer(MS * 100);
        assert_eq!(
            retries.begin().next(),
            Some(ResponseWait::For(INITIAL_TIMEOUT))
        );
    }

    proptest! {
        #[test]
        fn a_wait_is_never_shorter_than_the_smoothed_round_trip_or_out_of_bounds(
            round_trips_us in proptest::collection::vec(0_u64..100_000_000, 1..50),
        ) {
            let mut timer = timer_after(round_trips_us.iter().map(|us| Duration::from_micros(*us)));
            let smoothed = timer.estimate.unwrap().smoothed.min(TIMEOUT_MAX);
            let waits = waits(UdpRetryPolicy::Modern, &mut timer);
            prop_assert_eq!(waits.len(), 3);
            prop_assert_eq!(waits[2], ResponseWait::UntilDeadline);
            let mut least = smoothed.max(TIMEOUT_MIN);
            for wait in &waits[..2] {
                let ResponseWait::For(wait) = *wait else { panic!("{wait:?}") };
                prop_assert!(wait >= least && wait <= TIMEOUT_MAX);
                least = (wait * 2).min(TIMEOUT_MAX);
            }
        }

        #[test]
        fn a_steady_round_trip_is_learnt(round_trip_us in 0_u64..10_000_000) {
            let round_trip = Duration::from_micros(round_trip_us);
            let timer = timer_after(std::iter::repeat_n(round_trip, 60));
            let most = (round_trip + GRANULARITY * 2).max(TIMEOUT_MIN);
            prop_assert!(timer.timeout() >= round_trip && timer.timeout() <= most);
        }
    }
}
