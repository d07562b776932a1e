//! Gathers queries arriving within a few milliseconds of each other into one message. Not for:
//! asking the message, or waiting (its caller).

use crate::asking::Asking;
use crate::partial::QUESTIONS_MAX_COUNT;
use crate::question::Question;
use crate::transports::course::{Seat, Told};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedReceiver;

/// The message being gathered, if any.
#[derive(Default)]
pub(super) struct Gatherer {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    seats: Vec<Seat>,
    time_origin_ns: u64,
    message: Message,
}

/// A query's position in a message.
pub(super) struct Place {
    /// The channel for the question's outcomes.
    pub told: UnboundedReceiver<Told>,
    /// True for the first query; its task makes the message leave.
    pub is_first: bool,
    /// The message containing the query.
    pub message: Message,
}

/// The facts of a message for the records.
#[derive(Clone, Default)]
pub(super) struct Message {
    pub sequence: u64,
    question_count: Arc<AtomicU16>,
}

impl Message {
    /// Returns the number of questions, once the message has left.
    pub fn question_count(&self) -> u16 {
        self.question_count.load(Ordering::Relaxed)
    }
}

/// A message leaving the gatherer.
pub(super) struct Gathered {
    pub seats: Vec<Seat>,
    /// The start of the first query, `CLOCK_MONOTONIC` in ns.
    pub time_origin_ns: u64,
}

impl Gatherer {
    /// Adds the query to the message. `None` when the message is full, or when the first query's
    /// flags and options differ from this query's (RFC 6891: one OPT record a message).
    pub fn join(&self, asking: &Asking<'_>) -> Option<Place> {
        let mut state = self.state();
        let is_first = state.seats.is_empty();
        if is_first {
            state.time_origin_ns = asking.time_origin_ns();
        } else if state.seats.len() == QUESTIONS_MAX_COUNT
            || !says_the_same(&state.seats[0].question, asking.question)
        {
            return None;
        }
        let (seat, told) = asking.seat();
        state.seats.push(seat);
        Some(Place {
            told,
            is_first,
            message: state.message.clone(),
        })
    }

    /// Takes the message out; the next query begins another message.
    pub fn leave(&self) -> Gathered {
        let mut state = self.state();
        let count = state.seats.len() as u16;
        let next = Message {
            sequence: state.message.sequence + 1,
            ..Message::default()
        };
        let left = std::mem::replace(&mut state.message, next);
        left.question_count.store(count, Ordering::Relaxed);
        Gathered {
            seats: std::mem::take(&mut state.seats),
            time_origin_ns: state.time_origin_ns,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn says_the_same(first: &Question, other: &Question) -> bool {
    first.dnssec_ok == other.dnssec_ok
        && first.checking_disabled == other.checking_disabled
        && first.wants_authentic_data == other.wants_authentic_data
        && first.client_subnet == other.client_subnet
        && first.udp_payload_bytes == other.udp_payload_bytes
}
