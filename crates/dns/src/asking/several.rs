//! Asks several questions in one message and falls back to one by one where the resolver does not
//! know partial responses: by its answer, or by its silence. Not for: how the message travels.

use super::answer::Answer;
use super::attempt::Outcome;
use super::wanted::Asking;
use crate::client::DnsClient;
use crate::partial::Part;
use crate::question::Question;
use crate::transports::course::Course;
use crate::transports::session::Session;
use crate::upstream::{Asked, Task, Upstream};
use futures_util::future::join_all;
use resolab_record::{Failure, MessageFacts, QueryPurpose, QueryRecord};
use resolab_transport::client::MeasuredFailure;
use resolab_transport::clock::monotonic_ns;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// How long a resolver of which nobody knows whether it knows partial responses may be silent: some
/// drop what has several questions (docs/method/questions.md).
const SILENCE: Duration = Duration::from_secs(2);

/// What is known of a resolver.
#[derive(Debug, Default)]
pub(crate) struct PartialSupport(AtomicU8);

const UNKNOWN: u8 = 0;
const KNOWN: u8 = 1;
const NOT_KNOWN: u8 = 2;

impl PartialSupport {
    fn is(&self, what: u8) -> bool {
        self.0.load(Ordering::Relaxed) == what
    }

    fn set(&self, what: u8) {
        self.0.store(what, Ordering::Relaxed);
    }

    /// As at the start.
    pub(crate) fn forget(&self) {
        self.set(UNKNOWN);
    }
}

/// Questions that are asked in one message; its clock runs.
struct MessageAsking<'a> {
    client: &'a DnsClient,
    time_origin_ns: u64,
    course: Course<'a>,
}

impl Task for MessageAsking<'_> {
    type Done = ();

    fn time_origin_ns(&self) -> u64 {
        self.time_origin_ns
    }

    async fn run(&self, session: &Session) -> Result<(), MeasuredFailure> {
        let gathered = session.gather(&self.course);
        if self.client.partial_support.is(KNOWN) {
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

/// What a message brought of one question.
struct InMessage {
    asked: Asked,
    /// Of the partial response that answered it.
    response_index: Option<u32>,
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
        let goes_alone = position.one_by_one || questions.len() < 2;
        let mut asked = if goes_alone || self.client.partial_support.is(NOT_KNOWN) {
            Vec::new()
        } else {
            self.gather(&askings, time_origin_ns, deadline).await
        };
        asked.resize_with(questions.len(), || None);
        let elapsed = Duration::from_nanos(monotonic_ns() - time_origin_ns);
        let rest = deadline.saturating_sub(elapsed);
        let alone = self.ask_alone(&askings, &asked, rest).await;
        let asked = asked.into_iter().zip(alone).zip(&askings).enumerate();
        asked
            .filter_map(|(place, ((in_message, alone), asking))| {
                let is_alone = alone.is_some();
                let InMessage {
                    asked,
                    response_index,
                } = alone.map(InMessage::not_answered).or(in_message)?;
                let facts = MessageFacts {
                    message_sequence: Some(position.message_sequence),
                    message_question_count: Some(questions.len() as u16),
                    partial_response_index: response_index,
                    asked_alone: Some(is_alone),
                };
                let sequence = position.first_sequence + place as u64;
                let mut record =
                    asking.record(&asked.outcome, QueryPurpose::Measured, sequence, None);
                record.connection_facts.previous_connection_end = asked.previous_end;
                record.message_facts = facts;
                Some(record)
            })
            .collect()
    }

    /// What the message brought, with the place of its response; `None` for what is to be asked alone.
    async fn gather(
        &self,
        askings: &[Asking<'_>],
        time_origin_ns: u64,
        deadline: Duration,
    ) -> Vec<Option<InMessage>> {
        let questions = askings.iter().map(|asking| asking.question.clone());
        let logs = askings.iter().map(|asking| &asking.exchange);
        let task = MessageAsking {
            client: &self.client,
            time_origin_ns,
            course: Course::of(questions.collect(), logs.collect()),
        };
        let asked = self.ask_by(&task, deadline).await;
        let has_begun = task.course.has_begun();
        self.learn(&asked, has_begun);
        let parts = task.course.into_parts();
        let gathered = askings.iter().zip(parts).enumerate();
        gathered
            .map(|(place, (asking, part))| {
                let is_first = place == 0;
                match part {
                    Some(part) => part_asked(&asked, asking, part, is_first),
                    // The resolver knows what it was asked, and this is what came of it.
                    None if has_begun || !was_refused(&asked) => Some(failed(&asked, is_first)),
                    None => None,
                }
            })
            .collect()
    }

    fn learn(&self, asked: &Asked<()>, has_begun: bool) {
        if has_begun {
            self.client.partial_support.set(KNOWN);
        } else if was_refused(asked) {
            self.client.partial_support.set(NOT_KNOWN);
        }
    }

    async fn ask_alone(
        &self,
        askings: &[Asking<'_>],
        asked: &[Option<InMessage>],
        deadline: Duration,
    ) -> Vec<Option<Asked>> {
        let alone = askings.iter().zip(asked).map(|(asking, asked)| async move {
            match asked {
                Some(_) => None,
                None => Some(self.ask(asking, deadline).await),
            }
        });
        join_all(alone).await
    }
}

/// The answers of a part; `None` if it is to be had over TCP alone.
fn part_asked(
    asked: &Asked<()>,
    asking: &Asking<'_>,
    part: Part,
    is_first: bool,
) -> Option<InMessage> {
    if part.response.truncated && asking.client.is_connectionless() {
        asking.exchange.query_exchange.resume();
        asking.exchange.go_on_by_tcp();
        return None;
    }
    Some(InMessage {
        response_index: Some(part.response_index),
        asked: of_one(asked, asking.answer_of(part), is_first),
    })
}

fn failed(asked: &Asked<()>, is_first: bool) -> InMessage {
    let failure = asked.outcome.result.as_ref().err().cloned();
    let failure = failure.unwrap_or_else(crate::transports::course::incomplete);
    InMessage::not_answered(of_one(asked, Err(failure), is_first))
}

impl InMessage {
    fn not_answered(asked: Asked) -> Self {
        Self {
            asked,
            response_index: None,
        }
    }
}

/// The set-up of a connection that was opened for a message is the first question's.
fn of_one(asked: &Asked<()>, result: Result<Answer, MeasuredFailure>, is_first: bool) -> Asked {
    let mut outcome: Outcome = asked.outcome.with(result);
    outcome.is_opener &= is_first;
    Asked {
        outcome,
        previous_end: asked.previous_end.filter(|_| is_first),
    }
}

/// Whether the message was sent and refused, in whatever way: an error code, an HTTP status, the end of
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
