//! Asks several questions in one message, and falls back to one by one where the resolver does not
//! know partial responses. Not for: how the message travels.

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

/// How long a resolver of which nobody knows whether it knows partial responses may be silent on a
/// connection before its questions are asked alone, too: some drop what has several questions
/// (docs/method/questions.md). Over DoUDP, where it may be the loss of a datagram, the retry policy alone
/// says when anything is sent again.
const SILENCE: Duration = Duration::from_secs(2);

/// Questions that are asked in one message; its clock runs.
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

    /// Whoever does not know such messages may have lost count: knot-resolver 5.6 gives the next
    /// answers on this connection late, and on each other's streams.
    fn outlives_http_status(&self) -> bool {
        false
    }
}

/// What is the same for all questions of one message.
#[derive(Debug, Clone, Copy)]
pub struct MessagePosition {
    /// Of the first question among the run's queries; the others follow.
    pub first_sequence: u64,
    /// Of the message.
    pub message_sequence: u64,
    /// Ask each question alone all the same, all at one time: what a message is held against.
    pub one_by_one: bool,
}

/// What became of a question that was to share a message.
pub(crate) struct AskedInMessage {
    pub asked: Asked,
    /// Of the partial response that answered it.
    pub response_index: Option<u32>,
    /// Whether it went alone after all.
    pub is_alone: bool,
}

impl Upstream {
    /// Ask questions in one message, and those it does not answer one by one, all within the deadline:
    /// a record of each, in their order. One question alone is a query like any other.
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

    /// Ask what has a seat in one message, and tell those who wait; without a second question, or where
    /// such messages are refused, to ask alone.
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

    /// A resolver may restart while the first message is under way, but not twice: on a connection that
    /// is shared the message was asked again on another.
    fn is_end_twice_over(&self, refusal: Option<Refusal>) -> bool {
        let is_asked_again = self.shares_connections() && !self.policy.takes_first_end;
        refusal == Some(Refusal::Closed) && is_asked_again
    }

    /// What becomes of a question that has a seat in a message.
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

    /// Nothing came of the message yet: ask alone, too, and take what comes first.
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

    /// For its record.
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

/// Why the questions of a message may be asked alone, where nobody knows whether the resolver knows
/// partial responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// It answered something else.
    Said,
    /// It ended the connection, perhaps for another reason.
    Closed,
    /// The connection ended in its handshake, whose early data the message was.
    Broken,
    /// Nothing came in all the tries that the retry policy of DoUDP has: the message may have been lost.
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
    /// A place in a message, and where its asker is told.
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
