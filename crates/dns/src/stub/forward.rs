//! One query through the stub: read, ask upstream, answer, then record.

use super::client::Client;
use super::limits::ClientLimits;
use super::options::StubOptions;
use super::reply::{failed, forwarded};
use crate::asking::Asking;
use crate::client::DnsClient;
use crate::question::Question;
use crate::upstream::{Asked, Upstream};
use hickory_proto::op::{Message, MessageType, OpCode, ResponseCode};
use resolab_record::{ForwardedFor, QueryPurpose, Record};
use resolab_transport::clock::monotonic_ns;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

/// What all forwarded queries share.
pub(super) struct Service {
    upstream: Upstream,
    deadline: Duration,
    pub limits: ClientLimits,
    sequence: AtomicU64,
    records: Sender<Record>,
}

impl Service {
    pub(super) fn new(client: DnsClient, options: StubOptions, records: Sender<Record>) -> Self {
        Self {
            upstream: Upstream::new(client, options.connections),
            deadline: options.deadline,
            limits: options.limits,
            sequence: AtomicU64::new(0),
            records,
        }
    }

    /// Close the upstream connection whenever it was idle long enough; never returns.
    pub(super) async fn watch_idle(&self) {
        self.upstream.watch_idle().await;
    }

    /// Close the upstream connection.
    pub(super) async fn close(&self, forgets_all: bool) {
        self.upstream.close(forgets_all).await;
    }

    /// Handle one message that came in at `received_ns`. What is no query gets no record.
    pub(super) async fn handle(&self, message: Vec<u8>, received_ns: u64, client: Client) {
        let Ok(query) = Message::from_vec(&message) else {
            return;
        };
        if query.metadata.message_type != MessageType::Query {
            return;
        }
        match question_of(&query) {
            Ok(question) => self.forward(&query, &question, received_ns, client).await,
            Err(rcode) => drop(client.send(failed(&query, rcode)).await),
        }
    }

    async fn forward(
        &self,
        query: &Message,
        question: &Question,
        received_ns: u64,
        client: Client,
    ) {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        let asking = Asking::begun_at(received_ns, &self.upstream.client, question);
        let asked = self.upstream.ask(&asking, self.deadline).await;
        let client_address = client.address();
        let reply = match &asked.outcome.result {
            Ok(answer) => {
                let response = answer.response.message.clone();
                forwarded(query, response, client.carrier())
            }
            Err(_) => failed(query, ResponseCode::ServFail),
        };
        let is_sent = client.send(reply).await.is_ok();
        let answered_ns = is_sent.then(|| monotonic_ns() - received_ns);
        self.record(
            &asking,
            &asked,
            sequence,
            ForwardedFor {
                client_address,
                answered_ns,
            },
        );
    }

    fn record(
        &self,
        asking: &Asking<'_>,
        asked: &Asked,
        sequence: u64,
        forwarded_for: ForwardedFor,
    ) {
        let (outcome, purpose) = (&asked.outcome, QueryPurpose::Forwarded);
        let mut record = asking.record(outcome, purpose, sequence, Some(forwarded_for));
        record.connection_facts.previous_connection_end = asked.previous_end;
        // The reader is gone only when the stub is ending.
        let _ = self.records.send(Record::Query(Box::new(record)));
    }
}

fn question_of(query: &Message) -> Result<Question, ResponseCode> {
    if query.metadata.op_code != OpCode::Query {
        return Err(ResponseCode::NotImp);
    }
    if query.edns.as_ref().is_some_and(|edns| edns.version() > 0) {
        // RFC 6891 section 6.1.3.
        return Err(ResponseCode::BADVERS);
    }
    Question::of(query).ok_or(ResponseCode::FormErr)
}
