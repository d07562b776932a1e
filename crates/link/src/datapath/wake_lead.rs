//! The lead of a wake-up before the due time, chosen to make waking on time the rule. The lead is
//! learnt from earlier wake-ups: a processor needs time to wake from idling. The rest of the wait
//! is spent looking for packets. Pure: times are arguments. Not for: waiting.

/// Maximum lead, in ns. The wait after waking takes processor time from other threads.
const LIMIT_NS: u64 = 60_000;
/// Minimum sleep for learning and using the lead, in ns. After a shorter sleep a processor is
/// hardly idle, and busy links would spin all the time.
const SHORTEST_SLEEP_NS: u64 = 500_000;
/// Weight of the past, as a power of two.
const MEMORY_BITS: u32 = 3;

/// The learnt lead of wake-ups.
#[derive(Debug, Default)]
pub struct WakeLead {
    lead_ns: u64,
}

impl WakeLead {
    /// Returns the wake-up time for a due time of `due_ns`; `None` (act at once) when the due time
    /// is within the lead.
    pub fn wake_ns(&self, now_ns: u64, due_ns: u64) -> Option<u64> {
        let sleep_ns = due_ns.saturating_sub(now_ns);
        if sleep_ns <= self.lead_ns {
            return None;
        }
        let is_long = sleep_ns >= SHORTEST_SLEEP_NS;
        Some(if is_long {
            due_ns - self.lead_ns
        } else {
            due_ns
        })
    }

    /// Learns from a wake-up. The wake-up was requested at `since_ns`, set for `asked_ns`, and came
    /// at `woken_ns`.
    pub fn learn(&mut self, since_ns: u64, asked_ns: u64, woken_ns: u64) {
        if asked_ns.saturating_sub(since_ns) < SHORTEST_SLEEP_NS - LIMIT_NS {
            return;
        }
        // Twice the usual time covers most wake-ups; rare long ones must not raise it for the
        // others.
        let wanted_ns = (2 * woken_ns.saturating_sub(asked_ns)).min(LIMIT_NS);
        self.lead_ns = self.lead_ns - (self.lead_ns >> MEMORY_BITS) + (wanted_ns >> MEMORY_BITS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn learnt(latency_ns: u64) -> WakeLead {
        let mut lead = WakeLead::default();
        (0..100).for_each(|_| lead.learn(0, MS, MS + latency_ns));
        lead
    }

    #[test]
    fn a_fresh_one_asks_for_the_time_itself() {
        let lead = WakeLead::default();
        assert_eq!(lead.wake_ns(0, 20 * MS), Some(20 * MS));
        assert_eq!(lead.wake_ns(5, 5), None);
        assert_eq!(lead.wake_ns(6, 5), None);
    }

    #[test]
    fn it_learns_twice_the_usual_latency_within_its_limit() {
        let woken_ns = learnt(20_000).wake_ns(0, 20 * MS).unwrap();
        assert!(
            (39_900..=40_000).contains(&(20 * MS - woken_ns)),
            "{woken_ns}"
        );
        let woken_ns = learnt(5 * MS).wake_ns(0, 20 * MS).unwrap();
        assert!(20 * MS - woken_ns <= LIMIT_NS);
    }

    #[test]
    fn within_the_lead_there_is_no_sleep_and_short_sleeps_have_none() {
        let lead = learnt(20_000);
        assert_eq!(lead.wake_ns(0, 30_000), None);
        assert_eq!(lead.wake_ns(0, 400_000), Some(400_000));
        let mut lead = lead;
        lead.learn(0, 300_000, 900_000);
        assert_eq!(lead.wake_ns(0, 20 * MS), learnt(20_000).wake_ns(0, 20 * MS));
    }
}
