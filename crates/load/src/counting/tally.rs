//! The counts of an engine during a run; tallies of workers add up. Not for: making a record of the
//! counts; see `summary`.

use crate::counting::answer::AnswerProperties;
use hdrhistogram::Histogram;
use resolab_record::{Failure, HelloCount, HelloFacts};
use std::collections::BTreeMap;

/// The longest distinguishable time of a histogram; also the longest allowed timeout.
pub const LONGEST_NS: u64 = 600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// A histogram of durations, in ns.
#[derive(Debug, Clone)]
pub struct DurationHistogram(Histogram<u64>);

impl Default for DurationHistogram {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS);
        Self(histogram.unwrap_or_else(|error| unreachable!("the bounds are constants: {error}")))
    }
}

impl DurationHistogram {
    /// Counts a duration, in ns.
    pub fn add(&mut self, duration_ns: u64) {
        self.0.saturating_record(duration_ns.max(1));
    }

    /// Returns the underlying histogram.
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.0
    }

    fn merge(&mut self, other: &Self) {
        // Both have the same bounds, so nothing can fall outside.
        let _ = self.0.add(&other.0);
    }
}

/// Counts and distributions of a worker, or the sum of several workers. Every query sent has
/// exactly one end: completed, lost, interrupted or failed.
#[derive(Debug, Clone)]
pub struct Tally {
    /// The number of queries sent.
    pub sent_count: u64,
    /// The number of queries answered in time.
    pub completed_count: u64,
    /// The number of queries without an answer in time.
    pub lost_count: u64,
    /// The number of queries cut off by the end of their connection or of the run.
    pub interrupted_count: u64,
    /// The number of queries failed otherwise.
    pub failed_count: u64,
    /// The reasons of interrupted and failed queries, with counts.
    pub failures: BTreeMap<Failure, u64>,
    /// The number of answers by response code.
    pub rcodes: [u64; 16],
    /// The number of truncated answers.
    pub truncated_count: u64,
    /// The number of answers to queries given up before.
    pub late_count: u64,
    /// The number of queries left unprocessed by a server, then sent again.
    pub refused_count: u64,
    /// The number of second answers to a query.
    pub duplicate_count: u64,
    /// The number of messages answering no query.
    pub alien_count: u64,
    /// The bytes of DNS messages sent.
    pub query_bytes: u64,
    /// The bytes of DNS messages counted as answers.
    pub response_bytes: u64,
    /// The sum of all values in `response_time`.
    pub response_time_sum_ns: u64,
    /// The time from the planned send time to the answer.
    pub response_time: DurationHistogram,
    /// The distributions of an open loop; `None` in a closed loop.
    pub open: Option<Box<OpenLoopHistograms>>,
    /// The time from the start of connecting to an open connection.
    pub connect: DurationHistogram,
    /// The number of connections by the facts of their hellos.
    pub hellos: Vec<HelloCount>,
    /// The number of connections opened to replace an ended connection.
    pub reconnect_count: u64,
    /// The number of failed handshakes.
    pub handshake_failure_count: u64,
    /// The number of wakes with at least one answer.
    pub wake_count: u64,
    /// The number of answers found at these wakes.
    pub woken_answer_count: u64,
    /// The sum of the gathering waits, in ns.
    pub gathering_wait_sum_ns: u64,
    /// True when answers had the kernel's timestamps.
    pub kernel_receive_stamps: bool,
    /// The send time of the first query.
    pub first_sent_ns: Option<u64>,
    /// The send time of the last query.
    pub last_sent_ns: Option<u64>,
    /// The end of the last query, for engines with work left after the last query.
    pub ended_ns: Option<u64>,
    /// The reason for giving up sending before the planned end.
    pub given_up: Option<Failure>,
    /// The longest time from sending to a valid answer.
    timeout_ns: u64,
}

/// The distributions available only in an open loop.
#[derive(Debug, Clone, Default)]
pub struct OpenLoopHistograms {
    /// The time from sending to the answer.
    pub exchange: DurationHistogram,
    /// The time from the planned send time to sending.
    pub lateness: DurationHistogram,
}

impl Tally {
    /// Creates an empty tally for an open or a closed loop. `timeout_ns` is the time limit of a
    /// query.
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
            response_time: DurationHistogram::default(),
            open: is_open.then(Box::default),
            connect: DurationHistogram::default(),
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

    /// Counts a query planned for `wanted_ns` and sent at `sent_ns`.
    pub fn note_sent(&mut self, wanted_ns: u64, sent_ns: u64, query_bytes: usize) {
        self.sent_count += 1;
        self.query_bytes += query_bytes as u64;
        self.first_sent_ns.get_or_insert(sent_ns);
        self.last_sent_ns = Some(sent_ns);
        if let Some(open) = &mut self.open {
            open.lateness.add(sent_ns.saturating_sub(wanted_ns));
        }
    }

    /// Counts an answer. An answer after the timeout is late, and the query is lost. This rule also
    /// holds when the loop did not check timeouts in between: a loop may stop for longer than a
    /// timeout.
    pub fn note_completion(
        &mut self,
        (wanted_ns, sent_ns, received_ns): (u64, u64, u64),
        answer: AnswerProperties,
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

    /// Counts a query without an answer in time.
    pub fn note_loss(&mut self) {
        self.lost_count += 1;
    }

    /// Counts a query with the connection ended before the answer.
    pub fn note_interruption(&mut self, failure: Failure) {
        self.interrupted_count += 1;
        *self.failures.entry(failure).or_default() += 1;
    }

    /// Counts `count` queries as cut off: the run was stopped before their answers.
    pub fn cut_off(&mut self, count: u64) {
        self.interrupted_count += count;
    }

    /// Counts a query failed by itself.
    pub fn note_failure(&mut self, failure: Failure) {
        self.failed_count += 1;
        *self.failures.entry(failure).or_default() += 1;
    }

    /// Records the end of the last query, or of waiting for answers.
    pub fn note_end(&mut self, now_ns: u64) {
        self.ended_ns = Some(now_ns);
    }

    /// Records the reason when nothing more can be sent.
    pub fn give_up(&mut self, failure: Failure) {
        self.given_up = Some(failure);
    }

    /// Counts a wake with answers, after a gathering wait of `waited_ns`.
    pub fn note_wake(&mut self, answer_count: u64, waited_ns: u64) {
        self.wake_count += 1;
        self.woken_answer_count += answer_count;
        self.gathering_wait_sum_ns += waited_ns;
    }

    /// Counts an established connection; connecting took `duration_ns`.
    pub fn note_connection(&mut self, duration_ns: u64) {
        self.connect.add(duration_ns);
    }

    /// Counts the hello messages of the connection.
    pub fn note_hello(&mut self, hello_facts: HelloFacts) {
        self.add_hellos(HelloCount {
            connection_count: 1,
            hello_facts,
        });
    }

    /// Adds a count of hello messages. Servers and clients vary their hellos little, hence there
    /// are few kinds.
    fn add_hellos(&mut self, more: HelloCount) {
        let mut known = self.hellos.iter_mut();
        match known.find(|known| known.hello_facts == more.hello_facts) {
            Some(known) => known.connection_count += more.connection_count,
            None => self.hellos.push(more),
        }
    }

    /// Returns the number of queries without an end yet.
    pub fn outstanding_count(&self) -> u64 {
        let ended = self.completed_count + self.lost_count;
        self.sent_count - ended - self.interrupted_count - self.failed_count
    }

    /// Adds the tally of another worker.
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

    const NOERROR: AnswerProperties = AnswerProperties {
        rcode: 0,
        truncated: false,
    };

    #[test]
    fn an_open_loop_counts_from_when_a_query_was_wanted() {
        let mut tally = Tally::new(true, u64::MAX);
        tally.note_sent(1_000, 4_000, 30);
        tally.note_completion((1_000, 4_000, 9_000), NOERROR, 50);
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
            tally.note_sent(sent_ns, sent_ns, 30);
        }
        tally.note_completion((0, 0, 101), NOERROR, 50);
        tally.note_completion((10, 10, 110), NOERROR, 50);
        // From its schedule an open loop's query may take longer: what counts is when it was sent.
        tally.note_completion((500, 1_000, 1_100), NOERROR, 50);
        assert_eq!((tally.completed_count, tally.response_bytes), (2, 100));
        assert_eq!((tally.lost_count, tally.late_count), (1, 1));
        assert_eq!(tally.outstanding_count(), 0);
    }

    #[test]
    fn workers_add_up() {
        let mut first = Tally::new(false, u64::MAX);
        first.note_sent(5, 5, 10);
        first.note_sent(9, 9, 10);
        first.note_completion((5, 5, 105), NOERROR, 20);
        first.note_loss();
        let mut other = Tally::new(false, u64::MAX);
        other.note_sent(3, 3, 10);
        other.note_sent(4, 4, 10);
        other.note_interruption(Failure::QueryConnectionClosed);
        other.note_failure(Failure::HttpStatus);
        first.merge(&other);
        assert_eq!((first.sent_count, first.outstanding_count()), (4, 0));
        assert_eq!(
            (first.first_sent_ns, first.last_sent_ns),
            (Some(3), Some(9))
        );
        assert_eq!(first.failures.len(), 2);
        assert_eq!(first.response_time.histogram().len(), 1);
        assert_eq!(first.rcodes[0], 1);
    }

    #[test]
    fn times_beyond_the_histogram_are_counted_as_its_longest() {
        let mut times = DurationHistogram::default();
        times.add(u64::MAX);
        times.add(0);
        assert_eq!(times.histogram().len(), 2);
        assert_eq!(times.histogram().min(), 1);
    }
}
