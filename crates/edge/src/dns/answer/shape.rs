//! The inputs of an answer, the parts of an answer, and the facts known after writing.

use crate::dns::wire::{ClientSubnetOption, Query, Rcode};

/// The limits of the transport for a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportLimits {
    /// A datagram: truncated above the client's limit.
    Datagram,
    /// A byte stream without encryption.
    Stream,
    /// An encrypted transport; padding hides lengths.
    Encrypted,
}

/// The facts about a response besides its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseFacts {
    /// The response code (RCODE).
    pub rcode: Rcode,
    /// The smallest TTL of the answer, or of the SOA of a negative answer, in s.
    pub ttl_s: Option<u32>,
    /// The position of the 16 bytes of cookies.
    pub cookie_at: Option<u16>,
}

/// The inputs of an answer besides the zone.
#[derive(Debug, Clone, Copy)]
pub struct AnswerRequest<'a> {
    /// The query message in wire form.
    pub message: &'a [u8],
    /// The parsed query message.
    pub query: Query<'a>,
    /// The limits of the transport for the response.
    pub limits: TransportLimits,
    /// The padding block on encrypted transports, in bytes; 0: no padding.
    pub padding_block_bytes: u16,
    /// The server's part of the cookie, if the client sent a cookie.
    pub server_cookie: [u8; 8],
    /// The scope of the answer, in bits of the client's address, if answers have a scope (RFC
    /// 7871).
    pub client_subnet_scope: Option<u8>,
}

impl AnswerRequest<'_> {
    /// Returns the client subnet option of the answer.
    pub fn client_subnet(&self) -> Option<ClientSubnetOption> {
        let request = self.query.edns?.client_subnet?;
        Some(request.answer_option(self.client_subnet_scope?))
    }
}

/// A section of a message, by the position of its count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The answer section of the message.
    Answer = 1,
    /// The authority section of the message.
    Authority = 2,
    /// The additional section of the message.
    Additional = 3,
}

/// The owner of a set of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// The query name itself.
    RawQuestion,
    /// The end of the query name, by its length in bytes.
    Suffix(usize),
    /// Another name, in wire form.
    Other(Vec<u8>),
}

/// The records of one owner and type, to be written.
#[derive(Debug, Clone)]
pub struct OwnedSet {
    /// The owner name of the records.
    pub owner: Owner,
    /// The number of the record type.
    pub record_type: u16,
    /// The time to live, in s.
    pub ttl_s: u32,
    /// The data of each record in wire form.
    pub contents: Vec<Vec<u8>>,
}
