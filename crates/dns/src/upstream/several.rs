//! Asks several questions in one message, and falls back to single queries when the resolver does
//! not support partial responses. Not for: the message's transport.

use super::task::ConnectionTask;
use super::{Upstream, UpstreamOutcome};
use crate::client::PartialSupport;
use crate::connection_use::ConnectionUse;
use crate::partial::QuestionAnswer;
use crate::query::{PendingQuery, QueryAnswer, QueryOutcome};
use crate::question::Question;
use crate::transports::batch::{BatchedQuestion, QueryBatch, QuestionOutcome, incomplete_failure};
use crate::transports::session::Session;
use futures_util::future::{join, join_all};
use resolab_record::{Failure, MessageFacts, QueryPurpose, QueryRecord};
use resolab_transport::client::MeasuredFailure;
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The time a resolver with unknown support for partial responses may be silent on a connection
/// before its questions are also asked alone. Some resolvers drop messages with several questions
/// (docs/method/questions.md). Over DoUDP a datagram may be lost, so there the retry policy alone
/// decides.
const SILENCE: Duration = Duration::from_secs(2);

/// Questions to ask in one message; the message's clock runs.
struct PendingMessage {
    support: Arc<PartialSupport>,
    is_connectionless: bool,
    time_origin_ns: u64,
    batch: QueryBatch,
}

impl ConnectionTask for PendingMessage {
    type Output = ();

    fn time_origin_ns(&self) -> u64 {
        self.time_origin_ns
    }

    async fn run(
        &self,
        session: &Session,
        connection_use: &ConnectionUse,
    ) -> Result<(), MeasuredFailure> {
        self.batch.begin_on(connection_use);
        let gathered = session.gather(&self.batch);
        if self.support.is_known() || self.is_connectionless {
            return gathered.await;
        }
        let silence = async {
            tokio::time::sleep(SILENCE).await;
            if self.batch.has_begun() {
                std::future::pending::<()>().await;
            }
            self.batch.request_single_queries();
            self.batch.wait_until_unwanted().await;
        };
        tokio::select! {
            biased;
            result = gathered => result,
            () = silence => Ok(()),
        }
    }

    fn restart(&self) {
        self.batch.restart();
    }

    /// Returns false: a resolver without support may have lost count. knot-resolver 5.6 then sends
    /// the next answers on this connection late, and on each other's streams.
    fn outlives_http_status(&self) -> bool {
        false
    }
}

/// The options shared by all questions of one message.
#[derive(Debug, Clone, Copy)]
pub struct MessagePosition {
    /// The sequence number of the first question among the run's queries; the other questions
    /// follow.
    pub first_sequence: u64,
    /// The sequence number of the message.
    pub message_sequence: u64,
    /// True to ask each question alone, all at the same time, as the baseline for messages.
    pub one_by_one: bool,
}

/// The outcome of a question intended for a shared message.
pub(crate) struct MessageQuestionOutcome {
    pub asked: UpstreamOutcome,
    /// The index of the partial response with the answer.
    pub response_index: Option<u32>,
    /// True when the question was asked alone after all.
    pub is_alone: bool,
}

impl Upstream {
    /// Asks questions in one message, then asks unanswered questions alone, all within the
    /// deadline. Returns a record of each question, in order. A single question is an ordinary
    /// query.
    pub async fn ask_several(
        &self,
        questions: &[Question],
        position: MessagePosition,
        deadline: Duration,
    ) -> Vec<QueryRecord> {
        let time_origin_ns = monotonic_ns();
        let begin = |question| PendingQuery::begin_at(time_origin_ns, &self.client, question);
        let pending_queries: Vec<_> = questions.iter().map(begin).collect();
        let (batched, outcomes): (Vec<_>, Vec<_>) = pending_queries
            .iter()
            .map(PendingQuery::batched_question)
            .unzip();
        let each = pending_queries
            .iter()
            .zip(outcomes)
            .map(|(pending, outcomes)| self.ask_in_message(pending, outcomes, deadline));
        let asked = if position.one_by_one {
            // Nobody is to tell them anything.
            drop(batched);
            join_all(each).await
        } else {
            let message = self.ask_message(batched, time_origin_ns, deadline);
            join(join_all(each), message).await.0
        };
        let question_count = questions.len() as u16;
        let asked = asked.iter().zip(&pending_queries);
        (position.first_sequence..)
            .zip(asked)
            .map(|(sequence, (in_message, pending))| {
                let UpstreamOutcome {
                    outcome,
                    previous_end,
                } = &in_message.asked;
                let mut record = pending.record(outcome, QueryPurpose::Measured, sequence, None);
                record.limit_ns = Some(deadline.as_nanos() as u64);
                record.connection_facts.previous_connection_end = *previous_end;
                record.message_facts = in_message.facts(position.message_sequence, question_count);
                record
            })
            .collect()
    }

    /// Asks the questions in one message, and sends the outcomes to the askers. The askers query
    /// alone when there is no second question, or when the resolver refuses partial responses.
    pub(crate) async fn ask_message(
        &self,
        batched: Vec<BatchedQuestion>,
        time_origin_ns: u64,
        deadline: Duration,
    ) {
        let support = self.client.partial_support();
        if batched.len() < 2 || support.is_refused() {
            return;
        }
        let task = PendingMessage {
            support: Arc::clone(&support),
            is_connectionless: self.client.is_connectionless(),
            time_origin_ns,
            batch: QueryBatch::new(batched),
        };
        let begun = Instant::now();
        let asked = self.run_task(&task, deadline).await;
        // Whoever gave partial responses once does not refuse: what fails then fails.
        let is_known = task.batch.has_begun() || support.is_known();
        let was_sent = task.batch.logs().any(|log| log.attempt_count() > 0);
        let failure = asked.outcome.result.as_ref().err().cloned();
        let failure = failure.unwrap_or_else(incomplete_failure);
        let refusal =
            PartialResponseRefusal::from_failure(&failure).filter(|_| !is_known && was_sent);
        let is_refused_for_good =
            refusal == Some(PartialResponseRefusal::OtherAnswer) || self.has_closed_twice(refusal);
        if is_known || is_refused_for_good {
            support.learn(is_known);
        }
        let may_go_alone = refusal.is_some() && begun.elapsed() < deadline;
        let final_failure = (!may_go_alone).then_some(&failure);
        task.batch.end(final_failure, &asked.connection_use());
    }

    /// Returns true when the connection ended under the message twice. A resolver may restart once
    /// during the first message, but not twice. With shared connections the message was already
    /// repeated on another connection.
    fn has_closed_twice(&self, refusal: Option<PartialResponseRefusal>) -> bool {
        let is_asked_again = self.shares_connections() && !self.policy.takes_first_end;
        refusal == Some(PartialResponseRefusal::Closed) && is_asked_again
    }

    /// Returns the outcome of a question in a message; asks alone when needed.
    pub(crate) async fn ask_in_message(
        &self,
        pending: &PendingQuery<'_>,
        mut outcomes: UnboundedReceiver<QuestionOutcome>,
        deadline: Duration,
    ) -> MessageQuestionOutcome {
        match outcomes.recv().await {
            Some(QuestionOutcome::Answered(part, _)) if part.response.truncated => {
                pending.exchange.query_exchange.resume();
                if self.client.is_connectionless() {
                    pending.exchange.switch_to_tcp();
                }
            }
            Some(QuestionOutcome::Answered(part, connection_use)) => {
                return MessageQuestionOutcome::from_answer(pending, *part, &connection_use);
            }
            Some(QuestionOutcome::Failed(failure, connection_use)) => {
                return MessageQuestionOutcome::from_outcome(
                    UpstreamOutcome::from_result(&connection_use, Err(failure)),
                    None,
                );
            }
            Some(QuestionOutcome::AloneMeanwhile) => {
                return self.ask_alone_meanwhile(pending, outcomes, deadline).await;
            }
            Some(QuestionOutcome::Alone) | None => (),
        }
        self.ask_alone(pending, deadline).await
    }

    /// Asks alone while the message is still without a response, and takes the first answer.
    async fn ask_alone_meanwhile(
        &self,
        pending: &PendingQuery<'_>,
        mut outcomes: UnboundedReceiver<QuestionOutcome>,
        deadline: Duration,
    ) -> MessageQuestionOutcome {
        let support = self.client.partial_support();
        let in_message = async {
            while let Some(outcome) = outcomes.recv().await {
                if let QuestionOutcome::Answered(part, connection_use) = outcome
                    && !part.response.truncated
                {
                    return (part, connection_use);
                }
            }
            std::future::pending().await
        };
        tokio::select! {
            biased;
            (part, connection_use) = in_message => MessageQuestionOutcome::from_answer(pending, *part, &connection_use),
            alone = self.ask_alone(pending, deadline) => {
                // On the same connection, where nothing is lost and the message was there before.
                let is_passed_over = alone.asked.outcome.result.is_ok() && self.shares_connections();
                if is_passed_over && !support.is_known() {
                    support.learn(false);
                }
                alone
            }
        }
    }

    async fn ask_alone(
        &self,
        pending: &PendingQuery<'_>,
        deadline: Duration,
    ) -> MessageQuestionOutcome {
        MessageQuestionOutcome {
            asked: self.ask(pending, pending.remaining_time(deadline)).await,
            response_index: None,
            is_alone: true,
        }
    }
}

impl MessageQuestionOutcome {
    fn from_answer(
        pending: &PendingQuery<'_>,
        part: QuestionAnswer,
        connection_use: &ConnectionUse,
    ) -> Self {
        let response_index = Some(part.response_index);
        Self::from_outcome(
            UpstreamOutcome::from_result(connection_use, pending.accept_answer(part)),
            response_index,
        )
    }

    fn from_outcome(asked: UpstreamOutcome, response_index: Option<u32>) -> Self {
        Self {
            asked,
            response_index,
            is_alone: false,
        }
    }

    /// Returns the message's facts for the question's record.
    pub(crate) fn facts(&self, message_sequence: u64, question_count: u16) -> MessageFacts {
        MessageFacts {
            message_sequence: Some(message_sequence),
            message_question_count: Some(question_count),
            partial_response_index: self.response_index,
            asked_alone: Some(self.is_alone),
        }
    }
}

impl UpstreamOutcome {
    fn from_result(
        connection_use: &ConnectionUse,
        result: Result<QueryAnswer, MeasuredFailure>,
    ) -> Self {
        Self {
            outcome: QueryOutcome::from_result(connection_use, result),
            previous_end: connection_use.previous_end,
        }
    }
}

/// The reason for asking a message's questions alone, when the resolver's support for partial
/// responses is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartialResponseRefusal {
    /// The resolver answered in another way.
    OtherAnswer,
    /// The resolver ended the connection, perhaps for another reason.
    Closed,
    /// The connection ended in its handshake, with the message as early data.
    Broken,
    /// No response came within all tries of DoUDP's retry policy: the message may have been lost.
    Silent,
}

impl PartialResponseRefusal {
    fn from_failure(failure: &MeasuredFailure) -> Option<Self> {
        let is = |classes: &[Failure]| classes.contains(&failure.failure);
        if is(&[
            Failure::QueryMalformed,
            Failure::HttpStatus,
            Failure::HttpProtocol,
        ]) {
            Some(Self::OtherAnswer)
        } else if is(&[Failure::QueryConnectionClosed]) {
            Some(Self::Closed)
        } else if is(&[Failure::QuicHandshakeFailed, Failure::TlsHandshakeFailed]) {
            Some(Self::Broken)
        } else {
            is(&[Failure::QueryTimeout]).then_some(Self::Silent)
        }
    }
}

impl PendingQuery<'_> {
    /// Makes the query's entry for a message, and the channel for its outcomes.
    pub(crate) fn batched_question(&self) -> (BatchedQuestion, UnboundedReceiver<QuestionOutcome>) {
        let (waiting, outcomes) = unbounded_channel();
        let question = BatchedQuestion {
            question: self.question.clone(),
            log: Arc::clone(&self.exchange),
            waiting,
        };
        (question, outcomes)
    }
}
