//! One message with several questions (a batched query), shared by its transport and the waiting
//! askers. The transport delivers responses; each asker waits for the answer to one question.
//! Not for: sending and receiving the message.

use crate::cookie::SentCookie;
use crate::edns::{ClientEdns, QueryEdns};
use crate::exchange::ExchangeLog;
use crate::message::{EncodeError, build_message};
use crate::partial::{Gathering, NoPart, Part};
use crate::question::Question;
use crate::sent_edns::SentEdns;
use crate::standing::Standing;
use resolab_record::Failure;
use resolab_transport::client::MeasuredFailure;
use resolab_transport::clock::monotonic_ns;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedSender;

/// The outcome of one question of a message.
pub(crate) enum Told {
    /// An answer received on this connection.
    Answered(Box<Part>, Standing),
    /// The failure of the message, final for this question.
    Failed(MeasuredFailure, Standing),
    /// No answer: the asker must ask the question alone.
    Alone,
    /// No answer yet: the asker must ask the question alone, while this message may still be
    /// answered.
    AloneToo,
}

/// A question in a batched message, with its asker.
pub(crate) struct Seat {
    /// The question to ask.
    pub question: Question,
    /// The log of the question's exchange.
    pub log: Arc<ExchangeLog>,
    /// The asker's channel for outcomes.
    pub waiting: UnboundedSender<Told>,
}

/// One message: its answers known so far, and the askers still waiting.
pub(crate) struct Course {
    logs: Vec<Arc<ExchangeLog>>,
    state: Mutex<State>,
}

struct State {
    gathering: Gathering,
    /// The askers, removed after their final outcome.
    waiting: Vec<Option<UnboundedSender<Told>>>,
    standing: Standing,
}

impl Course {
    /// Makes a message from its questions, not yet sent.
    pub fn of(seats: Vec<Seat>) -> Self {
        let mut logs = Vec::with_capacity(seats.len());
        let mut questions = Vec::with_capacity(seats.len());
        let mut waiting = Vec::with_capacity(seats.len());
        for seat in seats {
            logs.push(seat.log);
            questions.push(seat.question);
            waiting.push(Some(seat.waiting));
        }
        let state = State {
            gathering: Gathering::of(questions),
            waiting,
            standing: Standing::default(),
        };
        Self {
            logs,
            state: Mutex::new(state),
        }
    }

    /// Returns the logs, one for each question.
    pub fn logs(&self) -> impl Iterator<Item = &ExchangeLog> {
        self.logs.iter().map(|log| &**log)
    }

    /// Keeps the facts of the message's connection.
    pub fn begin_on(&self, standing: &Standing) {
        self.state().standing = standing.clone();
    }

    /// Returns the message's EDNS contents, and writes them to each log.
    pub fn edns(&self, client: &Arc<ClientEdns>, cookie: Option<SentCookie>) -> QueryEdns {
        let state = self.state();
        let edns = client.of_message(state.gathering.questions().first(), cookie);
        for log in self.logs() {
            log.set_sent_edns(SentEdns::of(&edns, client));
        }
        edns.taking_parts()
    }

    /// Builds the message with the questions still missing an answer.
    pub fn message(&self, id: u16, edns: &QueryEdns) -> Result<Vec<u8>, EncodeError> {
        let gathering = &self.state().gathering;
        let missing = gathering.missing();
        let questions: Vec<_> = missing
            .iter()
            .map(|place| gathering.questions()[*place].clone())
            .collect();
        build_message(&questions, id, edns)
    }

    /// Counts an attempt, just before the message is handed to the connection.
    pub fn attempt(&self, message: &[u8]) {
        for place in self.state().gathering.missing() {
            self.logs[place].attempt(message);
        }
    }

    /// Restarts the missing questions' exchanges after the message's connection has ended.
    pub fn begin_anew(&self) {
        for place in self.state().gathering.missing() {
            self.logs[place].begin_anew();
        }
    }

    /// Counts an attempt made by a layer below.
    pub fn add_attempt(&self) {
        for place in self.state().gathering.missing() {
            self.logs[place].add_attempts(1);
        }
    }

    /// Takes a response for `id`, and sends its answers to the askers. Returns true when all
    /// answers are here.
    pub fn take(&self, id: u16, message: &[u8]) -> Result<bool, NoPart> {
        let now_ns = monotonic_ns();
        let mut state = self.state();
        for (place, part) in state.gathering.take(id, message, now_ns)? {
            self.logs[place].query_exchange.finish_at(now_ns);
            let standing = state.standing.of_place(place);
            state.tell(place, Told::Answered(Box::new(part), standing));
        }
        Ok(state.gathering.is_complete())
    }

    /// Takes a response on an authenticated connection, where no third party could have sent it.
    /// Errors when the response is no partial response.
    pub fn take_expected(&self, id: u16, message: &[u8]) -> Result<bool, MeasuredFailure> {
        self.take(id, message)
            .map_err(|error| MeasuredFailure::new(Failure::QueryMalformed, error))
    }

    /// Ends the message: sends the remaining askers the failure, or asks them to query alone.
    pub fn end(&self, failure: Option<&MeasuredFailure>, standing: &Standing) {
        let mut state = self.state();
        for place in state.gathering.missing() {
            let told = match failure {
                Some(failure) => Told::Failed(failure.clone(), standing.of_place(place)),
                None => Told::Alone,
            };
            state.tell(place, told);
        }
    }

    /// Asks every waiting asker to query alone beside the message.
    pub fn have_asked_alone_too(&self) {
        for waiting in self.state().waiting.iter().flatten() {
            let _ = waiting.send(Told::AloneToo);
        }
    }

    /// Waits until no asker waits for the message.
    pub async fn unwanted(&self) {
        let waiting = self.state().waiting.clone();
        for each in waiting.iter().flatten() {
            each.closed().await;
        }
    }

    /// Returns true when all answers are here.
    pub fn is_complete(&self) -> bool {
        self.state().gathering.is_complete()
    }

    /// Returns true when any response has come.
    pub fn has_begun(&self) -> bool {
        self.state().gathering.response_count() > 0
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Sends an outcome to an asker, unless the asker gave up.
    fn tell(&mut self, place: usize, told: Told) {
        if let Some(waiting) = self.waiting[place].take() {
            let _ = waiting.send(told);
        }
    }
}

/// Returns the failure of a message when the resolver stopped before all answers.
pub(crate) fn incomplete() -> MeasuredFailure {
    let detail = "the resolver ended before it had answered every question";
    MeasuredFailure::new(Failure::QueryConnectionClosed, detail)
}
