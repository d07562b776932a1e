//! The course of one message with several questions, shared by its transport, which hands over what
//! comes, and whoever waits for the answers. Not for: how a message travels.

use crate::cookie::SentCookie;
use crate::edns::{ClientEdns, QueryEdns};
use crate::exchange::ExchangeLog;
use crate::message::{EncodeError, build_message};
use crate::partial::{Gathering, NoPart, Part};
use crate::question::Question;
use crate::sent_edns::SentEdns;
use resolab_record::Failure;
use resolab_transport::client::MeasuredFailure;
use resolab_transport::clock::monotonic_ns;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is known of one message's answers, with the log of each question, in their order.
pub(crate) struct Course<'a> {
    logs: Vec<&'a ExchangeLog>,
    gathering: Mutex<Gathering>,
}

impl<'a> Course<'a> {
    /// Nothing was sent.
    pub fn of(questions: Vec<Question>, logs: Vec<&'a ExchangeLog>) -> Self {
        Self {
            logs,
            gathering: Mutex::new(Gathering::of(questions)),
        }
    }

    /// The logs, one for each question.
    pub fn logs(&self) -> &[&'a ExchangeLog] {
        &self.logs
    }

    /// What the message carries, which each log is told of.
    pub fn edns(&self, client: &Arc<ClientEdns>, cookie: Option<SentCookie>) -> QueryEdns {
        let gathering = self.gathering();
        let edns = client.of_message(gathering.questions().first(), cookie);
        for log in &self.logs {
            log.set_sent_edns(SentEdns::of(&edns, client));
        }
        edns.taking_parts()
    }

    /// The message that asks what has no answer yet.
    pub fn message(&self, id: u16, edns: &QueryEdns) -> Result<Vec<u8>, EncodeError> {
        let gathering = self.gathering();
        let missing = gathering.missing();
        let questions: Vec<_> = missing
            .iter()
            .map(|place| gathering.questions()[*place].clone())
            .collect();
        build_message(&questions, id, edns)
    }

    /// It is about to be handed over, for the first time or again.
    pub fn attempt(&self, message: &[u8]) {
        for place in self.gathering().missing() {
            self.logs[place].attempt(message);
        }
    }

    /// A layer below handed it over once more.
    pub fn add_attempt(&self) {
        for place in self.gathering().missing() {
            self.logs[place].add_attempts(1);
        }
    }

    /// Take a message that came for `id`; whether all answers are here now.
    pub fn take(&self, id: u16, message: &[u8]) -> Result<bool, NoPart> {
        let now_ns = monotonic_ns();
        let mut gathering = self.gathering();
        for place in gathering.take(id, message, now_ns)? {
            self.logs[place].query_exchange.finish_at(now_ns);
        }
        Ok(gathering.is_complete())
    }

    /// The same where nobody else could have sent it, so that what is no part is a failure.
    pub fn take_expected(&self, id: u16, message: &[u8]) -> Result<bool, MeasuredFailure> {
        self.take(id, message)
            .map_err(|error| MeasuredFailure::new(Failure::QueryMalformed, error))
    }

    /// Whether all answers are here.
    pub fn is_complete(&self) -> bool {
        self.gathering().is_complete()
    }

    /// Whether anything came.
    pub fn has_begun(&self) -> bool {
        self.gathering().response_count() > 0
    }

    /// The answers that are here, by question.
    pub fn into_parts(self) -> Vec<Option<Part>> {
        let gathering = self.gathering.into_inner();
        gathering
            .unwrap_or_else(PoisonError::into_inner)
            .into_parts()
    }

    fn gathering(&self) -> MutexGuard<'_, Gathering> {
        self.gathering
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The resolver stopped before it had answered everything.
pub(crate) fn incomplete() -> MeasuredFailure {
    let detail = "the resolver ended before it had answered every question";
    MeasuredFailure::new(Failure::QueryConnectionClosed, detail)
}
