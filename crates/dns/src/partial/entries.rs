//! The option's contents in a response: the mark of the last response, and for each question its
//! outcome and its records in the message. Not for: the records.

use super::VERSION;

const FLAG_LAST: u8 = 0x01;
const HEAD_BYTES: usize = 2;
const ENTRY_BYTES: usize = 6;
const TRUNCATED: u16 = 0x8000;
const RCODE_BITS: u16 = 0x0fff;

/// The outcome of one question, in the order of the message's questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QuestionEntry {
    /// The question's response code; the message's header has NOERROR.
    pub rcode: u16,
    /// True when the answer did not fit: the message has no records for the question, so the client
    /// asks alone, over TCP.
    pub is_truncated: bool,
    pub answer_count: u16,
    pub authority_count: u16,
}

/// The whole contents of the option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResponseEntries {
    pub is_last: bool,
    pub entries: Vec<QuestionEntry>,
}

impl ResponseEntries {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + ENTRY_BYTES * self.entries.len());
        bytes.extend([VERSION, if self.is_last { FLAG_LAST } else { 0 }]);
        for entry in &self.entries {
            let truncated = if entry.is_truncated { TRUNCATED } else { 0 };
            let outcome = truncated | (entry.rcode & RCODE_BITS);
            bytes.extend(outcome.to_be_bytes());
            bytes.extend(entry.answer_count.to_be_bytes());
            bytes.extend(entry.authority_count.to_be_bytes());
        }
        bytes
    }

    /// Reads the option. `None` unless the option is whole and of our version.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
        let (entries, []) = rest.as_chunks::<ENTRY_BYTES>() else {
            return None;
        };
        (head[0] == VERSION).then(|| Self {
            is_last: head[1] & FLAG_LAST != 0,
            entries: entries.iter().copied().map(QuestionEntry::decode).collect(),
        })
    }
}

impl QuestionEntry {
    fn decode(bytes: [u8; ENTRY_BYTES]) -> Self {
        let number = |place: usize| u16::from_be_bytes([bytes[2 * place], bytes[2 * place + 1]]);
        Self {
            rcode: number(0) & RCODE_BITS,
            is_truncated: number(0) & TRUNCATED != 0,
            answer_count: number(1),
            authority_count: number(2),
        }
    }
}
