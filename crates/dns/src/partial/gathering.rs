//! The client's end: which of a message's questions are answered, by what came so far, in whatever
//! order and however often. Not for: when to ask again, and when to give up.

use super::OPTION;
use super::entries::{Entries, Entry};
use crate::message::{Mismatch, Response};
use crate::question::Question;
use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::Record;
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use std::vec::IntoIter;
use thiserror::Error;

/// Why a message answers none of the questions.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoPart {
    /// No response to the message.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// A response by somebody who does not know partial responses.
    #[error("the resolver does not know partial responses")]
    NotKnown,
    /// The option contradicts the message.
    #[error("the partial response contradicts itself: {0}")]
    Contradiction(&'static str),
}

/// The answer to one question.
#[derive(Debug, Clone)]
pub struct Part {
    /// As if it had been asked alone.
    pub response: Response,
    /// Of the whole message it came in.
    pub response_bytes: u32,
    /// When that was here, `CLOCK_MONOTONIC`.
    pub complete_ns: u64,
    /// Which message that was, from 0.
    pub response_index: u32,
}

/// Which questions of one message are answered.
#[derive(Debug)]
pub struct Gathering {
    questions: Vec<Question>,
    is_answered: Vec<bool>,
    response_count: u32,
}

impl Gathering {
    /// Nothing came yet.
    pub fn of(questions: Vec<Question>) -> Self {
        Self {
            is_answered: vec![false; questions.len()],
            questions,
            response_count: 0,
        }
    }

    /// Take what a message has: answers by the places of their questions. Those to what is answered
    /// already, or was not asked, are passed over.
    pub fn take(
        &mut self,
        id: u16,
        bytes: &[u8],
        now_ns: u64,
    ) -> Result<Vec<(usize, Part)>, NoPart> {
        let malformed = |error: hickory_proto::serialize::binary::DecodeError| {
            Mismatch::Malformed(error.to_string())
        };
        let message = Message::from_vec(bytes).map_err(malformed)?;
        let got = message.metadata.id;
        if got != id {
            return Err(Mismatch::Id { asked: id, got }.into());
        }
        if message.metadata.message_type != MessageType::Response {
            return Err(Mismatch::NotAResponse.into());
        }
        let responses = match entries_of(&message) {
            Some(entries) => apart(message, &entries)?,
            // Asked for alone, in a message that is like any other.
            None if self.missing().len() == 1 && message.queries.len() == 1 => vec![message],
            None => return Err(NoPart::NotKnown),
        };
        let response_index = self.response_count;
        self.response_count += 1;
        let mut taken = Vec::new();
        for response in responses {
            let Some(place) = self.place_of(&response) else {
                continue;
            };
            self.is_answered[place] = true;
            let part = Part {
                response: Response::of(response),
                response_bytes: bytes.len() as u32,
                complete_ns: now_ns,
                response_index,
            };
            taken.push((place, part));
        }
        Ok(taken)
    }

    /// The first such question that has no answer.
    fn place_of(&self, response: &Message) -> Option<usize> {
        let answered = response.queries.first()?;
        let mut places = self.questions.iter().zip(&self.is_answered);
        places.position(|(asked, is_answered)| {
            !is_answered
                && asked.name == *answered.name()
                && asked.record_type == answered.query_type()
                && asked.class == answered.query_class()
        })
    }

    /// Whether every question has its answer.
    pub fn is_complete(&self) -> bool {
        self.is_answered.iter().all(|is_answered| *is_answered)
    }

    /// Places of the questions without one.
    pub fn missing(&self) -> Vec<usize> {
        let places = 0..self.is_answered.len();
        places.filter(|place| !self.is_answered[*place]).collect()
    }

    /// All questions.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// Messages that came.
    pub fn response_count(&self) -> u32 {
        self.response_count
    }
}

fn entries_of(message: &Message) -> Option<Entries> {
    let option = message.edns.as_ref()?.option(EdnsCode::from(OPTION))?;
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "hickory's; a code it does not know has no other form"
    )]
    match option {
        EdnsOption::Unknown(_, data) => Entries::decode(data),
        _ => None,
    }
}

/// A response for each question, as if each had been asked alone.
fn apart(mut message: Message, entries: &Entries) -> Result<Vec<Message>, NoPart> {
    if entries.entries.len() != message.queries.len() {
        return Err(NoPart::Contradiction("its entries are not its questions"));
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
        return Err(NoPart::Contradiction("it has records of no question"));
    }
    Ok(responses)
}

fn next_records(records: &mut IntoIter<Record>, count: u16) -> Result<Vec<Record>, NoPart> {
    let count = usize::from(count);
    if records.len() < count {
        return Err(NoPart::Contradiction("it has fewer records than it says"));
    }
    Ok(records.take(count).collect())
}

fn set_outcome(response: &mut Message, entry: Entry) {
    let (high, low) = ((entry.rcode >> 4) as u8, (entry.rcode & 0x0f) as u8);
    response.metadata.response_code = ResponseCode::from(high, low);
    response.metadata.truncation = entry.is_truncated;
}
