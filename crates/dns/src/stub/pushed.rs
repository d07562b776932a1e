//! Answers present before their questions, as if pushed: asked of the resolver with the next query,
//! and kept until connections are closed. Not for: asking.

use crate::question::{Question, QuestionError};
use crate::upstream::UpstreamOutcome;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The record types asked by browsers for a host.
const TYPES: [&str; 3] = ["A", "AAAA", "HTTPS"];

/// The expected questions, and the answers received.
#[derive(Default)]
pub(super) struct PushedAnswers {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    expected: Vec<Question>,
    kept: Vec<StoredAnswer>,
}

struct StoredAnswer {
    question: Question,
    answer: watch::Receiver<Option<Arc<UpstreamOutcome>>>,
}

/// A question with an expected answer.
pub(super) struct ExpectedQuestion {
    pub question: Question,
    answer: watch::Sender<Option<Arc<UpstreamOutcome>>>,
}

impl ExpectedQuestion {
    /// Keeps the outcome; queries may have stopped waiting.
    pub fn store(self, outcome: UpstreamOutcome) {
        let _ = self.answer.send(Some(Arc::new(outcome)));
    }
}

impl PushedAnswers {
    /// Expects answers for these names only, from the next query on.
    pub fn expect(&self, names: &[String]) -> Result<(), QuestionError> {
        let every = names.iter().flat_map(|name| TYPES.map(|of| (name, of)));
        let expected = every.map(|(name, of)| Question::parse(name, of));
        let expected = expected.collect::<Result<_, _>>()?;
        *self.state() = State {
            expected,
            kept: Vec::new(),
        };
        Ok(())
    }

    /// Returns the questions to ask together with the first query, with its flags and options;
    /// empty for later queries.
    pub fn begin(&self, first: &Question) -> Vec<ExpectedQuestion> {
        let mut state = self.state();
        let mut begun = Vec::new();
        for expected in std::mem::take(&mut state.expected) {
            let question = Question {
                name: expected.name,
                record_type: expected.record_type,
                ..first.clone()
            };
            if question == *first {
                continue;
            }
            let (answer, kept) = watch::channel(None);
            state.kept.push(StoredAnswer {
                question: question.clone(),
                answer: kept,
            });
            begun.push(ExpectedQuestion { question, answer });
        }
        begun
    }

    /// Waits for the expected answer to a question. `None` when no answer is expected, or none
    /// came.
    pub async fn wait_for_answer(&self, question: &Question) -> Option<Arc<UpstreamOutcome>> {
        let mut answer = {
            let state = self.state();
            let kept = state
                .kept
                .iter()
                .find(|kept| is_answered_by(kept, question))?;
            kept.answer.clone()
        };
        let outcome = answer.wait_for(Option::is_some).await.ok()?.clone()?;
        outcome.outcome.result.is_ok().then_some(outcome)
    }

    /// Restores the state at the start.
    pub fn clear(&self) {
        *self.state() = State::default();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns true when the kept question was asked with the same flags and options. The payload size
/// does not count, because replies too long for their client are cut anyway.
fn is_answered_by(kept: &StoredAnswer, question: &Question) -> bool {
    let as_asked = Question {
        udp_payload_bytes: question.udp_payload_bytes,
        ..kept.question.clone()
    };
    as_asked == *question
}
