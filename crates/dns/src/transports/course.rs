//! The course of one message with several questions, shared by its transport, which hands over what
//! comes, and those who wait, each for the answer to one question. Not for: how a message travels.

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

/// What became of a question in a message.
pub(crate) enum Told {
    /// It was answered, on this connection.
    Answered(Box<Part>, Standing),
    /// The resolver knows what it was asked, and this is what came of it.
    Failed(MeasuredFailure, Standing),
    /// It is to be asked in a message of its own.
    Alone,
    /// Nothing came yet: it is to be asked in a message of its own, while this one may be answered.
    AloneToo,
}

/// A question in a message.
pub(crate) struct Seat {
    /// What is asked.
    pub question: Question,
    /// What happens to it.
    pub log: Arc<ExchangeLog>,
    /// Its asker, who waits.
    pub waiting: UnboundedSender<Told>,
}

/// One message: what is known of its answers, and who waits for them.
pub(crate) struct Course {
    logs: Vec<Arc<ExchangeLog>>,
    state: Mutex<State>,
}

struct State {
    gathering: Gathering,
    /// Until they are told what became of it.
    waiting: Vec<Option<UnboundedSender<Told>>>,
    standing: Standing,
}

impl Course {
    /// Nothing was sent.
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

    /// The logs, one for each question.
    pub fn logs(&self) -> impl Iterator<Item = &ExchangeLog> {
        self.logs.iter().map(|log| &**log)
    }

    /// It is given to this connection.
    pub fn begin_on(&self, standing: &Standing) {
        self.state().standing = standing.clone();
    }

    /// What the message carries, which each log is told of.
    pub fn edns(&self, client: &Arc<ClientEdns>, cookie: Option<SentCookie>) -> QueryEdns {
        let state = self.state();
        let edns = client.of_message(state.gathering.questions().first(), cookie);
        for log in self.logs() {
            log.set_sent_edns(SentEdns::of(&edns, client));
        }
        edns.taking_parts()
    }

    /// The message that asks what has no answer yet.
    pub fn message(&self, id: u16, edns: &QueryEdns) -> Result<Vec<u8>, EncodeError> {
        let gathering = &self.state().gathering;
        let missing = gathering.missing();
        let questions: Vec<_> = missing
            .iter()
            .map(|place| gathering.questions()[*place].clone())
            .collect();
        build_message(&questions, id, edns)
    }

    /// It is about to be handed over, for the first time or again.
    pub fn attempt(&self, message: &[u8]) {
        for place in self.state().gathering.missing() {
            self.logs[place].attempt(message);
        }
    }

    /// The connection it was given to has ended: what has no answer is asked on another.
    pub fn begin_anew(&self) {
        for place in self.state().gathering.missing() {
            self.logs[place].begin_anew();
        }
    }

    /// A layer below handed it over once more.
    pub fn add_attempt(&self) {
        for place in self.state().gathering.missing() {
            self.logs[place].add_attempts(1);
        }
    }

    /// Take a message that came for `id`, and tell those who wait for what it has; whether all answers
    /// are here now.
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

    /// The same where nobody else could have sent it, so that what is no part is a failure.
    pub fn take_expected(&self, id: u16, message: &[u8]) -> Result<bool, MeasuredFailure> {
        self.take(id, message)
            .map_err(|error| MeasuredFailure::new(Failure::QueryMalformed, error))
    }

    /// Nothing more comes: tell those who still wait that it failed, or to ask alone.
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

    /// Have every question asked alone beside the message.
    pub fn have_asked_alone_too(&self) {
        for waiting in self.state().waiting.iter().flatten() {
            let _ = waiting.send(Told::AloneToo);
        }
    }

    /// Resolves when nobody waits for the message any more.
    pub async fn unwanted(&self) {
        let waiting = self.state().waiting.clone();
        for each in waiting.iter().flatten() {
            each.closed().await;
        }
    }

    /// Whether all answers are here.
    pub fn is_complete(&self) -> bool {
        self.state().gathering.is_complete()
    }

    /// Whether anything came.
    pub fn has_begun(&self) -> bool {
        self.state().gathering.response_count() > 0
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whoever gave up is not told.
    fn tell(&mut self, place: usize, told: Told) {
        if let Some(waiting) = self.waiting[place].take() {
            let _ = waiting.send(told);
        }
    }
}

/// The resolver stopped before it had answered everything.
pub(crate) fn incomplete() -> MeasuredFailure {
    let detail = "the resolver ended before it had answered every question";
    MeasuredFailure::new(Failure::QueryConnectionClosed, detail)
}
