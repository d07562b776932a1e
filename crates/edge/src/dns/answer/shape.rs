//! What an answer depends on, what it consists of, and what is known of it when it is written.

use crate::dns::wire::{ClientSubnet, Query, Rcode};

/// What the transport lets a response be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// A datagram: truncated above what the client takes.
    Datagram,
    /// A byte stream in the clear.
    Stream,
    /// An encrypted transport, where padding hides lengths.
    Encrypted,
}

/// What is known of a response besides its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Response code.
    pub rcode: Rcode,
    /// Smallest TTL of the answer (or of the SOA of a negative one).
    pub ttl_s: Option<u32>,
    /// Where the 16 bytes of its cookies are.
    pub cookie_at: Option<u16>,
}

/// What an answer depends on besides the zone.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The message.
    pub message: &'a [u8],
    /// The same, read.
    pub query: Query<'a>,
    /// What the transport lets the response be.
    pub channel: Channel,
    /// Responses on encrypted transports are padded to multiples of this; 0: not padded.
    pub padding_block_bytes: u16,
    /// The server's part of the cookie, if the client sent one.
    pub server_cookie: [u8; 8],
    /// Bits of a client's address that an answer holds for, where it says which (RFC 7871).
    pub client_subnet_scope: Option<u8>,
}

impl Asked<'_> {
    /// The client subnet option its answer has.
    pub fn client_subnet(&self) -> Option<ClientSubnet> {
        let asked = self.query.edns?.client_subnet?;
        Some(asked.answered(self.client_subnet_scope?))
    }
}

/// Section of a message, by the position of its count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The answer section.
    Answer = 1,
    /// The authority section.
    Authority = 2,
    /// The additional section.
    Additional = 3,
}

/// Owner of a set of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// The name asked.
    Question,
    /// The end of the name asked, by its length in bytes.
    Suffix(usize),
    /// Another name, wire form.
    Other(Vec<u8>),
}

/// Records to be written.
#[derive(Debug, Clone)]
pub struct OwnedSet {
    /// Name the records belong to.
    pub owner: Owner,
    /// Type, by its number.
    pub record_type: u16,
    /// Time to live.
    pub ttl_s: u32,
    /// Each record's contents in wire form.
    pub contents: Vec<Vec<u8>>,
}
