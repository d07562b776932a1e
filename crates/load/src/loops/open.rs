//! The open loop: queries leave at their scheduled times, independent of the answers. Not for: the
//! schedule itself.

use crate::counting::{LiveCounters, Tally};
use crate::error::LoadError;
use crate::loops::carrier::{BATCH_MAX, ConnectionSet, DueQuery};
use crate::loops::standstill::Standstill;
use crate::loops::supply::QuerySource;
use crate::plan::{LoadPacing, WorkerPlan};
use crate::timing::waiting;
use resolab_transport::clock::monotonic_ns;

/// The highest rate of a worker with a wake per query. Above, a wake costs more than the query.
const RATE_OF_SINGLE_WAKES_PER_S: f64 = 20_000.0;
/// The intended number of due queries per wake.
const QUERIES_PER_TICK: f64 = 5.0;
const TICK_NS: std::ops::RangeInclusive<f64> = 50_000.0..=80_000.0;
/// The interval for reading stamped answers; their times do not depend on the interval.
const STAMPED_READ_INTERVAL_NS: u64 = 500_000;
/// The longest interval between reads of answers, and checks of timeouts and of the stop flag.
const TEND_INTERVAL_NS: u64 = 20_000_000;

/// The wake times of the loop, beside the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WakeTimes {
    /// The shortest distance of wakes; 0 to wake for each query.
    tick_ns: u64,
    /// The shortest distance of reads.
    read_interval_ns: u64,
    /// True to wake for answers, too.
    wakes_for_answers: bool,
}

impl WakeTimes {
    fn new(worker: &WorkerPlan, has_receive_stamps: bool) -> Self {
        let LoadPacing::Open { rate_per_s, .. } = worker.plan.pace else {
            unreachable!("an open loop has a rate");
        };
        let rate_per_s = rate_per_s / f64::from(worker.plan.threads);
        let is_single = rate_per_s <= RATE_OF_SINGLE_WAKES_PER_S;
        let tick_ns = QUERIES_PER_TICK * 1e9 / rate_per_s;
        Self {
            tick_ns: if is_single {
                0
            } else {
                tick_ns.clamp(*TICK_NS.start(), *TICK_NS.end()) as u64
            },
            read_interval_ns: if has_receive_stamps {
                STAMPED_READ_INTERVAL_NS
            } else {
                0
            },
            wakes_for_answers: is_single && !has_receive_stamps,
        }
    }
}

/// Runs from `start_ns` until the supply is used up and every query has ended, or until the run
/// stands still.
pub fn run<C: ConnectionSet>(
    worker: &WorkerPlan,
    start_ns: u64,
    carrier: &mut C,
    live: &LiveCounters,
    tally: &mut Tally,
) -> Result<(), LoadError> {
    let rhythm = WakeTimes::new(worker, C::HAS_RECEIVE_STAMPS);
    let mut supply = QuerySource::new(worker, start_ns);
    let mut sender = Sender {
        batch: Vec::with_capacity(BATCH_MAX),
        next_connection: 0,
    };
    let mut standstill = Standstill::new(worker, start_ns);
    let (mut tick_ns, mut read_ns) = (start_ns, start_ns);
    loop {
        let wake_ns = wake_ns(&supply, tick_ns);
        if worker.plan.spin {
            std::hint::spin_loop();
        } else if rhythm.wakes_for_answers || (supply.next_ns().is_none() && !C::HAS_RECEIVE_STAMPS)
        {
            carrier.wait(wake_ns.saturating_sub(monotonic_ns()))?;
        } else {
            waiting::sleep_until(wake_ns);
        }
        let now_ns = monotonic_ns();
        let sent = sender.send_due(&mut supply, now_ns, carrier, tally)?;
        if sent == SendOutcome::NoRoom {
            tick_ns = now_ns + *TICK_NS.start() as u64;
            read_ns = now_ns;
        } else if now_ns >= tick_ns {
            // Ticks keep to their grid, but do not pile up behind a stop of the machine.
            tick_ns = (tick_ns + rhythm.tick_ns).max(now_ns);
        }
        if now_ns >= read_ns || supply.next_ns().is_none() {
            read_ns = now_ns + rhythm.read_interval_ns;
            read(carrier, now_ns, tally)?;
            live.publish(tally);
        }
        if supply.next_ns().is_none() && carrier.outstanding() == 0 {
            return Ok(());
        }
        if standstill.is_final(
            sent == SendOutcome::All || carrier.outstanding() > 0,
            now_ns,
        ) {
            tally.give_up(carrier.obstacle());
            return Ok(());
        }
        if live.is_stopped() {
            carrier.cut_off(tally);
            return Ok(());
        }
    }
}

/// Returns the schedule's next instant, no earlier than the tick and no later than a timeout check.
fn wake_ns(supply: &QuerySource, tick_ns: u64) -> u64 {
    let now_ns = monotonic_ns();
    match supply.next_ns() {
        Some(next_ns) => next_ns.max(tick_ns).min(now_ns + TEND_INTERVAL_NS),
        // Nothing more to send: answers are all there is to wait for.
        None => now_ns + STAMPED_READ_INTERVAL_NS,
    }
}

fn read(carrier: &mut impl ConnectionSet, now_ns: u64, tally: &mut Tally) -> Result<(), LoadError> {
    let count = tally.completed_count;
    if carrier.wait(0)? {
        carrier.receive(tally)?;
    }
    let count = tally.completed_count - count;
    if count > 0 {
        tally.note_wake(count, 0);
    }
    carrier.tend(now_ns, tally)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SendOutcome {
    /// All due queries left.
    All,
    /// Only some queries left: every connection has its limit of outstanding queries.
    NoRoom,
}

struct Sender {
    batch: Vec<DueQuery>,
    next_connection: usize,
}

impl Sender {
    /// Sends the due queries, a batch to each connection in turn. Without room, the sender must
    /// wait; the lateness shows the wait.
    fn send_due(
        &mut self,
        supply: &mut QuerySource,
        now_ns: u64,
        carrier: &mut impl ConnectionSet,
        tally: &mut Tally,
    ) -> Result<SendOutcome, LoadError> {
        let connection_count = carrier.connection_count();
        let mut without_room = 0;
        while without_room < connection_count {
            if supply.next_ns().is_none_or(|next_ns| next_ns > now_ns) {
                return Ok(SendOutcome::All);
            }
            let connection = self.next_connection;
            self.next_connection = (connection + 1) % connection_count;
            let room = carrier.room(connection).min(BATCH_MAX);
            if room == 0 {
                without_room += 1;
                continue;
            }
            without_room = 0;
            supply.fill(&mut self.batch, room, now_ns);
            carrier.send(connection, &self.batch, tally)?;
        }
        Ok(SendOutcome::NoRoom)
    }
}
