//! One message with several questions (a batched query), shared by its transport and the waiting
//! askers. The transport delivers responses; each asker waits for the answer to one question.
//! Not for: sending and receiving the message.

use crate::connection_use::ConnectionUse;
use crate::edns::cookie::SentCookie;
use crate::edns::sent::SentEdns;
use crate::edns::{ClientEdns, QueryEdns};
use crate::exchange::ExchangeLog;
use crate::message::{EncodeError, build_message};
use crate::partial::{AnswerCollection, QuestionAnswer, UnmatchedResponse};
use crate::question::Question;
use resolab_record::Failure;
use resolab_transport::client::MeasuredFailure;
use resolab_transport::clock::monotonic_ns;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedSender;

/// The outcome of one question of a message.
pub(crate) enum QuestionOutcome {
    /// An answer received on this connection.
    Answered(Box<QuestionAnswer>, ConnectionUse),
    /// The failure of the message, final for this question.
    Failed(MeasuredFailure, ConnectionUse),
    /// No answer: the asker must ask the question alone.
    Alone,
    /// No answer yet: the asker must ask the question alone, while this message may still be
    /// answered.
    AloneMeanwhile,
}

/// A question in a batched message, with its asker.
pub(crate) struct BatchedQuestion {
    /// The question to ask.
    pub question: Question,
    /// The log of the question's exchange.
    pub log: Arc<ExchangeLog>,
    /// The asker's channel for outcomes.
    pub waiting: UnboundedSender<QuestionOutcome>,
}

/// One message: its answers known so far, and the askers still waiting.
pub(crate) struct QueryBatch {
    logs: Vec<Arc<ExchangeLog>>,
    state: Mutex<State>,
}

struct State {
    gathering: AnswerCollection,
    /// The askers, removed after their final outcome.
    waiting: Vec<Option<UnboundedSender<QuestionOutcome>>>,
    connection_use: ConnectionUse,
}

impl QueryBatch {
    /// Makes a message from its questions, not yet sent.
    pub fn new(batched_questions: Vec<BatchedQuestion>) -> Self {
        let mut logs = Vec::with_capacity(batched_questions.len());
        let mut questions = Vec::with_capacity(batched_questions.len());
        let mut waiting = Vec::with_capacity(batched_questions.len());
        for batched in batched_questions {
            logs.push(batched.log);
            questions.push(batched.question);
            waiting.push(Some(batched.waiting));
        }
        let state = State {
            gathering: AnswerCollection::new(questions),
            waiting,
            connection_use: ConnectionUse::default(),
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
    pub fn begin_on(&self, connection_use: &ConnectionUse) {
        self.state().connection_use = connection_use.clone();
    }

    /// Returns the message's EDNS contents, and writes them to each log.
    pub fn edns(&self, client: &Arc<ClientEdns>, cookie: Option<SentCookie>) -> QueryEdns {
        let state = self.state();
        let edns = client.message_contents(state.gathering.questions().first(), cookie);
        for log in self.logs() {
            log.set_sent_edns(SentEdns::new(&edns, client));
        }
        edns.accept_partial_responses()
    }

    /// Builds the message with the questions still missing an answer.
    pub fn message(&self, id: u16, edns: &QueryEdns) -> Result<Vec<u8>, EncodeError> {
        let gathering = &self.state().gathering;
        let missing = gathering.missing();
        let questions: Vec<_> = missing
            .iter()
            .map(|index| gathering.questions()[*index].clone())
            .collect();
        build_message(&questions, id, edns)
    }

    /// Counts an attempt, just before the message is handed to the connection.
    pub fn attempt(&self, message: &[u8]) {
        for index in self.state().gathering.missing() {
            self.logs[index].attempt(message);
        }
    }

    /// Restarts the missing questions' exchanges after the message's connection has ended.
    pub fn restart(&self) {
        for index in self.state().gathering.missing() {
            self.logs[index].restart();
        }
    }

    /// Counts an attempt made by a layer below.
    pub fn add_attempt(&self) {
        for index in self.state().gathering.missing() {
            self.logs[index].add_attempts(1);
        }
    }

    /// Takes a response for `id`, and sends its answers to the askers. Returns true when all
    /// answers are here.
    pub fn take(&self, id: u16, message: &[u8]) -> Result<bool, UnmatchedResponse> {
        let now_ns = monotonic_ns();
        let mut state = self.state();
        for (index, part) in state.gathering.take(id, message, now_ns)? {
            self.logs[index].query_exchange.finish_at(now_ns);
            let connection_use = state.connection_use.select_question(index);
            state.tell(
                index,
                QuestionOutcome::Answered(Box::new(part), connection_use),
            );
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
    pub fn end(&self, failure: Option<&MeasuredFailure>, connection_use: &ConnectionUse) {
        let mut state = self.state();
        for index in state.gathering.missing() {
            let outcome = match failure {
                Some(failure) => {
                    QuestionOutcome::Failed(failure.clone(), connection_use.select_question(index))
                }
                None => QuestionOutcome::Alone,
            };
            state.tell(index, outcome);
        }
    }

    /// Asks every waiting asker to query alone beside the message.
    pub fn request_single_queries(&self) {
        for waiting in self.state().waiting.iter().flatten() {
            let _ = waiting.send(QuestionOutcome::AloneMeanwhile);
        }
    }

    /// Waits until no asker waits for the message.
    pub async fn wait_until_unwanted(&self) {
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
    fn tell(&mut self, index: usize, outcome: QuestionOutcome) {
        if let Some(waiting) = self.waiting[index].take() {
            let _ = waiting.send(outcome);
        }
    }
}

/// Returns the failure of a message when the resolver stopped before all answers.
pub(crate) fn incomplete_failure() -> MeasuredFailure {
    let detail = "the resolver ended before it had answered every question";
    MeasuredFailure::new(Failure::QueryConnectionClosed, detail)
}
