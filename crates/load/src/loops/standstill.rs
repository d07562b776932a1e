//! The end of a run at a standstill: no query waits for an answer, and no connection takes a query.
//! Not for: the state of the connections; see their engine.

use crate::plan::{SendLimit, WorkerPlan};

/// A detector of standstills. A resolver may come back. A standstill shorter than the timeout is
/// therefore waited out, and a run with a planned duration uses the full duration.
#[expect(clippy::struct_field_names, reason = "units stand in the names")]
#[derive(Debug)]
pub struct Standstill {
    since_ns: u64,
    limit_ns: u64,
    bearable_until_ns: u64,
}

impl Standstill {
    /// Creates the detector for a run starting at `start_ns`.
    pub fn new(worker: &WorkerPlan, start_ns: u64) -> Self {
        Self {
            since_ns: start_ns,
            limit_ns: worker.timeout_ns(),
            bearable_until_ns: match worker.plan.extent {
                SendLimit::Duration(_) => worker.send_until_ns(start_ns),
                SendLimit::Count(_) => start_ns,
            },
        }
    }

    /// Returns true when the run must end at `now_ns`; `goes_on` is true without a standstill.
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
