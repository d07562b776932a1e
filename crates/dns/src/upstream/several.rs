//! Asks several questions in one message, and falls back to single queries when the resolver does
//! not support partial responses. Not for: the message's transport.

use super::task::Task;
use super::{Asked, Upstream};
use crate::asking::{Answer, Asking, Outcome};
use crate::client::PartialSupport;
use crate::partial::Part;
use crate::question::Question;
use crate::standing::Standing;
use crate::transports::course::{Course, Seat, Told, incomplete};
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
struct MessageAsking {
    support: Arc<PartialSupport>,
    is_connectionless: bool,
    time_origin_ns: u64,
    course: Course,
}

impl Task for MessageAsking {
    type Done = ();

    fn time_origin_ns(&self) -> u64 {
        self.time_origin_ns
    }

    async fn run(&self, session: &Session, standing: &Standing) -> Result<(), MeasuredFailure> {
        self.course.begin_on(standing);
        let gathered = session.gather(&self.course);
        if self.support.is_known() || self.is_connectionless {
            return gathered.await;
        }
        let silence = async {
            tokio::time::sleep(SILENCE).await;
            if self.course.has_begun() {
                std::future::pending::<()>().await;
            }
            self.course.have_asked_alone_too();
            self.course.unwanted().await;
        };
        tokio::select! {
            biased;
            result = gathered => result,
            () = silence => Ok(()),
        }
    }

    fn begin_anew(&self) {
        self.course.begin_anew();
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
pub(crate) struct AskedInMessage {
    pub asked: Asked,
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
        let begin = |question| Asking::begun_at(time_origin_ns, &self.client, question);
        let askings: Vec<_> = questions.iter().map(begin).collect();
        let (seats, told): (Vec<_>, Vec<_>) = askings.iter().map(Asking::seat).unzip();
        let each = askings
            .iter()
            .zip(told)
            .map(|(asking, told)| self.ask_in_message(asking, told, deadline));
        let asked = if position.one_by_one {
            // Nobody is to tell them anything.
            drop(seats);
            join_all(each).await
        } else {
            let message = self.ask_message(seats, time_origin_ns, deadline);
            join(join_all(each), message).await.0
        };
        let question_count = questions.len() as u16;
        let asked = asked.iter().zip(&askings);
        (position.first_sequence..)
            .zip(asked)
            .map(|(sequence, (in_message, asking))| {
                let Asked {
                    outcome,
                    previous_end,
                } = &in_message.asked;
                let mut record = asking.record(outcome, QueryPurpose::Measured, sequence, None);
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
        seats: Vec<Seat>,
        time_origin_ns: u64,
        deadline: Duration,
    ) {
        let support = self.client.partial_support();
        if seats.len() < 2 || support.is_refused() {
            return;
        }
        let task = MessageAsking {
            support: Arc::clone(&support),
            is_connectionless: self.client.is_connectionless(),
            time_origin_ns,
            course: Course::of(seats),
        };
        let begun = Instant::now();
        let asked = self.ask_by(&task, deadline).await;
        // Whoever gave partial responses once does not refuse: what fails then fails.
        let is_known = task.course.has_begun() || support.is_known();
        let was_sent = task.course.logs().any(|log| log.attempt_count() > 0);
        let failure = asked.outcome.result.as_ref().err().cloned();
        let failure = failure.unwrap_or_else(incomplete);
        let refusal = Refusal::of(&failure).filter(|_| !is_known && was_sent);
        let is_told = refusal == Some(Refusal::Said) || self.is_end_twice_over(refusal);
        if is_known || is_told {
            support.learn(is_known);
        }
        let may_go_alone = refusal.is_some() && begun.elapsed() < deadline;
        let told = (!may_go_alone).then_some(&failure);
        task.course.end(told, &asked.standing());
    }

    /// Returns true when the connection ended under the message twice. A resolver may restart once
    /// during the first message, but not twice. With shared connections the message was already
    /// repeated on another connection.
    fn is_end_twice_over(&self, refusal: Option<Refusal>) -> bool {
        let is_asked_again = self.shares_connections() && !self.policy.takes_first_end;
        refusal == Some(Refusal::Closed) && is_asked_again
    }

    /// Returns the outcome of a question in a message; asks alone when needed.
    pub(crate) async fn ask_in_message(
        &self,
        asking: &Asking<'_>,
        mut told: UnboundedReceiver<Told>,
        deadline: Duration,
    ) -> AskedInMessage {
        match told.recv().await {
            Some(Told::Answered(part, _)) if part.response.truncated => {
                asking.exchange.query_exchange.resume();
                if self.client.is_connectionless() {
                    asking.exchange.go_on_by_tcp();
                }
            }
            Some(Told::Answered(part, standing)) => {
                return AskedInMessage::answered(asking, *part, &standing);
            }
            Some(Told::Failed(failure, standing)) => {
                return AskedInMessage::told(Asked::on(&standing, Err(failure)), None);
            }
            Some(Told::AloneToo) => return self.ask_beside(asking, told, deadline).await,
            Some(Told::Alone) | None => (),
        }
        self.ask_alone(asking, deadline).await
    }

    /// Asks alone while the message is still without a response, and takes the first answer.
    async fn ask_beside(
        &self,
        asking: &Asking<'_>,
        mut told: UnboundedReceiver<Told>,
        deadline: Duration,
    ) -> AskedInMessage {
        let support = self.client.partial_support();
        let in_message = async {
            while let Some(told) = told.recv().await {
                if let Told::Answered(part, standing) = told
                    && !part.response.truncated
                {
                    return (part, standing);
                }
            }
            std::future::pending().await
        };
        tokio::select! {
            biased;
            (part, standing) = in_message => AskedInMessage::answered(asking, *part, &standing),
            alone = self.ask_alone(asking, deadline) => {
                // On the same connection, where nothing is lost and the message was there before.
                let is_passed_over = alone.asked.outcome.result.is_ok() && self.shares_connections();
                if is_passed_over && !support.is_known() {
                    support.learn(false);
                }
                alone
            }
        }
    }

    async fn ask_alone(&self, asking: &Asking<'_>, deadline: Duration) -> AskedInMessage {
        AskedInMessage {
            asked: self.ask(asking, asking.left_of(deadline)).await,
            response_index: None,
            is_alone: true,
        }
    }
}

impl AskedInMessage {
    fn answered(asking: &Asking<'_>, part: Part, standing: &Standing) -> Self {
        let response_index = Some(part.response_index);
        Self::told(Asked::on(standing, asking.answer_of(part)), response_index)
    }

    fn told(asked: Asked, response_index: Option<u32>) -> Self {
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

impl Asked {
    fn on(standing: &Standing, result: Result<Answer, MeasuredFailure>) -> Self {
        Self {
            outcome: Outcome::on(standing, result),
            previous_end: standing.previous_end,
        }
    }
}

/// The reason for asking a message's questions alone, when the resolver's support for partial
/// responses is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// The resolver answered in another way.
    Said,
    /// The resolver ended the connection, perhaps for another reason.
    Closed,
    /// The connection ended in its handshake, with the message as early data.
    Broken,
    /// No response came within all tries of DoUDP's retry policy: the message may have been lost.
    Silent,
}

impl Refusal {
    fn of(failure: &MeasuredFailure) -> Option<Self> {
        let is = |classes: &[Failure]| classes.contains(&failure.failure);
        if is(&[
            Failure::QueryMalformed,
            Failure::HttpStatus,
            Failure::HttpProtocol,
        ]) {
            Some(Self::Said)
        } else if is(&[Failure::QueryConnectionClosed]) {
            Some(Self::Closed)
        } else if is(&[Failure::QuicHandshakeFailed, Failure::TlsHandshakeFailed]) {
            Some(Self::Broken)
        } else {
            is(&[Failure::QueryTimeout]).then_some(Self::Silent)
        }
    }
}

impl Asking<'_> {
    /// Makes the query's entry for a message, and the channel for its outcomes.
    pub(crate) fn seat(&self) -> (Seat, UnboundedReceiver<Told>) {
        let (waiting, told) = unbounded_channel();
        let seat = Seat {
            question: self.question.clone(),
            log: Arc::clone(&self.exchange),
            waiting,
        };
        (seat, told)
    }
}
