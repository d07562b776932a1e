//! What the option says in a response: whether it is the last, and of each of the message's questions
//! how it was answered and which of the message's records are its own. Not for: the records.

use super::VERSION;

const FLAG_LAST: u8 = 0x01;
const HEAD_BYTES: usize = 2;
const ENTRY_BYTES: usize = 6;
const TRUNCATED: u16 = 0x8000;
const RCODE_BITS: u16 = 0x0fff;

/// Of one question, in the order of the message's questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its own response code; the message's header has NOERROR.
    pub rcode: u16,
    /// Whether its answer did not fit: it has no records here and is to be asked alone, over TCP.
    pub is_truncated: bool,
    pub answer_count: u16,
    pub authority_count: u16,
}

/// All of the option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entries {
    pub is_last: bool,
    pub entries: Vec<Entry>,
}

impl Entries {
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

    /// `None` unless it is whole and of our version.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
        let (entries, []) = rest.as_chunks::<ENTRY_BYTES>() else {
            return None;
        };
        (head[0] == VERSION).then(|| Self {
            is_last: head[1] & FLAG_LAST != 0,
            entries: entries.iter().copied().map(Entry::decode).collect(),
        })
    }
}

impl Entry {
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
