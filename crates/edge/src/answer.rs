//! From a query to a response, as bytes: pure.
//!
//! For: one behaviour on every transport. Not for: transports, caches or recursion.

use crate::wire::{
    CLASS_IN, Edns, HEADER_BYTES, Query, QueryError, Question, TYPE_ANY, TYPE_CNAME, TYPE_HINFO,
    TYPE_OPT, TYPE_SOA, name_text, type_text,
};
use crate::zone::{DEFAULT_TTL_S, Lookup, RecordSet, Zone};

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

/// A response and what records say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The message.
    pub message: Vec<u8>,
    /// Response code.
    pub rcode: Rcode,
    /// Smallest TTL of the answer (or of the SOA of a negative one).
    pub ttl_s: Option<u32>,
    /// Name asked, case kept.
    pub qname: String,
    /// Type asked.
    pub qtype: String,
    /// Whether the query carried an edns-tcp-keepalive option.
    pub keepalive_asked: bool,
}

/// Response codes used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Rcode {
    /// No error.
    NoError = 0,
    /// The query could not be read.
    FormErr = 1,
    /// The name does not exist.
    NxDomain = 3,
    /// Not a standard query.
    NotImp = 4,
    /// A name this edge does not answer for.
    Refused = 5,
    /// Unknown EDNS version.
    BadVers = 16,
}

impl Rcode {
    /// As text, the way records spell it.
    pub fn text(self) -> &'static str {
        match self {
            Self::NoError => "NOERROR",
            Self::FormErr => "FORMERR",
            Self::NxDomain => "NXDOMAIN",
            Self::NotImp => "NOTIMP",
            Self::Refused => "REFUSED",
            Self::BadVers => "BADVERS",
        }
    }
}

/// RFC 8467 section 4.1: responses are padded to multiples of this.
const PADDING_BLOCK_BYTES: usize = 468;
/// What a datagram may carry without EDNS (RFC 1035 section 4.2.1).
const PLAIN_DATAGRAM_BYTES: usize = 512;
/// What this edge takes, and sends at most, in a datagram: no fragments on any usual path.
const DATAGRAM_BYTES: u16 = 1_232;
const OPT_BYTES: usize = 11;
const FLAG_TRUNCATED: u8 = 0x02;

/// Answer a message; `None` when it must be dropped.
pub fn answer(message: &[u8], zone: &Zone, channel: Channel) -> Option<Answer> {
    let query = match Query::parse(message) {
        Ok(query) => query,
        Err(QueryError::Unanswerable) => return None,
        Err(QueryError::Malformed) => return Some(bare(message, Rcode::FormErr)),
        Err(QueryError::OpcodeUnknown) => return Some(bare(message, Rcode::NotImp)),
    };
    let (rcode, found) = resolve(&query, zone);
    let mut response = Response::start(message, &query.question, rcode);
    for (section, set) in &found.sets {
        response.push_set(*section, set, &query.question);
    }
    let limit = match channel {
        Channel::Datagram => datagram_limit(query.edns),
        Channel::Stream | Channel::Encrypted => usize::from(u16::MAX),
    };
    let opt_bytes = query.edns.map_or(0, |_| OPT_BYTES);
    if response.bytes.len() + opt_bytes > limit {
        response.truncate(&query.question);
    }
    if let Some(edns) = query.edns {
        response.push_opt(edns, rcode, channel == Channel::Encrypted && edns.padded);
    }
    Some(Answer {
        message: response.bytes,
        rcode,
        ttl_s: found.sets.iter().map(|(_, set)| set.ttl_s).min(),
        qname: name_text(query.question.name),
        qtype: type_text(query.question.qtype),
        keepalive_asked: query.edns.is_some_and(|edns| edns.keepalive),
    })
}

/// Section of a message, by the position of its count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Answer = 1,
    Authority = 2,
    Additional = 3,
}

/// Owner of a set of records.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Owner {
    /// The name asked.
    Question,
    /// The last so many bytes of the name asked.
    Suffix(usize),
    /// Another name, wire form.
    Other(Vec<u8>),
}

#[derive(Debug, Clone)]
struct OwnedSet {
    owner: Owner,
    record_type: u16,
    ttl_s: u32,
    contents: Vec<Vec<u8>>,
}

#[derive(Debug, Default)]
struct Found {
    sets: Vec<(Section, OwnedSet)>,
}

/// Longest chain of CNAMEs followed.
const CHAIN_LIMIT_COUNT: usize = 8;

fn resolve(query: &Query<'_>, zone: &Zone) -> (Rcode, Found) {
    let mut found = Found::default();
    if query.edns.is_some_and(|edns| edns.version != 0) {
        return (Rcode::BadVers, found);
    }
    let question = &query.question;
    if question.qclass != CLASS_IN {
        return (Rcode::Refused, found);
    }
    if question.qtype == TYPE_ANY {
        return resolve_any(question, zone);
    }
    let mut name = question.name.to_vec();
    let mut owner = Owner::Question;
    for _ in 0..CHAIN_LIMIT_COUNT {
        match zone.lookup(&name, question.qtype) {
            Lookup::Records(set) => {
                found.sets.push((Section::Answer, owned(owner, set)));
                if set.record_type != TYPE_CNAME || question.qtype == TYPE_CNAME {
                    break;
                }
                name.clone_from(&set.contents[0]);
                owner = Owner::Other(name.clone());
            }
            Lookup::NoData(origin) => {
                found.sets.extend(negative(zone, origin, &owner));
                break;
            }
            Lookup::NoName(origin) => {
                found.sets.extend(negative(zone, origin, &owner));
                return (Rcode::NxDomain, found);
            }
            Lookup::NotOurs if found.sets.is_empty() => return (Rcode::Refused, found),
            Lookup::NotOurs => break,
        }
    }
    (Rcode::NoError, found)
}

/// RFC 8482 section 4.2: ANY gets one synthetic HINFO.
fn resolve_any(question: &Question<'_>, zone: &Zone) -> (Rcode, Found) {
    let mut found = Found::default();
    match zone.lookup(question.name, TYPE_ANY) {
        Lookup::NotOurs => (Rcode::Refused, found),
        Lookup::NoName(origin) => {
            found.sets.extend(negative(zone, origin, &Owner::Question));
            (Rcode::NxDomain, found)
        }
        Lookup::NoData(_) | Lookup::Records(_) => {
            let set = OwnedSet {
                owner: Owner::Question,
                record_type: TYPE_HINFO,
                ttl_s: DEFAULT_TTL_S,
                contents: vec![b"\x07RFC8482\x00".to_vec()],
            };
            found.sets.push((Section::Answer, set));
            (Rcode::NoError, found)
        }
    }
}

/// The SOA that lets a negative answer be cached (RFC 2308 section 3).
fn negative(zone: &Zone, origin: &[u8], asked: &Owner) -> Option<(Section, OwnedSet)> {
    let Lookup::Records(set) = zone.lookup(origin, TYPE_SOA) else {
        return None;
    };
    let owner = match asked {
        Owner::Question => Owner::Suffix(origin.len()),
        _ => Owner::Other(origin.to_vec()),
    };
    Some((Section::Authority, owned(owner, set)))
}

fn owned(owner: Owner, set: &RecordSet) -> OwnedSet {
    OwnedSet {
        owner,
        record_type: set.record_type,
        ttl_s: set.ttl_s,
        contents: set.contents.clone(),
    }
}

fn datagram_limit(edns: Option<Edns>) -> usize {
    edns.map_or(PLAIN_DATAGRAM_BYTES, |edns| {
        usize::from(edns.udp_payload_bytes.min(DATAGRAM_BYTES)).max(PLAIN_DATAGRAM_BYTES)
    })
}

/// A header alone, for messages whose question could not be read.
fn bare(message: &[u8], rcode: Rcode) -> Answer {
    let mut response = vec![0; HEADER_BYTES];
    response[..4].copy_from_slice(&response_flags(message, rcode));
    Answer {
        message: response,
        rcode,
        ttl_s: None,
        qname: String::new(),
        qtype: String::new(),
        keepalive_asked: false,
    }
}

/// Id and flags: a response, opcode, RD and CD as asked, RA because this edge plays a resolver.
fn response_flags(message: &[u8], rcode: Rcode) -> [u8; 4] {
    let low = (rcode as u16 & 0x0F) as u8;
    [
        message[0],
        message[1],
        0x80 | (message[2] & 0x79),
        0x80 | (message[3] & 0x10) | low,
    ]
}

/// A response being written.
struct Response {
    bytes: Vec<u8>,
}

impl Response {
    fn start(message: &[u8], question: &Question<'_>, rcode: Rcode) -> Self {
        let mut bytes = Vec::with_capacity(PLAIN_DATAGRAM_BYTES);
        bytes.extend_from_slice(&response_flags(message, rcode));
        bytes.extend_from_slice(&[0, 1, 0, 0, 0, 0, 0, 0]);
        bytes.extend_from_slice(question.name);
        bytes.extend_from_slice(&question.qtype.to_be_bytes());
        bytes.extend_from_slice(&question.qclass.to_be_bytes());
        Self { bytes }
    }

    fn push_set(&mut self, section: Section, set: &OwnedSet, question: &Question<'_>) {
        for content in &set.contents {
            match &set.owner {
                Owner::Question => self.push_pointer(HEADER_BYTES),
                Owner::Suffix(bytes) => {
                    self.push_pointer(HEADER_BYTES + question.name.len() - bytes);
                }
                Owner::Other(name) => self.bytes.extend_from_slice(name),
            }
            self.bytes.extend_from_slice(&set.record_type.to_be_bytes());
            self.bytes.extend_from_slice(&CLASS_IN.to_be_bytes());
            self.bytes.extend_from_slice(&set.ttl_s.to_be_bytes());
            self.bytes
                .extend_from_slice(&(content.len() as u16).to_be_bytes());
            self.bytes.extend_from_slice(content);
            self.count(section);
        }
    }

    fn push_pointer(&mut self, offset: usize) {
        self.bytes
            .extend_from_slice(&(0xC000 | offset as u16).to_be_bytes());
    }

    fn count(&mut self, section: Section) {
        let at = 4 + 2 * section as usize;
        let count = u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]]) + 1;
        self.bytes[at..at + 2].copy_from_slice(&count.to_be_bytes());
    }

    /// Question only, with TC set: the client asks again over a stream.
    fn truncate(&mut self, question: &Question<'_>) {
        self.bytes.truncate(HEADER_BYTES + question.name.len() + 4);
        self.bytes[2] |= FLAG_TRUNCATED;
        self.bytes[6..HEADER_BYTES].fill(0);
    }

    fn push_opt(&mut self, edns: Edns, rcode: Rcode, padded: bool) {
        self.bytes.push(0);
        self.bytes.extend_from_slice(&TYPE_OPT.to_be_bytes());
        self.bytes.extend_from_slice(&DATAGRAM_BYTES.to_be_bytes());
        let flags = if edns.dnssec_ok { 0x80 } else { 0 };
        self.bytes
            .extend_from_slice(&[(rcode as u16 >> 4) as u8, 0, flags, 0]);
        self.count(Section::Additional);
        if !padded {
            self.bytes.extend_from_slice(&[0, 0]);
            return;
        }
        let unpadded = self.bytes.len() + 2 + 4;
        let padding = unpadded.next_multiple_of(PADDING_BLOCK_BYTES) - unpadded;
        self.bytes
            .extend_from_slice(&(padding as u16 + 4).to_be_bytes());
        self.bytes.extend_from_slice(&[0, 12]);
        self.bytes
            .extend_from_slice(&(padding as u16).to_be_bytes());
        self.bytes.resize(self.bytes.len() + padding, 0);
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
