//! When a run in which nothing goes on any more has to end: no query waits for an answer, and no
//! connection takes one. Not for: what became of the connections, which is their engine's.

use crate::plan::{Extent, WorkerPlan};

/// Watches for a standstill. A resolver may come back, so one that is shorter than what an answer
/// may take is waited out, and a run of a duration has all of its time.
#[expect(clippy::struct_field_names, reason = "units stand in the names")]
#[derive(Debug)]
pub struct Standstill {
    since_ns: u64,
    limit_ns: u64,
    bearable_until_ns: u64,
}

impl Standstill {
    /// For a run that starts at `start_ns`.
    pub fn new(worker: &WorkerPlan, start_ns: u64) -> Self {
        Self {
            since_ns: start_ns,
            limit_ns: worker.timeout_ns(),
            bearable_until_ns: match worker.plan.extent {
                Extent::Duration(_) => worker.send_until_ns(start_ns),
                Extent::Count(_) => start_ns,
            },
        }
    }

    /// Whether the run is to end at `now_ns`; `goes_on` says that it does not stand still then.
    pub fn is_final(&mut self, goes_on: bool, now_ns: u64) -> bool {
        if goes_on {
            self.since_ns = now_ns;
        }
        now_ns > self.since_ns + self.limit_ns && now_ns >= self.bearable_until_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standstill(bearable_until_ns: u64) -> Standstill {
        Standstill {
            since_ns: 100,
            limit_ns: 50,
            bearable_until_ns,
        }
    }

    #[test]
    fn what_goes_on_again_in_time_does_not_end() {
        let mut standstill = standstill(100);
        assert!(!standstill.is_final(false, 150));
        assert!(!standstill.is_final(true, 151));
        assert!(!standstill.is_final(false, 201));
        assert!(standstill.is_final(false, 202));
    }

    #[test]
    fn a_duration_is_waited_out() {
        let mut standstill = standstill(1_000);
        assert!(!standstill.is_final(false, 999));
        assert!(standstill.is_final(false, 1_000));
    }
}
