//! Gathers queries arriving within a few milliseconds of each other into one message. Not for:
//! asking the message, or waiting (its caller).

use crate::partial::QUESTIONS_MAX_COUNT;
use crate::query::PendingQuery;
use crate::question::Question;
use crate::transports::batch::{BatchedQuestion, QuestionOutcome};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedReceiver;

/// The message being gathered, if any.
#[derive(Default)]
pub(super) struct QueryGatherer {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    questions: Vec<BatchedQuestion>,
    time_origin_ns: u64,
    message: GatheredMessageFacts,
}

/// A query's position in a message.
pub(super) struct GatheredPosition {
    /// The channel for the question's outcomes.
    pub outcomes: UnboundedReceiver<QuestionOutcome>,
    /// True for the first query; its task makes the message leave.
    pub is_first: bool,
    /// The message containing the query.
    pub message: GatheredMessageFacts,
}

/// The facts of a message for the records.
#[derive(Clone, Default)]
pub(super) struct GatheredMessageFacts {
    pub sequence: u64,
    question_count: Arc<AtomicU16>,
}

impl GatheredMessageFacts {
    /// Returns the number of questions, once the message has left.
    pub fn question_count(&self) -> u16 {
        self.question_count.load(Ordering::Relaxed)
    }
}

/// A message leaving the gatherer.
pub(super) struct GatheredMessage {
    pub questions: Vec<BatchedQuestion>,
    /// The start of the first query, `CLOCK_MONOTONIC` in ns.
    pub time_origin_ns: u64,
}

impl QueryGatherer {
    /// Adds the query to the message. `None` when the message is full, or when the first query's
    /// flags and options differ from this query's (RFC 6891: one OPT record a message).
    pub fn join(&self, pending: &PendingQuery<'_>) -> Option<GatheredPosition> {
        let mut state = self.state();
        let is_first = state.questions.is_empty();
        if is_first {
            state.time_origin_ns = pending.time_origin_ns();
        } else if state.questions.len() == QUESTIONS_MAX_COUNT
            || !have_same_options(&state.questions[0].question, pending.question)
        {
            return None;
        }
        let (question, outcomes) = pending.batched_question();
        state.questions.push(question);
        Some(GatheredPosition {
            outcomes,
            is_first,
            message: state.message.clone(),
        })
    }

    /// Takes the message out; the next query begins another message.
    pub fn leave(&self) -> GatheredMessage {
        let mut state = self.state();
        let count = state.questions.len() as u16;
        let next = GatheredMessageFacts {
            sequence: state.message.sequence + 1,
            ..GatheredMessageFacts::default()
        };
        let left = std::mem::replace(&mut state.message, next);
        left.question_count.store(count, Ordering::Relaxed);
        GatheredMessage {
            questions: std::mem::take(&mut state.questions),
            time_origin_ns: state.time_origin_ns,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn have_same_options(first: &Question, other: &Question) -> bool {
    first.dnssec_ok == other.dnssec_ok
        && first.checking_disabled == other.checking_disabled
        && first.wants_authentic_data == other.wants_authentic_data
        && first.client_subnet == other.client_subnet
        && first.udp_payload_bytes == other.udp_payload_bytes
}
