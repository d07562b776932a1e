//! The queries still available to a worker. Not for: sending queries.

use crate::loops::carrier::DueQuery;
use crate::names::QueryOrder;
use crate::plan::WorkerPlan;
use crate::timing::schedule::Schedule;

/// The queries of a worker, until the count or the time is used up.
#[derive(Debug)]
pub struct QuerySource {
    order: QueryOrder,
    left: u64,
    until_ns: u64,
    schedule: Option<Schedule>,
}

impl QuerySource {
    /// Creates the supply for a run started at `start_ns`.
    pub fn new(worker: &WorkerPlan, start_ns: u64) -> Self {
        Self {
            order: worker.plan.names.order(worker.index, worker.plan.threads),
            left: worker.count.unwrap_or(u64::MAX),
            until_ns: worker.send_until_ns(start_ns),
            schedule: worker.schedule(start_ns),
        }
    }

    /// Fills `batch` with up to `count` queries due at `now_ns`.
    pub fn fill(&mut self, batch: &mut Vec<DueQuery>, count: usize, now_ns: u64) {
        batch.clear();
        while batch.len() < count && self.left > 0 {
            let wanted_ns = match &mut self.schedule {
                Some(schedule) => {
                    let next_ns = schedule.next_ns();
                    if next_ns > now_ns || next_ns >= self.until_ns {
                        return;
                    }
                    schedule.advance();
                    Some(next_ns)
                }
                None if now_ns >= self.until_ns => return,
                None => None,
            };
            self.left -= 1;
            batch.push(DueQuery {
                name: self.order.take(),
                wanted_ns,
            });
        }
    }

    /// Returns true when no more queries follow.
    pub fn is_used_up(&self, now_ns: u64) -> bool {
        let time = self.schedule.as_ref().map_or(now_ns, Schedule::next_ns);
        self.left == 0 || time >= self.until_ns
    }

    /// Returns the next scheduled time; `None` without more queries or without a schedule.
    pub fn next_ns(&self) -> Option<u64> {
        let next_ns = self.schedule.as_ref()?.next_ns();
        (self.left > 0 && next_ns < self.until_ns).then_some(next_ns)
    }
}
