//! The server's end: splits a message with several questions into queries with one question. Joins
//! the responses known so far into as few messages as possible. Not for: answering.

use super::entries::{QuestionEntry, ResponseEntries};
use super::{OPTION, QUESTIONS_MAX_COUNT, VERSION};
use crate::message::{question_count_of, questions_end};
use hickory_proto::op::{Edns, Message, MessageType, OpCode, ResponseCode};
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};

const OPTION_HEAD_BYTES: usize = 4;
/// ANCOUNT, NSCOUNT and ARCOUNT in the header.
const RECORD_COUNTS: std::ops::Range<usize> = 6..12;

/// The length limits of a message.
#[derive(Debug, Clone, Copy)]
pub struct LengthLimits {
    /// The maximum length of a message, in bytes.
    pub limit_bytes: usize,
    /// The padding block, in bytes (RFC 8467 section 4.1); 0 for no padding.
    pub padding_block_bytes: usize,
}

/// A message with several questions, from a client supporting partial responses.
#[derive(Debug, Clone)]
pub struct MultiQuestionMessage {
    query: Message,
    is_padded: bool,
}

/// One message of the server, with responses to some questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CombinedResponse {
    /// The message's bytes as sent.
    pub message: Vec<u8>,
    /// The number of responses in the message, in their order.
    pub count: usize,
}

impl MultiQuestionMessage {
    /// Reads a message with several questions; `None` for all other messages. Reads only two bytes
    /// of most messages.
    pub fn read(message: &[u8]) -> Option<Self> {
        if !(2..=QUESTIONS_MAX_COUNT).contains(&usize::from(question_count_of(message))) {
            return None;
        }
        let mut query = Message::from_vec(message).ok()?;
        let is_query = query.metadata.message_type == MessageType::Query
            && query.metadata.op_code == OpCode::Query;
        let options = query.edns.as_mut()?.options_mut();
        let is_wanted = matches!(
            options.get(EdnsCode::from(OPTION)),
            Some(EdnsOption::Unknown(_, data)) if data.first() == Some(&VERSION)
        );
        if !(is_query && is_wanted) {
            return None;
        }
        let is_padded = options.get(EdnsCode::Padding).is_some();
        options.remove(EdnsCode::from(OPTION));
        // Each would be padded, and then all of them together.
        options.remove(EdnsCode::Padding);
        Some(Self { query, is_padded })
    }

    /// Returns the datagram size announced by the client.
    pub fn udp_payload_bytes(&self) -> u16 {
        self.query.edns.as_ref().map_or(512, Edns::max_payload)
    }

    /// Returns each question as a separate query, with everything else of the message.
    pub fn singles(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.query.queries.iter().filter_map(|question| {
            let mut single = self.query.clone();
            single.queries = vec![question.clone()];
            single.to_vec().ok()
        })
    }

    /// Joins responses to some of the single queries into as few messages as possible, in order.
    /// `is_last` marks the final responses. A response too long for a message, or truncated, is
    /// marked as truncated. Responses with different EDNS options go into separate messages.
    /// Returns no message when a response does not repeat its question.
    pub fn combine(
        &self,
        responses: &[&[u8]],
        is_last: bool,
        room: LengthLimits,
    ) -> Vec<CombinedResponse> {
        let pieces: Vec<_> = responses
            .iter()
            .filter_map(|bytes| SingleResponse::read(bytes))
            .collect();
        let mut combined = Vec::new();
        if pieces.len() != responses.len() {
            return combined;
        }
        // One OPT record holds for every response of its message (RFC 6891 section 6.1.1).
        let mut groups = pieces
            .chunk_by(|response, next| response.options() == next.options())
            .peekable();
        while let Some(group) = groups.next() {
            let is_last = is_last && groups.peek().is_none();
            self.fit(group, is_last, room, &mut combined);
        }
        combined
    }

    fn fit(
        &self,
        pieces: &[SingleResponse],
        is_last: bool,
        room: LengthLimits,
        combined: &mut Vec<CombinedResponse>,
    ) {
        let whole = self.encode(pieces, is_last, room);
        match whole.filter(|message| message.len() <= room.limit_bytes) {
            Some(message) => combined.push(CombinedResponse {
                message,
                count: pieces.len(),
            }),
            None if pieces.len() > 1 => {
                let (first, rest) = pieces.split_at(pieces.len() / 2);
                self.fit(first, false, room, combined);
                self.fit(rest, is_last, room, combined);
            }
            // Shorter it cannot be: of a client that takes less nothing can be said.
            None => combined.push(CombinedResponse {
                message: self
                    .encode(&[pieces[0].cut()], is_last, room)
                    .unwrap_or_default(),
                count: 1,
            }),
        }
    }

    fn encode(
        &self,
        pieces: &[SingleResponse],
        is_last: bool,
        room: LengthLimits,
    ) -> Option<Vec<u8>> {
        let first = &pieces.first()?.response;
        let mut message =
            Message::new(self.query.metadata.id, MessageType::Response, OpCode::Query);
        message.metadata = first.metadata;
        message.metadata.id = self.query.metadata.id;
        message.metadata.response_code = ResponseCode::NoError;
        message.metadata.truncation = false;
        message.metadata.authentic_data = pieces
            .iter()
            .all(|piece| piece.response.metadata.authentic_data);
        for piece in pieces {
            message
                .queries
                .extend(piece.response.queries.iter().cloned());
            message
                .answers
                .extend(piece.response.answers.iter().cloned());
            message
                .authorities
                .extend(piece.response.authorities.iter().cloned());
        }
        let entries = ResponseEntries {
            is_last,
            entries: pieces.iter().map(SingleResponse::entry).collect(),
        };
        let mut edns = first.edns.clone().unwrap_or_else(Edns::new);
        edns.set_rcode_high(0);
        let option = EdnsOption::Unknown(OPTION, entries.encode());
        edns.options_mut().insert(option);
        message.set_edns(edns);
        self.pad(message, room)
    }

    fn pad(&self, mut message: Message, room: LengthLimits) -> Option<Vec<u8>> {
        let bytes = message.to_vec().ok()?;
        if !self.is_padded || room.padding_block_bytes == 0 {
            return Some(bytes);
        }
        let unpadded = bytes.len() + OPTION_HEAD_BYTES;
        let padded = unpadded
            .next_multiple_of(room.padding_block_bytes)
            .min(room.limit_bytes);
        let Some(padding) = padded.checked_sub(unpadded) else {
            return Some(bytes);
        };
        let option = EdnsOption::Unknown(EdnsCode::Padding.into(), vec![0; padding]);
        message.edns.as_mut()?.options_mut().insert(option);
        message.to_vec().ok()
    }
}

/// A response to one of the single queries.
#[derive(Debug, Clone)]
struct SingleResponse {
    response: Message,
    is_truncated: bool,
}

impl SingleResponse {
    /// Reads a response. A response with unreadable records loses all its records, because they
    /// cannot be moved. A client asking the question alone gets the records.
    fn read(response: &[u8]) -> Option<Self> {
        let whole = Message::from_vec(response).ok();
        let is_whole = whole.is_some();
        let response = match whole {
            Some(whole) => whole,
            None => Message::from_vec(&question_of(response)?).ok()?,
        };
        if response.queries.len() != 1 {
            return None;
        }
        let piece = Self {
            is_truncated: response.metadata.truncation || !is_whole,
            response,
        };
        Some(if piece.is_truncated {
            piece.cut()
        } else {
            piece
        })
    }

    fn options(&self) -> &[(EdnsCode, EdnsOption)] {
        let edns = self.response.edns.as_ref();
        edns.map_or(&[], |edns| edns.options().options.as_slice())
    }

    fn cut(&self) -> Self {
        let mut response = self.response.clone();
        response.answers.clear();
        response.authorities.clear();
        Self {
            response,
            is_truncated: true,
        }
    }

    fn entry(&self) -> QuestionEntry {
        QuestionEntry {
            rcode: self.response.metadata.response_code.into(),
            is_truncated: self.is_truncated,
            answer_count: self.response.answers.len() as u16,
            authority_count: self.response.authorities.len() as u16,
        }
    }
}

/// Returns header and question alone.
fn question_of(response: &[u8]) -> Option<Vec<u8>> {
    let mut bare = response.get(..questions_end(response))?.to_vec();
    bare.get_mut(RECORD_COUNTS)?.fill(0);
    Some(bare)
}
