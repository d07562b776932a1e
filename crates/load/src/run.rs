//! A whole load run: workers on threads, progress during the run, one record at the end. Not for:
//! the work of a worker.

use crate::counting::{LiveCounters, LiveCounts, Tally};
use crate::error::LoadError;
use crate::plan::LoadPlan;
use crate::summary::{self, RunFacts};
use crate::timing::start_gate::StartGate;
use crate::transports;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use resolab_record::{LoadProgressRecord, LoadRecord};
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// A callback for the counts of each interval.
pub type ProgressCallback<'a> = &'a mut dyn FnMut(LoadProgressRecord);

/// Runs a plan. `stopped` ends the run early.
pub fn run(
    plan: LoadPlan,
    stopped: &Arc<AtomicBool>,
    interval: Duration,
    progress: ProgressCallback<'_>,
) -> Result<LoadRecord, LoadError> {
    let plan = Arc::new(plan);
    // The gate is also passed by this thread, which then knows when the clock started.
    let gate = Arc::new(StartGate::new(plan.threads + 1));
    let (done, ended) = channel();
    let mut workers = Vec::new();
    let mut live = Vec::new();
    for worker in plan.shares(&gate) {
        let counters = Arc::new(LiveCounters::new(Arc::clone(stopped)));
        live.push(Arc::clone(&counters));
        let done = done.clone();
        let name = format!("load-{}", worker.index);
        let body = move || {
            // Both are dropped on the way out, whichever that is: also by a panic, after which
            // nobody waits for this worker.
            let _done = done;
            let _leaving = StartGuard(Arc::clone(&worker.gate));
            transports::run(&worker, &counters)
        };
        let spawned = thread::Builder::new().name(name).spawn(body);
        if spawned.is_err() {
            gate.call_off();
        }
        workers.push(spawned.map_err(LoadError::kernel("start a worker thread"))?);
    }
    drop(done);
    let start_ns = gate.arrive();
    let cpu_before_ns = process_cpu_ns();
    if let Some(start_ns) = start_ns {
        let watch = ProgressReporter {
            live: &live,
            interval,
            start_ns,
        };
        watch.report_until_ended(&ended, progress);
    }
    let end_ns = monotonic_ns();
    let client_cpu_ns = process_cpu_ns() - cpu_before_ns;
    let tally = collect(workers)?;
    let end_ns = tally.ended_ns.unwrap_or(end_ns);
    let facts = RunFacts {
        run_ns: start_ns.map_or(0, |start_ns| end_ns.saturating_sub(start_ns)),
        client_cpu_ns,
        stopped_early: stopped.load(Ordering::Relaxed),
    };
    Ok(summary::record(&plan, &tally, &facts))
}

/// A guard of a worker thread. When dropped before the start, the guard calls off the start.
struct StartGuard(Arc<StartGate>);

impl Drop for StartGuard {
    fn drop(&mut self) {
        self.0.call_off();
    }
}

type WorkerThread = thread::JoinHandle<Result<Tally, LoadError>>;

/// Returns the sum of all tallies, or the most specific error.
fn collect(workers: Vec<WorkerThread>) -> Result<Tally, LoadError> {
    let mut sum: Option<Tally> = None;
    let mut error = None;
    for worker in workers {
        match worker.join().unwrap_or(Err(LoadError::Panicked)) {
            Ok(tally) => match &mut sum {
                Some(sum) => sum.merge(&tally),
                None => sum = Some(tally),
            },
            Err(LoadError::CalledOff) => {
                error.get_or_insert(LoadError::CalledOff);
            }
            Err(first) => {
                if matches!(error, None | Some(LoadError::CalledOff)) {
                    error = Some(first);
                }
            }
        }
    }
    match (error, sum) {
        (None, Some(sum)) => Ok(sum),
        (error, _) => Err(error.unwrap_or(LoadError::Panicked)),
    }
}

struct ProgressReporter<'a> {
    live: &'a [Arc<LiveCounters>],
    interval: Duration,
    start_ns: u64,
}

impl ProgressReporter<'_> {
    /// Reports at the end of each interval, until every worker has dropped the sending end of the
    /// channel.
    fn report_until_ended(&self, ended: &Receiver<()>, progress: ProgressCallback<'_>) {
        let interval_ns = self.interval.as_nanos() as u64;
        let (mut before, mut before_ns, mut due_ns) = (LiveCounts::default(), 0, interval_ns);
        loop {
            // The start may still be to come.
            let wait_ns = (self.start_ns + due_ns).saturating_sub(monotonic_ns());
            let wait = Duration::from_nanos(wait_ns);
            if ended.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            let now_ns = monotonic_ns().saturating_sub(self.start_ns);
            let counts = self.counts();
            progress(interval_record(&before, &counts, before_ns, now_ns));
            (before, before_ns) = (counts, now_ns);
            due_ns = (now_ns / interval_ns + 1) * interval_ns;
        }
    }

    fn counts(&self) -> LiveCounts {
        self.live.iter().fold(LiveCounts::default(), |sum, worker| {
            let counts = worker.read();
            LiveCounts {
                sent: sum.sent + counts.sent,
                completed: sum.completed + counts.completed,
                lost: sum.lost + counts.lost,
                interrupted: sum.interrupted + counts.interrupted,
                failed: sum.failed + counts.failed,
                response_time_sum_ns: sum.response_time_sum_ns + counts.response_time_sum_ns,
            }
        })
    }
}

fn interval_record(
    before: &LiveCounts,
    now: &LiveCounts,
    before_ns: u64,
    now_ns: u64,
) -> LoadProgressRecord {
    let completed_count = now.completed - before.completed;
    let took_s = (now_ns - before_ns) as f64 / 1e9;
    let sum_ns = (now.response_time_sum_ns - before.response_time_sum_ns) as f64;
    LoadProgressRecord {
        interval_start_ns: before_ns,
        interval_end_ns: now_ns,
        sent_count: now.sent - before.sent,
        completed_count,
        lost_count: now.lost - before.lost,
        interrupted_count: now.interrupted - before.interrupted,
        failed_count: now.failed - before.failed,
        completed_rate_per_s: completed_count as f64 / took_s,
        mean_query_response_time_ns: (completed_count > 0).then(|| sum_ns / completed_count as f64),
    }
}

/// Returns the user and system time of this process, in ns.
fn process_cpu_ns() -> u64 {
    // It fails for no valid `who` (getrusage(2)).
    getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| {
        let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
        micros as u64 * 1_000
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_what_was_added() {
        let before = LiveCounts {
            sent: 10,
            completed: 8,
            response_time_sum_ns: 800,
            ..LiveCounts::default()
        };
        let now = LiveCounts {
            sent: 40,
            completed: 18,
            lost: 2,
            response_time_sum_ns: 4_800,
            ..before
        };
        let record = interval_record(&before, &now, 1_000_000_000, 1_500_000_000);
        assert_eq!((record.sent_count, record.completed_count), (30, 10));
        assert_eq!(record.lost_count, 2);
        assert!((record.completed_rate_per_s - 20.0).abs() < 1e-9);
        assert_eq!(record.mean_query_response_time_ns, Some(400.0));
        let idle = interval_record(&now, &now, 0, 1);
        assert_eq!(idle.mean_query_response_time_ns, None);
    }
}
