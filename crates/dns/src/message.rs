//! Builds a query, and checks and reads a response. Not for: framing (each transport).

mod answer_owners;

use crate::edns::QueryEdns;
use crate::presentation::{name_text, record_data_text};
use crate::question::Question;
use answer_owners::AnswerOwners;
use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{RData, Record};
use resolab_record::rcode_text;
use std::net::IpAddr;
use thiserror::Error;

const HEADER_BYTES: usize = 12;
const TYPE_AND_CLASS_BYTES: usize = 4;
/// Type, class, TTL and length of a record.
const FIXED_FIELDS_BYTES: usize = 10;
/// The key of the service parameter `port` (RFC 9460 section 14.3.2).
const PORT_KEY: u16 = 3;
/// Offset of RDLENGTH in an OPT record: after root name, type, class and TTL.
const OPT_LENGTH_AT: usize = 9;
/// The maximum number of a response's answers written to a record.
const ANSWERS_MAX_COUNT: usize = 16;
const ANSWER_MAX_CHARACTERS: usize = 256;
const QR_BIT: u8 = 0x80;
/// The smallest first byte of a compression pointer.
const POINTER: u8 = 0xc0;

/// The reason for a message that cannot be built.
#[derive(Debug, Error)]
#[error("encode a query for {name}: {reason}")]
pub struct EncodeError {
    name: String,
    reason: String,
}

/// The reason for a message that does not answer the query.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ResponseMismatch {
    /// Bytes that are not a whole DNS message.
    #[error("the response is no DNS message: {0}")]
    Malformed(String),
    /// A response with an id different from the query's.
    #[error("the response's id is {got}, the query's was {asked}")]
    Id {
        /// The id of the query.
        asked: u16,
        /// The id of the response.
        got: u16,
    },
    /// A message without the QR bit.
    #[error("the message is a query, not a response")]
    NotAResponse,
    /// A response to another question.
    #[error("the response answers another question")]
    Question,
}

/// The contents of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DnsResponse {
    /// The response code as text.
    pub rcode: String,
    /// True for NOERROR and NXDOMAIN: the resolver gave an answer.
    pub is_answer: bool,
    /// True when the TC flag is set.
    pub truncated: bool,
    /// The number of records in the answer section.
    pub answer_count: u32,
    /// The addresses of the queried name, or of the target of its aliases.
    pub addresses: Vec<IpAddr>,
    /// The smallest TTL of the records answering the question, in seconds.
    pub ttl_s: Option<u32>,
    /// The whole decoded message.
    pub message: Message,
}

impl DnsResponse {
    /// Reads the contents of a message.
    pub fn from_message(message: Message) -> Self {
        let rcode = message.metadata.response_code;
        let owners = AnswerOwners::from_message(&message);
        let answering: Vec<&Record> = message
            .answers
            .iter()
            .filter(|record| owners.answer_by(record))
            .collect();
        Self {
            rcode: rcode_text(rcode.into()),
            is_answer: matches!(rcode, ResponseCode::NoError | ResponseCode::NXDomain),
            truncated: message.metadata.truncation,
            answer_count: message.answers.len() as u32,
            addresses: answering
                .iter()
                .filter_map(|record| address_of(record))
                .collect(),
            ttl_s: answering.iter().map(|record| record.ttl).min(),
            message,
        }
    }

    /// Lowers the TTLs by the `age_s` seconds spent in a cache (RFC 8484 section 5.1).
    #[must_use]
    pub fn with_age(mut self, age_s: u32) -> Self {
        let message = &mut self.message;
        let sections = [
            &mut message.answers,
            &mut message.authorities,
            &mut message.additionals,
        ];
        for record in sections.into_iter().flatten() {
            record.ttl = record.ttl.saturating_sub(age_s);
        }
        self.ttl_s = self.ttl_s.map(|ttl_s| ttl_s.saturating_sub(age_s));
        self
    }
}

/// Returns a random message id, for transports where an attacker must have to guess the id.
pub fn random_id() -> u16 {
    Message::query().metadata.id
}

/// Encodes a query: recursion desired, EDNS(0).
pub fn build_query(question: &Question, id: u16, edns: &QueryEdns) -> Result<Vec<u8>, EncodeError> {
    build_message(std::slice::from_ref(question), id, edns)
}

/// Encodes a query with any number of questions; RFC 9619 allows one. The first question decides
/// the flags in the header and in EDNS(0).
pub fn build_message(
    questions: &[Question],
    id: u16,
    edns: &QueryEdns,
) -> Result<Vec<u8>, EncodeError> {
    let first = questions.first();
    let mut message = Message::new(id, MessageType::Query, OpCode::Query);
    message.metadata.recursion_desired = true;
    message.metadata.checking_disabled = first.is_some_and(|first| first.checking_disabled);
    message.metadata.authentic_data = first.is_some_and(|first| first.wants_authentic_data);
    for question in questions {
        let mut query = Query::query(question.name.clone(), question.record_type);
        query.set_query_class(question.class);
        message.add_query(query);
    }
    message.set_edns(edns.record(first.is_some_and(|first| first.dnssec_ok)));
    let mut bytes = message.to_vec().map_err(|error| EncodeError {
        name: first.map_or_else(String::new, Question::name_text),
        reason: error.to_string(),
    })?;
    if let Some(padding) = edns.missing_padding_bytes(bytes.len()) {
        fill_padding(&mut bytes, padding);
    }
    Ok(bytes)
}

/// Lengthens the empty padding option at the message's end, and the OPT record around it. The OPT
/// record is the only record.
fn fill_padding(bytes: &mut Vec<u8>, padding: u16) {
    let end = bytes.len();
    let length_at = questions_end(bytes) + OPT_LENGTH_AT;
    let options = (end - length_at - 2) as u16;
    bytes[length_at..length_at + 2].copy_from_slice(&(options + padding).to_be_bytes());
    bytes[end - 2..end].copy_from_slice(&padding.to_be_bytes());
    bytes.resize(end + usize::from(padding), 0);
}

/// Checks that `response` answers `query`: same id, QR set, same question apart from case (RFC 5452
/// section 9.1). A response with an error code may leave the question out. A query with no question
/// or several accepts any questions in the response, because no document specifies them.
pub fn check_echo(query: &[u8], response: &[u8]) -> Result<(), ResponseMismatch> {
    let short = || ResponseMismatch::Malformed(format!("it has {} bytes", response.len()));
    let header = response.get(..HEADER_BYTES).ok_or_else(short)?;
    let (asked, got) = (id_of(query), id_of(response));
    if asked != got {
        return Err(ResponseMismatch::Id { asked, got });
    }
    if header[2] & QR_BIT == 0 {
        return Err(ResponseMismatch::NotAResponse);
    }
    if question_count_of(query) != 1 {
        return Ok(());
    }
    let (question_count, rcode) = (question_count_of(response), header[3] & 0x0f);
    // NOERROR and NXDOMAIN are answers, and must say to what.
    if question_count == 0 && !matches!(rcode, 0 | 3) {
        return Ok(());
    }
    let end = questions_end(query);
    let same = response.get(..end).is_some_and(|response| {
        // A label's length is below 64, so that ignoring case ignores nothing but case.
        let name = HEADER_BYTES..end - TYPE_AND_CLASS_BYTES;
        response[name.clone()].eq_ignore_ascii_case(&query[name.clone()])
            && response[name.end..] == query[name.end..end]
    });
    if same && question_count == 1 {
        Ok(())
    } else {
        Err(ResponseMismatch::Question)
    }
}

/// Returns a message's id; 0 for a message too short to have an id.
pub fn id_of(message: &[u8]) -> u16 {
    message
        .get(..2)
        .map_or(0, |id| u16::from_be_bytes([id[0], id[1]]))
}

/// Returns a message's question count (QDCOUNT); 0 for a message too short to have a count.
pub fn question_count_of(message: &[u8]) -> u16 {
    message
        .get(4..6)
        .map_or(0, |count| u16::from_be_bytes([count[0], count[1]]))
}

/// Returns the end of the questions of one of our queries. The first question's name is never
/// compressed.
pub(crate) fn questions_end(query: &[u8]) -> usize {
    let mut at = HEADER_BYTES;
    for _ in 0..question_count_of(query) {
        at = name_end(query, at) + TYPE_AND_CLASS_BYTES;
    }
    at.min(query.len())
}

/// Returns the length of the first parameter `port` with a wrong length in SVCB and HTTPS records
/// (RFC 9460 section 7.2). The library reads the first two bytes and drops the others; it refuses
/// wrong lengths of all other parameters.
fn wrong_port_bytes(message: &[u8]) -> Option<usize> {
    let count_at = |at: usize| u16_at(message, at).unwrap_or(0);
    let record_count: u32 = [6, 8, 10].map(count_at).into_iter().map(u32::from).sum();
    let mut at = questions_end(message);
    for _ in 0..record_count {
        let fixed = name_end(message, at);
        let data_at = fixed + FIXED_FIELDS_BYTES;
        let end = data_at + usize::from(u16_at(message, data_at - 2)?);
        if matches!(u16_at(message, fixed)?, 64 | 65) {
            let parameters_at = name_end(message, data_at + 2);
            let wrong = wrong_port(message.get(parameters_at..end).unwrap_or_default());
            if wrong.is_some() {
                return wrong;
            }
        }
        at = end;
    }
    None
}

fn wrong_port(mut parameters: &[u8]) -> Option<usize> {
    while let Some((&[a, b, c, d], rest)) = parameters.split_first_chunk::<4>() {
        let length = usize::from(u16::from_be_bytes([c, d]));
        if u16::from_be_bytes([a, b]) == PORT_KEY && length != 2 {
            return Some(length);
        }
        parameters = rest.get(length..)?;
    }
    None
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

/// Returns the offset after a name's root label, or after a pointer to the rest of the name (RFC
/// 1035 section 4.1.4).
fn name_end(message: &[u8], mut at: usize) -> usize {
    while let Some(length) = message.get(at).copied() {
        match length {
            0 => return at + 1,
            POINTER.. => return at + 2,
            length => at += 1 + usize::from(length),
        }
    }
    at
}

/// Reads a response already checked by `check_echo`.
pub fn read_response(bytes: &[u8]) -> Result<DnsResponse, ResponseMismatch> {
    let message =
        Message::from_vec(bytes).map_err(|error| ResponseMismatch::Malformed(error.to_string()))?;
    match wrong_port_bytes(bytes) {
        None => Ok(DnsResponse::from_message(message)),
        Some(count) => Err(ResponseMismatch::Malformed(format!(
            "a service parameter port has {count} bytes"
        ))),
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "hickory's; no other record data is an address"
)]
fn address_of(record: &Record) -> Option<IpAddr> {
    match &record.data {
        RData::A(address) => Some(address.0.into()),
        RData::AAAA(address) => Some(address.0.into()),
        _ => None,
    }
}

/// Returns the negative TTL of a response without an answer (RFC 2308 section 5): the lower of the
/// SOA record's TTL and its MINIMUM field.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "hickory's; no other record says it"
)]
pub(crate) fn negative_ttl_s(message: &Message) -> Option<u32> {
    if !message.answers.is_empty() {
        return None;
    }
    message
        .authorities
        .iter()
        .find_map(|record| match &record.data {
            RData::SOA(soa) => Some(record.ttl.min(soa.minimum)),
            _ => None,
        })
}

/// Returns the answer records other than addresses, as text. The text of a record of another owner
/// than the queried name and its aliases begins with the owner. Number and length of the texts are
/// limited: a response of 64 KiB can have thousands of records, each with a name of hundreds of
/// bytes compressed to two (RFC 1035 section 4.1.4).
pub(crate) fn non_address_answers(message: &Message) -> Vec<String> {
    let owners = AnswerOwners::from_message(message);
    let texts = message.answers.iter().filter_map(|record| {
        match (owners.answer_by(record), address_of(record)) {
            (true, Some(_)) => None,
            (true, None) => Some(record_data_text(record)),
            (false, _) => Some(format!(
                "{} {}",
                name_text(&record.name),
                record_data_text(record)
            )),
        }
    });
    texts.take(ANSWERS_MAX_COUNT).map(shorten).collect()
}

/// Shortens a long text. Its last character marks a shortened text.
fn shorten(text: String) -> String {
    if text.len() <= ANSWER_MAX_CHARACTERS {
        return text;
    }
    let kept = text.chars().take(ANSWER_MAX_CHARACTERS - 1);
    kept.chain(['\u{2026}']).collect()
}

#[cfg(test)]
mod tests;
