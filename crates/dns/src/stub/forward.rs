//! One query through the stub: reads, asks upstream, answers, then records.

use super::client::ReplyDestination;
use super::gatherer::{GatheredPosition, QueryGatherer};
use super::limits::ClientLimits;
use super::options::StubOptions;
use super::pushed::{ExpectedQuestion, PushedAnswers};
use super::reply::{ClientTransport, build_failure, build_reply};
use super::reply_override::ReplyOverride;
use crate::client::{DnsClient, ForgetScope};
use crate::query::PendingQuery;
use crate::question::{Question, QuestionError};
use crate::upstream::{Upstream, UpstreamOutcome};
use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::DNSClass;
use resolab_http::H3Client;
use resolab_record::{ForwardedFor, MessageFacts, QueryPurpose, QueryRecord, Record};
use resolab_transport::clock::monotonic_ns;
use resolab_transport::exact_timer::wait_until;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// The time allowed for queries pending when their connection is closed.
const CLOSE_PATIENCE: Duration = Duration::from_secs(2);

/// The state shared by all forwarded queries.
pub(super) struct StubState {
    upstream: Upstream,
    deadline: Duration,
    pub limits: ClientLimits,
    sequence: AtomicU64,
    records: Sender<Record>,
    pub reply_override: Option<Arc<dyn ReplyOverride>>,
    /// The gatherer, with the time a message waits for more queries.
    gatherer: Option<(QueryGatherer, Duration)>,
    pushed: PushedAnswers,
    /// The number of pending queries, counted until their records are sent.
    pending_count: watch::Sender<u32>,
}

impl StubState {
    pub(super) fn new(client: DnsClient, options: StubOptions, records: Sender<Record>) -> Self {
        Self {
            upstream: Upstream::new(client, options.connections),
            deadline: options.deadline,
            limits: options.limits,
            sequence: AtomicU64::new(0),
            records,
            reply_override: None,
            gatherer: options.gather.map(|time| (QueryGatherer::default(), time)),
            pushed: PushedAnswers::default(),
            pending_count: watch::Sender::new(0),
        }
    }

    /// Expects answers with the next query.
    pub(super) fn push_answers(&self, names: &[String]) -> Result<(), QuestionError> {
        self.pushed.expect(names)
    }

    /// Closes the upstream connection whenever its idle timeout passes; never returns.
    pub(super) async fn watch_idle(&self) {
        self.upstream.watch_idle().await;
    }

    /// Waits until no query is pending and all records are sent.
    pub(super) async fn queries_ended(&self) {
        let mut pending_count = self.pending_count.subscribe();
        // The sender is here.
        let _ = pending_count.wait_for(|count| *count == 0).await;
    }

    /// Returns HTTP/3 on the resolver's connection, if any.
    pub(super) fn http3(&self) -> Option<Arc<H3Client>> {
        self.upstream.http3()
    }

    /// Waits for HTTP/3 on the resolver's connection.
    pub(super) async fn http3_opened(&self) -> Arc<H3Client> {
        self.upstream.http3_opened().await
    }

    /// Closes the upstream connection, and the connection used for repeating pending queries. The
    /// next query finds no connection.
    pub(super) async fn close(&self, forgetting: ForgetScope) {
        self.pushed.clear();
        self.upstream.close(forgetting).await;
        if *self.pending_count.borrow() > 0 && !self.upstream.client.is_connectionless() {
            let _ = timeout(CLOSE_PATIENCE, self.queries_ended()).await;
            self.upstream.close(forgetting).await;
        }
    }

    /// Gives up the pending queries, sends their records, and closes the upstream connection.
    pub(super) async fn end(&self) {
        self.upstream.end();
        let _ = timeout(CLOSE_PATIENCE, self.queries_ended()).await;
        self.upstream.close(ForgetScope::Nothing).await;
    }

    /// Handles one message received at `received_ns`. Messages other than queries get no record.
    pub(super) async fn handle(
        self: &Arc<Self>,
        message: Vec<u8>,
        received_ns: u64,
        client: ReplyDestination,
    ) {
        let Ok(query) = Message::from_vec(&message) else {
            return;
        };
        if query.metadata.message_type != MessageType::Query {
            return;
        }
        match question_of(&query) {
            Ok(question) => {
                let _under_way = PendingQueryGuard::begin(&self.pending_count);
                let pushed = self.pushed.wait_for_answer(&question).await;
                if let Some(asked) = pushed {
                    let reply = self.reply(&query, &question, &asked, client.carrier());
                    drop(client.send(reply).await);
                } else {
                    self.push(&question, received_ns);
                    self.forward(&query, &question, received_ns, client).await;
                }
            }
            Err(rcode) => drop(client.send(build_failure(&query, rcode)).await),
        }
    }

    /// Asks the expected questions together with a query. The query leaves first, because these
    /// tasks run when it waits.
    fn push(self: &Arc<Self>, first: &Question, received_ns: u64) {
        for expected in self.pushed.begin(first) {
            tokio::spawn(Arc::clone(self).ask_expected(expected, received_ns));
        }
    }

    async fn ask_expected(self: Arc<Self>, expected: ExpectedQuestion, received_ns: u64) {
        let _under_way = PendingQueryGuard::begin(&self.pending_count);
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        let pending =
            PendingQuery::begin_at(received_ns, &self.upstream.client, &expected.question);
        let (asked, message_facts) = self.ask(&pending).await;
        let mut record = build_record(&pending, &asked, sequence, None);
        record.message_facts = message_facts;
        let _ = self.records.send(Record::Query(Box::new(record)));
        expected.store(asked);
    }

    async fn forward(
        self: &Arc<Self>,
        query: &Message,
        question: &Question,
        received_ns: u64,
        client: ReplyDestination,
    ) {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        let pending = PendingQuery::begin_at(received_ns, &self.upstream.client, question);
        let (client_address, carrier) = (client.address(), client.carrier());
        let at_once = self
            .reply_override
            .as_ref()
            .and_then(|reply_override| reply_override.replace_before_query(query, question));
        let (waiting, early_reply_ns) = match at_once {
            None => (Some(client), None),
            Some(response) => {
                let reply = build_reply(query, response, carrier);
                (None, send_timed(client, reply, received_ns).await)
            }
        };
        let (asked, message_facts) = self.ask(&pending).await;
        let reply = self.reply(query, question, &asked, carrier);
        let answered_ns = match waiting {
            None => early_reply_ns,
            Some(client) => send_timed(client, reply, received_ns).await,
        };
        let forwarded_for = ForwardedFor {
            client_address,
            answered_ns,
        };
        let mut record = build_record(&pending, &asked, sequence, Some(forwarded_for));
        record.message_facts = message_facts;
        // The reader is gone only when the stub is ending.
        let _ = self.records.send(Record::Query(Box::new(record)));
    }

    /// Asks alone, or together with other queries arriving within the gathering time.
    async fn ask(self: &Arc<Self>, pending: &PendingQuery<'_>) -> (UpstreamOutcome, MessageFacts) {
        // It may have waited for an answer that was to be pushed.
        let left = pending.remaining_time(self.deadline);
        let Some((gatherer, _)) = &self.gatherer else {
            let asked = self.upstream.ask(pending, left).await;
            return (asked, MessageFacts::default());
        };
        let is_refused = self.upstream.client.partial_support().is_refused();
        let Some(position) = (!is_refused).then(|| gatherer.join(pending)).flatten() else {
            let asked = self.upstream.ask(pending, left).await;
            return (asked, ungathered_facts());
        };
        if position.is_first {
            tokio::spawn(Arc::clone(self).ask_gathered());
        }
        let GatheredPosition {
            outcomes, message, ..
        } = position;
        let upstream = &self.upstream;
        let in_message = upstream
            .ask_in_message(pending, outcomes, self.deadline)
            .await;
        let facts = in_message.facts(message.sequence, message.question_count());
        (in_message.asked, facts)
    }

    /// Waits for more queries, then asks all of them.
    async fn ask_gathered(self: Arc<Self>) {
        let Some((gatherer, time)) = &self.gatherer else {
            return;
        };
        wait_until(monotonic_ns() + time.as_nanos() as u64).await;
        let gathered = gatherer.leave();
        let (questions, time_origin_ns) = (gathered.questions, gathered.time_origin_ns);
        // It waited for others, which a query alone does not.
        let waited = Duration::from_nanos(monotonic_ns().saturating_sub(time_origin_ns));
        let left = self.deadline.saturating_sub(waited);
        self.upstream
            .ask_message(questions, time_origin_ns, left)
            .await;
    }

    fn reply(
        &self,
        query: &Message,
        question: &Question,
        asked: &UpstreamOutcome,
        carrier: ClientTransport,
    ) -> Vec<u8> {
        let response = asked.outcome.result.as_ref().map(|answer| &answer.response);
        let instead = self.reply_override.as_ref().and_then(|reply_override| {
            reply_override.replace_after_query(query, question, response)
        });
        match (instead, response) {
            (Some(instead), _) => build_reply(query, instead, carrier),
            (None, Ok(response)) => build_reply(query, response.message.clone(), carrier),
            (None, Err(_)) => build_failure(query, ResponseCode::ServFail),
        }
    }
}

/// Returns the facts of a query asked alone although gathering is on.
fn ungathered_facts() -> MessageFacts {
    MessageFacts {
        message_question_count: Some(1),
        asked_alone: Some(true),
        ..MessageFacts::default()
    }
}

fn build_record(
    pending: &PendingQuery<'_>,
    asked: &UpstreamOutcome,
    sequence: u64,
    forwarded_for: Option<ForwardedFor>,
) -> QueryRecord {
    let purpose = match forwarded_for {
        Some(_) => QueryPurpose::Forwarded,
        None => QueryPurpose::Pushed,
    };
    let mut record = pending.record(&asked.outcome, purpose, sequence, forwarded_for);
    record.connection_facts.previous_connection_end = asked.previous_end;
    record
}

/// A guard counting one pending query.
struct PendingQueryGuard<'a>(&'a watch::Sender<u32>);

impl<'a> PendingQueryGuard<'a> {
    fn begin(count: &'a watch::Sender<u32>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count)
    }
}

impl Drop for PendingQueryGuard<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// Sends a reply. Returns the time since the query was read, in ns; `None` when sending failed.
async fn send_timed(client: ReplyDestination, reply: Vec<u8>, received_ns: u64) -> Option<u64> {
    let is_sent = client.send(reply).await.is_ok();
    is_sent.then(|| monotonic_ns() - received_ns)
}

fn question_of(query: &Message) -> Result<Question, ResponseCode> {
    if query.metadata.op_code != OpCode::Query {
        return Err(ResponseCode::NotImp);
    }
    if query.edns.as_ref().is_some_and(|edns| edns.version() > 0) {
        // RFC 6891 section 6.1.3.
        return Err(ResponseCode::BADVERS);
    }
    let classes: Vec<_> = query.queries.iter().map(Query::query_class).collect();
    if classes.len() == 1 && classes[0] != DNSClass::IN {
        // Nothing is wrong with it (RFC 1035 section 4.1.1).
        return Err(ResponseCode::NotImp);
    }
    Question::from_message(query).ok_or(ResponseCode::FormErr)
}
