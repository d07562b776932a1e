//! What an engine counts while it runs; tallies of workers add up. Not for: making a record of it;
//! that is `summary`.

use crate::counting::answer::Answer;
use hdrhistogram::Histogram;
use resolab_record::{Failure, HelloCount, HelloFacts};
use std::collections::BTreeMap;

/// Longest time a histogram can tell from longer ones: no answer may be waited for longer.
pub const LONGEST_NS: u64 = 600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// Durations as a histogram.
#[derive(Debug, Clone)]
pub struct Times(Histogram<u64>);

impl Default for Times {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS);
        Self(histogram.unwrap_or_else(|error| unreachable!("the bounds are constants: {error}")))
    }
}

impl Times {
    /// Count one.
    pub fn add(&mut self, duration_ns: u64) {
        self.0.saturating_record(duration_ns.max(1));
    }

    /// The histogram.
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.0
    }

    fn merge(&mut self, other: &Self) {
        // Both have the same bounds, so nothing can fall outside.
        let _ = self.0.add(&other.0);
    }
}

/// Counts and distributions of one worker, or of several. Every query sent comes to one end:
/// completed, lost, interrupted or failed.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Queries sent.
    pub sent_count: u64,
    /// Answered in time.
    pub completed_count: u64,
    /// No answer in time.
    pub lost_count: u64,
    /// Cut off by the end of their connection or of the run.
    pub interrupted_count: u64,
    /// Failed otherwise.
    pub failed_count: u64,
    /// Why queries were cut off or failed.
    pub failures: BTreeMap<Failure, u64>,
    /// Answers by response code.
    pub rcodes: [u64; 16],
    /// Truncated answers.
    pub truncated_count: u64,
    /// Answers to queries given up before.
    pub late_count: u64,
    /// Times a server left a query unprocessed, which was then asked again.
    pub refused_count: u64,
    /// Second answers to a query.
    pub duplicate_count: u64,
    /// What answers no query.
    pub alien_count: u64,
    /// DNS messages sent.
    pub query_bytes: u64,
    /// DNS messages that answered.
    pub response_bytes: u64,
    /// Sum of `response_time`.
    pub response_time_sum_ns: u64,
    /// Wanted to answered.
    pub response_time: Times,
    /// In an open loop.
    pub open: Option<Box<OpenTimes>>,
    /// Start of connecting to an open connection.
    pub connect: Times,
    /// Connections by their hellos.
    pub hellos: Vec<HelloCount>,
    /// Connections opened because the one before had ended.
    pub reconnect_count: u64,
    /// Handshakes that failed.
    pub handshake_failure_count: u64,
    /// Times answers were looked for and found.
    pub wake_count: u64,
    /// Answers found there.
    pub woken_answer_count: u64,
    /// Sum of the gathering waits.
    pub gathering_wait_sum_ns: u64,
    /// Whether answers had the kernel's stamps.
    pub kernel_receive_stamps: bool,
    /// First query sent.
    pub first_sent_ns: Option<u64>,
    /// Last query sent.
    pub last_sent_ns: Option<u64>,
    /// The end of the last query, where an engine has something to do after it.
    pub ended_ns: Option<u64>,
    /// Why sending was given up before its end.
    pub given_up: Option<Failure>,
    /// How long after it was sent an answer counts.
    timeout_ns: u64,
}

/// What only an open loop has.
#[derive(Debug, Clone, Default)]
pub struct OpenTimes {
    /// Sent to answered.
    pub exchange: Times,
    /// Wanted to sent.
    pub lateness: Times,
}

impl Tally {
    /// Nothing yet, for an open loop or a closed one, whose queries may take `timeout_ns`.
    pub fn new(is_open: bool, timeout_ns: u64) -> Self {
        Self {
            sent_count: 0,
            completed_count: 0,
            lost_count: 0,
            interrupted_count: 0,
            failed_count: 0,
            failures: BTreeMap::new(),
            rcodes: [0; 16],
            truncated_count: 0,
            late_count: 0,
            refused_count: 0,
            duplicate_count: 0,
            alien_count: 0,
            query_bytes: 0,
            response_bytes: 0,
            response_time_sum_ns: 0,
            response_time: Times::default(),
            open: is_open.then(Box::default),
            connect: Times::default(),
            hellos: Vec::new(),
            reconnect_count: 0,
            handshake_failure_count: 0,
            wake_count: 0,
            woken_answer_count: 0,
            gathering_wait_sum_ns: 0,
            kernel_receive_stamps: false,
            first_sent_ns: None,
            last_sent_ns: None,
            ended_ns: None,
            given_up: None,
            timeout_ns,
        }
    }

    /// A query left at `sent_ns` that was wanted at `wanted_ns`.
    pub fn sent(&mut self, wanted_ns: u64, sent_ns: u64, query_bytes: usize) {
        self.sent_count += 1;
        self.query_bytes += query_bytes as u64;
        self.first_sent_ns.get_or_insert(sent_ns);
        self.last_sent_ns = Some(sent_ns);
        if let Some(open) = &mut self.open {
            open.lateness.add(sent_ns.saturating_sub(wanted_ns));
        }
    }

    /// Its answer came. One that came after its time is late and its query lost, even where nobody
    /// has looked at the time in between: a loop may be held for longer than a timeout.
    pub fn completed(
        &mut self,
        (wanted_ns, sent_ns, received_ns): (u64, u64, u64),
        answer: Answer,
        response_bytes: usize,
    ) {
        if received_ns.saturating_sub(sent_ns) > self.timeout_ns {
            self.lost_count += 1;
            self.late_count += 1;
            return;
        }
        self.completed_count += 1;
        self.rcodes[usize::from(answer.rcode & 0x0f)] += 1;
        self.truncated_count += u64::from(answer.truncated);
        self.response_bytes += response_bytes as u64;
        let response_time_ns = received_ns.saturating_sub(wanted_ns);
        self.response_time_sum_ns += response_time_ns;
        self.response_time.add(response_time_ns);
        if let Some(open) = &mut self.open {
            open.exchange.add(received_ns.saturating_sub(sent_ns));
        }
    }

    /// No answer came in time.
    pub fn lost(&mut self) {
        self.lost_count += 1;
    }

    /// The connection ended before the answer came.
    pub fn interrupted(&mut self, failure: Failure) {
        self.interrupted_count += 1;
        *self.failures.entry(failure).or_default() += 1;
    }

    /// The run was stopped before the answers of `count` queries came.
    pub fn cut_off(&mut self, count: u64) {
        self.interrupted_count += count;
    }

    /// The query failed by itself.
    pub fn failed(&mut self, failure: Failure) {
        self.failed_count += 1;
        *self.failures.entry(failure).or_default() += 1;
    }

    /// Every query has come to its end, or will not.
    pub fn ended(&mut self, now_ns: u64) {
        self.ended_ns = Some(now_ns);
    }

    /// Nothing more can be sent.
    pub fn give_up(&mut self, failure: Failure) {
        self.given_up = Some(failure);
    }

    /// Answers were looked for after a wait, and found.
    pub fn woken(&mut self, answer_count: u64, waited_ns: u64) {
        self.wake_count += 1;
        self.woken_answer_count += answer_count;
        self.gathering_wait_sum_ns += waited_ns;
    }

    /// A connection stands; connecting took `duration_ns`.
    pub fn connected(&mut self, duration_ns: u64) {
        self.connect.add(duration_ns);
    }

    /// Its hellos were these.
    pub fn greeted(&mut self, hello_facts: HelloFacts) {
        self.add_hellos(HelloCount {
            connection_count: 1,
            hello_facts,
        });
    }

    /// Servers and clients vary their hellos little, so that there are few kinds.
    fn add_hellos(&mut self, more: HelloCount) {
        let mut known = self.hellos.iter_mut();
        match known.find(|known| known.hello_facts == more.hello_facts) {
            Some(known) => known.connection_count += more.connection_count,
            None => self.hellos.push(more),
        }
    }

    /// Queries that have not come to an end yet.
    pub fn outstanding_count(&self) -> u64 {
        let ended = self.completed_count + self.lost_count;
        self.sent_count - ended - self.interrupted_count - self.failed_count
    }

    /// Add another worker's.
    pub fn merge(&mut self, other: &Self) {
        other
            .hellos
            .iter()
            .cloned()
            .for_each(|more| self.add_hellos(more));
        self.sent_count += other.sent_count;
        self.completed_count += other.completed_count;
        self.lost_count += other.lost_count;
        self.interrupted_count += other.interrupted_count;
        self.failed_count += other.failed_count;
        self.truncated_count += other.truncated_count;
        self.late_count += other.late_count;
        self.refused_count += other.refused_count;
        self.duplicate_count += other.duplicate_count;
        self.alien_count += other.alien_count;
        self.query_bytes += other.query_bytes;
        self.response_bytes += other.response_bytes;
        self.response_time_sum_ns += other.response_time_sum_ns;
        self.reconnect_count += other.reconnect_count;
        self.handshake_failure_count += other.handshake_failure_count;
        self.wake_count += other.wake_count;
        self.woken_answer_count += other.woken_answer_count;
        self.gathering_wait_sum_ns += other.gathering_wait_sum_ns;
        self.kernel_receive_stamps |= other.kernel_receive_stamps;
        self.merge_tables(other);
    }

    fn merge_tables(&mut self, other: &Self) {
        for (failure, count) in &other.failures {
            *self.failures.entry(*failure).or_default() += count;
        }
        for (own, others) in self.rcodes.iter_mut().zip(other.rcodes) {
            *own += others;
        }
        self.response_time.merge(&other.response_time);
        self.connect.merge(&other.connect);
        if let (Some(own), Some(others)) = (&mut self.open, &other.open) {
            own.exchange.merge(&others.exchange);
            own.lateness.merge(&others.lateness);
        }
        let firsts = [self.first_sent_ns, other.first_sent_ns];
        self.first_sent_ns = firsts.into_iter().flatten().min();
        self.last_sent_ns = self.last_sent_ns.max(other.last_sent_ns);
        self.ended_ns = self.ended_ns.max(other.ended_ns);
        self.given_up = self.given_up.or(other.given_up);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOERROR: Answer = Answer {
        rcode: 0,
        truncated: false,
    };

    #[test]
    fn an_open_loop_counts_from_when_a_query_was_wanted() {
        let mut tally = Tally::new(true, u64::MAX);
        tally.sent(1_000, 4_000, 30);
        tally.completed((1_000, 4_000, 9_000), NOERROR, 50);
        let open = tally.open.as_ref().unwrap();
        assert_eq!(tally.response_time.histogram().max(), 8_003);
        assert_eq!(open.exchange.histogram().max(), 5_003);
        assert_eq!(open.lateness.histogram().max(), 3_001);
        assert_eq!((tally.query_bytes, tally.response_bytes), (30, 50));
        assert_eq!(tally.outstanding_count(), 0);
    }

    #[test]
    fn an_answer_after_its_time_is_late_however_it_was_found() {
        let mut tally = Tally::new(false, 100);
        for sent_ns in [0, 10, 1_000] {
            tally.sent(sent_ns, sent_ns, 30);
        }
        tally.completed((0, 0, 101), NOERROR, 50);
        tally.completed((10, 10, 110), NOERROR, 50);
        // From its schedule an open loop's query may take longer: what counts is when it was sent.
        tally.completed((500, 1_000, 1_100), NOERROR, 50);
        assert_eq!((tally.completed_count, tally.response_bytes), (2, 100));
        assert_eq!((tally.lost_count, tally.late_count), (1, 1));
        assert_eq!(tally.outstanding_count(), 0);
    }

    #[test]
    fn workers_add_up() {
        let mut one = Tally::new(false, u64::MAX);
        one.sent(5, 5, 10);
        one.sent(9, 9, 10);
        one.completed((5, 5, 105), NOERROR, 20);
        one.lost();
        let mut other = Tally::new(false, u64::MAX);
        other.sent(3, 3, 10);
        other.sent(4, 4, 10);
        other.interrupted(Failure::QueryConnectionClosed);
        other.failed(Failure::HttpStatus);
        one.merge(&other);
        assert_eq!((one.sent_count, one.outstanding_count()), (4, 0));
        assert_eq!((one.first_sent_ns, one.last_sent_ns), (Some(3), Some(9)));
        assert_eq!(one.failures.len(), 2);
        assert_eq!(one.response_time.histogram().len(), 1);
        assert_eq!(one.rcodes[0], 1);
    }

    #[test]
    fn times_beyond_the_histogram_are_counted_as_its_longest() {
        let mut times = Times::default();
        times.add(u64::MAX);
        times.add(0);
        assert_eq!(times.histogram().len(), 2);
        assert_eq!(times.histogram().min(), 1);
    }
}
