//! One query through the stub: reads, asks upstream, answers, then records.

use super::answering::Answering;
use super::client::Client;
use super::gatherer::{Gatherer, Place};
use super::limits::ClientLimits;
use super::options::StubOptions;
use super::pushed::{Expected, Pushed};
use super::reply::{Carrier, failed, forwarded};
use crate::asking::Asking;
use crate::client::{DnsClient, Forgetting};
use crate::question::{Question, QuestionError};
use crate::upstream::{Asked, Upstream};
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
pub(super) struct Service {
    upstream: Upstream,
    deadline: Duration,
    pub limits: ClientLimits,
    sequence: AtomicU64,
    records: Sender<Record>,
    pub answering: Option<Arc<dyn Answering>>,
    /// The gatherer, with the time a message waits for more queries.
    gatherer: Option<(Gatherer, Duration)>,
    pushed: Pushed,
    /// The number of pending queries, counted until their records are sent.
    under_way: watch::Sender<u32>,
}

impl Service {
    pub(super) fn new(client: DnsClient, options: StubOptions, records: Sender<Record>) -> Self {
        Self {
            upstream: Upstream::new(client, options.connections),
            deadline: options.deadline,
            limits: options.limits,
            sequence: AtomicU64::new(0),
            records,
            answering: None,
            gatherer: options.gather.map(|time| (Gatherer::default(), time)),
            pushed: Pushed::default(),
            under_way: watch::Sender::new(0),
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
        let mut under_way = self.under_way.subscribe();
        // The sender is here.
        let _ = under_way.wait_for(|count| *count == 0).await;
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
    pub(super) async fn close(&self, forgetting: Forgetting) {
        self.pushed.clear();
        self.upstream.close(forgetting).await;
        if *self.under_way.borrow() > 0 && !self.upstream.client.is_connectionless() {
            let _ = timeout(CLOSE_PATIENCE, self.queries_ended()).await;
            self.upstream.close(forgetting).await;
        }
    }

    /// Gives up the pending queries, sends their records, and closes the upstream connection.
    pub(super) async fn end(&self) {
        self.upstream.end();
        let _ = timeout(CLOSE_PATIENCE, self.queries_ended()).await;
        self.upstream.close(Forgetting::Nothing).await;
    }

    /// Handles one message received at `received_ns`. Messages other than queries get no record.
    pub(super) async fn handle(
        self: &Arc<Self>,
        message: Vec<u8>,
        received_ns: u64,
        client: Client,
    ) {
        let Ok(query) = Message::from_vec(&message) else {
            return;
        };
        if query.metadata.message_type != MessageType::Query {
            return;
        }
        match question_of(&query) {
            Ok(question) => {
                let _under_way = UnderWay::begin(&self.under_way);
                let pushed = self.pushed.answer_to(&question).await;
                if let Some(asked) = pushed {
                    let reply = self.reply(&query, &question, &asked, client.carrier());
                    drop(client.send(reply).await);
                } else {
                    self.push(&question, received_ns);
                    self.forward(&query, &question, received_ns, client).await;
                }
            }
            Err(rcode) => drop(client.send(failed(&query, rcode)).await),
        }
    }

    /// Asks the expected questions together with a query. The query leaves first, because these
    /// tasks run when it waits.
    fn push(self: &Arc<Self>, first: &Question, received_ns: u64) {
        for expected in self.pushed.begin(first) {
            tokio::spawn(Arc::clone(self).ask_expected(expected, received_ns));
        }
    }

    async fn ask_expected(self: Arc<Self>, expected: Expected, received_ns: u64) {
        let _under_way = UnderWay::begin(&self.under_way);
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        let asking = Asking::begun_at(received_ns, &self.upstream.client, &expected.question);
        let (asked, message_facts) = self.ask(&asking).await;
        let mut record = record_of(&asking, &asked, sequence, None);
        record.message_facts = message_facts;
        let _ = self.records.send(Record::Query(Box::new(record)));
        expected.came(asked);
    }

    async fn forward(
        self: &Arc<Self>,
        query: &Message,
        question: &Question,
        received_ns: u64,
        client: Client,
    ) {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        let asking = Asking::begun_at(received_ns, &self.upstream.client, question);
        let (client_address, carrier) = (client.address(), client.carrier());
        let at_once = self
            .answering
            .as_ref()
            .and_then(|answering| answering.at_once(query, question));
        let (waiting, told_ns) = match at_once {
            None => (Some(client), None),
            Some(response) => {
                let reply = forwarded(query, response, carrier);
                (None, sent_after(client, reply, received_ns).await)
            }
        };
        let (asked, message_facts) = self.ask(&asking).await;
        let reply = self.reply(query, question, &asked, carrier);
        let answered_ns = match waiting {
            None => told_ns,
            Some(client) => sent_after(client, reply, received_ns).await,
        };
        let forwarded_for = ForwardedFor {
            client_address,
            answered_ns,
        };
        let mut record = record_of(&asking, &asked, sequence, Some(forwarded_for));
        record.message_facts = message_facts;
        // The reader is gone only when the stub is ending.
        let _ = self.records.send(Record::Query(Box::new(record)));
    }

    /// Asks alone, or together with other queries arriving within the gathering time.
    async fn ask(self: &Arc<Self>, asking: &Asking<'_>) -> (Asked, MessageFacts) {
        // It may have waited for an answer that was to be pushed.
        let left = asking.left_of(self.deadline);
        let Some((gatherer, _)) = &self.gatherer else {
            let asked = self.upstream.ask(asking, left).await;
            return (asked, MessageFacts::default());
        };
        let is_refused = self.upstream.client.partial_support().is_refused();
        let Some(place) = (!is_refused).then(|| gatherer.join(asking)).flatten() else {
            let asked = self.upstream.ask(asking, left).await;
            return (asked, alone_past_the_gatherer());
        };
        if place.is_first {
            tokio::spawn(Arc::clone(self).ask_gathered());
        }
        let Place { told, message, .. } = place;
        let upstream = &self.upstream;
        let in_message = upstream.ask_in_message(asking, told, self.deadline).await;
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
        let (seats, time_origin_ns) = (gathered.seats, gathered.time_origin_ns);
        // It waited for others, which a query alone does not.
        let waited = Duration::from_nanos(monotonic_ns().saturating_sub(time_origin_ns));
        let left = self.deadline.saturating_sub(waited);
        self.upstream.ask_message(seats, time_origin_ns, left).await;
    }

    fn reply(
        &self,
        query: &Message,
        question: &Question,
        asked: &Asked,
        carrier: Carrier,
    ) -> Vec<u8> {
        let response = asked.outcome.result.as_ref().map(|answer| &answer.response);
        let instead = self
            .answering
            .as_ref()
            .and_then(|answering| answering.afterwards(query, question, response));
        match (instead, response) {
            (Some(instead), _) => forwarded(query, instead, carrier),
            (None, Ok(response)) => forwarded(query, response.message.clone(), carrier),
            (None, Err(_)) => failed(query, ResponseCode::ServFail),
        }
    }
}

/// Returns the facts of a query asked alone although gathering is on.
fn alone_past_the_gatherer() -> MessageFacts {
    MessageFacts {
        message_question_count: Some(1),
        asked_alone: Some(true),
        ..MessageFacts::default()
    }
}

fn record_of(
    asking: &Asking<'_>,
    asked: &Asked,
    sequence: u64,
    forwarded_for: Option<ForwardedFor>,
) -> QueryRecord {
    let purpose = match forwarded_for {
        Some(_) => QueryPurpose::Forwarded,
        None => QueryPurpose::Pushed,
    };
    let mut record = asking.record(&asked.outcome, purpose, sequence, forwarded_for);
    record.connection_facts.previous_connection_end = asked.previous_end;
    record
}

/// A guard counting one pending query.
struct UnderWay<'a>(&'a watch::Sender<u32>);

impl<'a> UnderWay<'a> {
    fn begin(count: &'a watch::Sender<u32>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// Sends a reply. Returns the time since the query was read, in ns; `None` when sending failed.
async fn sent_after(client: Client, reply: Vec<u8>, received_ns: u64) -> Option<u64> {
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
    Question::of(query).ok_or(ResponseCode::FormErr)
}
