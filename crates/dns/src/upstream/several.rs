//! Asks several questions in one message, and falls back to one by one where the resolver does not
//! know partial responses: by its answer, or by its silence. Not for: how the message travels.

use super::task::Task;
use super::{Asked, Upstream};
use crate::asking::{Answer, Asking, Outcome};
use crate::client::DnsClient;
use crate::question::Question;
use crate::standing::Standing;
use crate::transports::course::{Course, Seat, Told, incomplete};
use crate::transports::session::Session;
use futures_util::future::{join, join_all};
use resolab_record::{Failure, MessageFacts, QueryPurpose, QueryRecord};
use resolab_transport::client::MeasuredFailure;
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long a resolver of which nobody knows whether it knows partial responses may be silent: some
/// drop what has several questions (docs/method/questions.md).
const SILENCE: Duration = Duration::from_secs(2);

/// Questions that are asked in one message; its clock runs.
struct MessageAsking<'a> {
    client: &'a DnsClient,
    time_origin_ns: u64,
    course: Course,
}

impl Task for MessageAsking<'_> {
    type Done = ();

    fn time_origin_ns(&self) -> u64 {
        self.time_origin_ns
    }

    async fn run(&self, session: &Session, standing: &Standing) -> Result<(), MeasuredFailure> {
        self.course.begin_on(standing);
        let gathered = session.gather(&self.course);
        if self.client.partial_support.is_known() {
            return gathered.await;
        }
        let silence = async {
            tokio::time::sleep(SILENCE).await;
            if self.course.has_begun() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            result = gathered => result,
            () = silence => Err(MeasuredFailure::new(
                Failure::QueryTimeout,
                "a message with several questions is not answered",
            )),
        }
    }

    fn may_begin_anew(&self) -> bool {
        !self.course.has_begun()
    }

    fn begin_anew(&self) {
        for log in self.course.logs() {
            log.begin_anew();
        }
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
        if seats.len() < 2 || self.client.partial_support.is_refused() {
            return;
        }
        let task = MessageAsking {
            client: &self.client,
            time_origin_ns,
            course: Course::of(seats),
        };
        let asked = self.ask_by(&task, deadline).await;
        // Whoever gave partial responses once does not refuse: what fails then fails.
        let is_known = task.course.has_begun() || self.client.partial_support.is_known();
        let was_sent = task.course.logs().any(|log| log.attempt_count() > 0);
        let is_refused = !is_known && was_sent && was_refused(&asked);
        if is_known || is_refused {
            self.client.partial_support.learn(is_known);
        }
        let failure = asked.outcome.result.as_ref().err().cloned();
        let failure = failure.unwrap_or_else(incomplete);
        let told = (!is_refused).then_some(&failure);
        task.course.end(told, &asked.standing());
    }

    /// What becomes of a question that has a seat in a message.
    pub(crate) async fn ask_in_message(
        &self,
        asking: &Asking<'_>,
        told: oneshot::Receiver<Told>,
        deadline: Duration,
    ) -> AskedInMessage {
        match told.await {
            Ok(Told::Answered(part, _)) if part.response.truncated && asking.may_go_by_tcp() => {
                asking.exchange.query_exchange.resume();
                asking.exchange.go_on_by_tcp();
            }
            Ok(Told::Answered(part, standing)) => {
                let response_index = Some(part.response_index);
                let asked = Asked::on(&standing, asking.answer_of(*part));
                return AskedInMessage::told(asked, response_index);
            }
            Ok(Told::Failed(failure, standing)) => {
                return AskedInMessage::told(Asked::on(&standing, Err(failure)), None);
            }
            Ok(Told::Alone) | Err(_) => (),
        }
        AskedInMessage {
            asked: self.ask(asking, asking.left_of(deadline)).await,
            response_index: None,
            is_alone: true,
        }
    }
}

impl AskedInMessage {
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

/// Whether a message was sent and refused, in whatever way: an error code, an HTTP status, the end of
/// the connection, silence.
fn was_refused(asked: &Asked<()>) -> bool {
    let Err(failure) = &asked.outcome.result else {
        return false;
    };
    matches!(
        failure.failure,
        Failure::QueryMalformed
            | Failure::QueryTimeout
            | Failure::QueryConnectionClosed
            | Failure::HttpStatus
            | Failure::HttpProtocol
            // In early data, of which the end of the connection is a broken handshake's.
            | Failure::QuicHandshakeFailed
            | Failure::TlsHandshakeFailed
    )
}

impl Asking<'_> {
    /// A place in a message, and where its asker is told.
    pub(crate) fn seat(&self) -> (Seat, oneshot::Receiver<Told>) {
        let (waiting, told) = oneshot::channel();
        let seat = Seat {
            question: self.question.clone(),
            log: Arc::clone(&self.exchange),
            waiting,
        };
        (seat, told)
    }

    fn may_go_by_tcp(&self) -> bool {
        self.client.is_connectionless()
    }
}
