//! The client's end: tracks the answered questions of a message, for responses in any order and any
//! number. Not for: deciding when to ask again or to give up.

use super::OPTION;
use super::entries::{QuestionEntry, ResponseEntries};
use crate::message::{DnsResponse, ResponseMismatch};
use crate::question::Question;
use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::Record;
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use std::vec::IntoIter;
use thiserror::Error;

/// The reason for a message that answers none of the questions.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnmatchedResponse {
    /// A message that is no response to the query.
    #[error(transparent)]
    ResponseMismatch(#[from] ResponseMismatch),
    /// A response from a resolver without support for partial responses.
    #[error("the resolver does not know partial responses")]
    NotKnown,
    /// An option contradicting its message.
    #[error("the partial response contradicts itself: {0}")]
    Contradiction(&'static str),
}

/// The answer to one question of a message.
#[derive(Debug, Clone)]
pub struct QuestionAnswer {
    /// The response, in the form of a response to a single question.
    pub response: DnsResponse,
    /// The length of the whole message with this answer, in bytes.
    pub response_bytes: u32,
    /// The message's arrival, `CLOCK_MONOTONIC` in ns.
    pub complete_ns: u64,
    /// The index of the message among the responses, from 0.
    pub response_index: u32,
}

/// The answered and the missing questions of one message.
#[derive(Debug)]
pub struct AnswerCollection {
    questions: Vec<Question>,
    is_answered: Vec<bool>,
    response_count: u32,
}

impl AnswerCollection {
    /// Begins with all questions missing.
    pub fn new(questions: Vec<Question>) -> Self {
        Self {
            is_answered: vec![false; questions.len()],
            questions,
            response_count: 0,
        }
    }

    /// Takes the answers from a message, with the index of each question. Skips answers to
    /// questions already answered or not asked.
    pub fn take(
        &mut self,
        id: u16,
        bytes: &[u8],
        now_ns: u64,
    ) -> Result<Vec<(usize, QuestionAnswer)>, UnmatchedResponse> {
        let malformed = |error: hickory_proto::serialize::binary::DecodeError| {
            ResponseMismatch::Malformed(error.to_string())
        };
        let message = Message::from_vec(bytes).map_err(malformed)?;
        let got = message.metadata.id;
        if got != id {
            return Err(ResponseMismatch::Id { asked: id, got }.into());
        }
        if message.metadata.message_type != MessageType::Response {
            return Err(ResponseMismatch::NotAResponse.into());
        }
        let responses = match entries_of(&message) {
            Some(entries) => apart(message, &entries)?,
            // Asked for alone, in a message that is like any other.
            None if self.missing().len() == 1 && message.queries.len() == 1 => vec![message],
            None => return Err(UnmatchedResponse::NotKnown),
        };
        let response_index = self.response_count;
        self.response_count += 1;
        let mut taken = Vec::new();
        for response in responses {
            let Some(index) = self.place_of(&response) else {
                continue;
            };
            self.is_answered[index] = true;
            let part = QuestionAnswer {
                response: DnsResponse::from_message(response),
                response_bytes: bytes.len() as u32,
                complete_ns: now_ns,
                response_index,
            };
            taken.push((index, part));
        }
        Ok(taken)
    }

    /// Finds the first matching question without an answer.
    fn place_of(&self, response: &Message) -> Option<usize> {
        let answered = response.queries.first()?;
        let mut questions = self.questions.iter().zip(&self.is_answered);
        questions.position(|(asked, is_answered)| {
            !is_answered
                && asked.name == *answered.name()
                && asked.record_type == answered.query_type()
                && asked.class == answered.query_class()
        })
    }

    /// Returns true when every question has its answer.
    pub fn is_complete(&self) -> bool {
        self.is_answered.iter().all(|is_answered| *is_answered)
    }

    /// Returns the indexes of the questions without an answer.
    pub fn missing(&self) -> Vec<usize> {
        let indices = 0..self.is_answered.len();
        indices.filter(|index| !self.is_answered[*index]).collect()
    }

    /// Returns all questions of the message.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// Returns the number of responses taken.
    pub fn response_count(&self) -> u32 {
        self.response_count
    }
}

fn entries_of(message: &Message) -> Option<ResponseEntries> {
    let option = message.edns.as_ref()?.option(EdnsCode::from(OPTION))?;
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "hickory's; a code it does not know has no other form"
    )]
    match option {
        EdnsOption::Unknown(_, data) => ResponseEntries::decode(data),
        _ => None,
    }
}

/// Splits a message into one response for each question, in the form of responses to single
/// questions.
fn apart(
    mut message: Message,
    entries: &ResponseEntries,
) -> Result<Vec<Message>, UnmatchedResponse> {
    if entries.entries.len() != message.queries.len() {
        return Err(UnmatchedResponse::Contradiction(
            "its entries are not its questions",
        ));
    }
    let queries = std::mem::take(&mut message.queries);
    let mut answers = std::mem::take(&mut message.answers).into_iter();
    let mut authorities = std::mem::take(&mut message.authorities).into_iter();
    message.additionals.clear();
    if let Some(edns) = &mut message.edns {
        edns.options_mut().remove(EdnsCode::from(OPTION));
    }
    let mut responses = Vec::with_capacity(queries.len());
    for (query, entry) in queries.into_iter().zip(&entries.entries) {
        let mut response = message.clone();
        response.queries = vec![query];
        response.answers = next_records(&mut answers, entry.answer_count)?;
        response.authorities = next_records(&mut authorities, entry.authority_count)?;
        set_outcome(&mut response, *entry);
        responses.push(response);
    }
    if answers.len() + authorities.len() > 0 {
        return Err(UnmatchedResponse::Contradiction(
            "it has records of no question",
        ));
    }
    Ok(responses)
}

fn next_records(
    records: &mut IntoIter<Record>,
    count: u16,
) -> Result<Vec<Record>, UnmatchedResponse> {
    let count = usize::from(count);
    if records.len() < count {
        return Err(UnmatchedResponse::Contradiction(
            "it has fewer records than it says",
        ));
    }
    Ok(records.take(count).collect())
}

fn set_outcome(response: &mut Message, entry: QuestionEntry) {
    let (high, low) = ((entry.rcode >> 4) as u8, (entry.rcode & 0x0f) as u8);
    response.metadata.response_code = ResponseCode::from(high, low);
    response.metadata.truncation = entry.is_truncated;
}
