//! Writes a response: header, question, records, OPT.
//!
//! For: bytes. Not for: the choice of the records.

use super::shape::{AnswerRequest, OwnedSet, Owner, ResponseFacts, Section, TransportLimits};
use crate::dns::wire::{
    CLASS_IN, Edns, HEADER_BYTES, MESSAGE_BYTES_MAX, OPTION_CLIENT_SUBNET, OPTION_COOKIE,
    OPTION_PADDING, RawQuestion, Rcode, TYPE_OPT,
};

/// The maximum datagram without EDNS, in bytes (RFC 1035 section 4.2.1).
const PLAIN_DATAGRAM_BYTES: usize = 512;
/// The maximum datagram for this edge, received or sent, in bytes: no fragments on any usual path.
const DATAGRAM_BYTES: u16 = 1_232;
const OPT_BYTES: usize = 11;
const COOKIES_BYTES: usize = 16;
const OPTION_HEAD_BYTES: usize = 4;
const FLAG_TRUNCATED: u8 = 0x02;
/// Authentic Data, in the fourth byte of a message.
const FLAG_AUTHENTIC: u8 = 0x20;

/// Returns the client's maximum response datagram, in bytes.
pub fn datagram_limit(edns: Option<Edns>) -> usize {
    edns.map_or(PLAIN_DATAGRAM_BYTES, |edns| {
        usize::from(edns.udp_payload_bytes.min(DATAGRAM_BYTES)).max(PLAIN_DATAGRAM_BYTES)
    })
}

/// Returns id and flags of a response: opcode, RD and CD from the query, RA because this edge plays
/// a resolver.
pub fn response_flags(message: &[u8], rcode: Rcode) -> [u8; 4] {
    let low = (rcode.number() & 0x0F) as u8;
    [
        message[0],
        message[1],
        0x80 | (message[2] & 0x79),
        0x80 | (message[3] & 0x10) | low,
    ]
}

/// Returns the flag AD of a response in the cache or from upstream, when the client asked for the
/// flag by AD or DO (RFC 6840 section 5.8). The edge's own zones are not validated.
pub fn authentic_flag(response: &[u8], request: &AnswerRequest<'_>) -> u8 {
    let dnssec_ok = request.query.edns.is_some_and(|edns| edns.dnssec_ok);
    let is_wanted = dnssec_ok || request.message[3] & FLAG_AUTHENTIC != 0;
    if is_wanted {
        response[3] & FLAG_AUTHENTIC
    } else {
        0
    }
}

/// A response in construction.
pub struct ResponseWriter<'a> {
    bytes: &'a mut Vec<u8>,
}

impl<'a> ResponseWriter<'a> {
    /// Writes header and question, replacing the content of `bytes`.
    pub fn start(
        message: &[u8],
        question: &RawQuestion<'_>,
        rcode: Rcode,
        bytes: &'a mut Vec<u8>,
    ) -> Self {
        bytes.clear();
        bytes.extend_from_slice(&response_flags(message, rcode));
        bytes.extend_from_slice(&[0, 1, 0, 0, 0, 0, 0, 0]);
        bytes.extend_from_slice(question.name);
        bytes.extend_from_slice(&question.qtype.to_be_bytes());
        bytes.extend_from_slice(&question.qclass.to_be_bytes());
        Self { bytes }
    }

    /// Turns a foreign response to the same question, without OPT, into a response to a query.
    pub fn adopt(request: &AnswerRequest<'_>, rcode: Rcode, bytes: &'a mut Vec<u8>) -> Self {
        let truncated = bytes[2] & FLAG_TRUNCATED;
        let authentic = authentic_flag(bytes, request);
        bytes[..4].copy_from_slice(&response_flags(request.message, rcode));
        bytes[2] |= truncated;
        bytes[3] |= authentic;
        let name = request.query.question.name;
        bytes[HEADER_BYTES..HEADER_BYTES + name.len()].copy_from_slice(name);
        Self { bytes }
    }

    /// Adds records to a section.
    pub fn push_set(&mut self, section: Section, set: &OwnedSet, question: &RawQuestion<'_>) {
        for content in &set.contents {
            match &set.owner {
                Owner::RawQuestion => self.push_pointer(HEADER_BYTES),
                Owner::Suffix(bytes) => {
                    self.push_pointer(HEADER_BYTES + question.name.len() - bytes);
                }
                Owner::Other(name) => self.bytes.extend_from_slice(name),
            }
            self.push_u16(set.record_type);
            self.push_u16(CLASS_IN);
            self.bytes.extend_from_slice(&set.ttl_s.to_be_bytes());
            self.push_u16(content.len() as u16);
            self.bytes.extend_from_slice(content);
            self.count(section);
        }
    }

    /// Truncates an overlong response, and adds the OPT record if the client used EDNS.
    pub fn end(
        mut self,
        request: &AnswerRequest<'_>,
        rcode: Rcode,
        ttl_s: Option<u32>,
    ) -> ResponseFacts {
        let edns = request.query.edns;
        let limit = match request.limits {
            TransportLimits::Datagram => datagram_limit(edns),
            TransportLimits::Stream | TransportLimits::Encrypted => MESSAGE_BYTES_MAX,
        };
        if self.bytes.len() + opt_bytes(request) > limit {
            self.truncate(&request.query.question);
        }
        ResponseFacts {
            rcode,
            ttl_s,
            cookie_at: edns.and_then(|edns| self.push_opt(edns, request, rcode)),
        }
    }

    /// Keeps only the question and sets TC: the client retries over a stream.
    pub fn truncate(&mut self, question: &RawQuestion<'_>) {
        self.bytes.truncate(HEADER_BYTES + question.name.len() + 4);
        self.bytes[2] |= FLAG_TRUNCATED;
        self.bytes[6..HEADER_BYTES].fill(0);
    }

    /// Adds the OPT record, and returns the position of the cookies, if any.
    fn push_opt(&mut self, edns: Edns, request: &AnswerRequest<'_>, rcode: Rcode) -> Option<u16> {
        self.bytes.push(0);
        self.push_u16(TYPE_OPT);
        self.push_u16(DATAGRAM_BYTES);
        let flags = if edns.dnssec_ok { 0x80 } else { 0 };
        self.bytes
            .extend_from_slice(&[(rcode.number() >> 4) as u8, 0, flags, 0]);
        self.count(Section::Additional);
        let length_at = self.bytes.len();
        self.push_u16(0);
        let cookie_at = edns.client_cookie.map(|client_cookie| {
            self.push_u16(OPTION_COOKIE);
            self.push_u16(COOKIES_BYTES as u16);
            self.bytes.extend_from_slice(&client_cookie);
            self.bytes.extend_from_slice(&request.server_cookie);
            (self.bytes.len() - COOKIES_BYTES) as u16
        });
        if let Some(subnet) = request.client_subnet() {
            let subnet = subnet.as_bytes();
            self.push_u16(OPTION_CLIENT_SUBNET);
            self.push_u16(subnet.len() as u16);
            self.bytes.extend_from_slice(subnet);
        }
        if edns.padded && request.limits == TransportLimits::Encrypted {
            self.push_padding(usize::from(request.padding_block_bytes));
        }
        let length = (self.bytes.len() - length_at - 2) as u16;
        self.bytes[length_at..length_at + 2].copy_from_slice(&length.to_be_bytes());
        cookie_at
    }

    /// Adds padding up to a multiple of the block, within the maximum message length (RFC 8467
    /// section 4.1).
    fn push_padding(&mut self, block_bytes: usize) {
        let unpadded = self.bytes.len() + OPTION_HEAD_BYTES;
        if block_bytes == 0 || unpadded > MESSAGE_BYTES_MAX {
            return;
        }
        let padded = unpadded
            .next_multiple_of(block_bytes)
            .min(MESSAGE_BYTES_MAX);
        self.push_u16(OPTION_PADDING);
        self.push_u16((padded - unpadded) as u16);
        self.bytes.resize(padded, 0);
    }

    fn push_pointer(&mut self, offset: usize) {
        self.push_u16(0xC000 | offset as u16);
    }

    fn push_u16(&mut self, number: u16) {
        self.bytes.extend_from_slice(&number.to_be_bytes());
    }

    fn count(&mut self, section: Section) {
        let at = 4 + 2 * section as usize;
        let count = u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]]).wrapping_add(1);
        self.bytes[at..at + 2].copy_from_slice(&count.to_be_bytes());
    }
}

fn opt_bytes(request: &AnswerRequest<'_>) -> usize {
    request.query.edns.map_or(0, |edns| {
        let cookies = edns
            .client_cookie
            .map_or(0, |_| OPTION_HEAD_BYTES + COOKIES_BYTES);
        let subnet = request
            .client_subnet()
            .map_or(0, |subnet| OPTION_HEAD_BYTES + subnet.as_bytes().len());
        OPT_BYTES + cookies + subnet
    })
}
