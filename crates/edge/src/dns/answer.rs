//! Makes the response to a query, as bytes: pure.
//!
//! For: the same behaviour on every transport. Not for: transports, caches or recursion.

mod response;
mod shape;

pub use response::{ResponseWriter, authentic_flag, datagram_limit, response_flags};
pub use shape::{AnswerRequest, ResponseFacts, TransportLimits};

use crate::dns::wire::{
    CLASS_IN, HEADER_BYTES, Query, RawQuestion, Rcode, TYPE_ANY, TYPE_CNAME, TYPE_HINFO, TYPE_SOA,
};
use crate::dns::zone::file::soa_minimum_s;
use crate::dns::zone::{DEFAULT_TTL_S, Lookup, RecordSet, Zone};
use shape::{OwnedSet, Owner, Section};

impl AnswerRequest<'_> {
    /// Answers from a zone into `out`; `None` when the name is outside the zone.
    pub fn answer(&self, zone: &Zone, out: &mut Vec<u8>) -> Option<ResponseFacts> {
        let (rcode, found) = resolve(&self.query, zone)?;
        Some(self.write(rcode, &found, out))
    }

    /// Answers with a code and no records into `out`; an NXDOMAIN has the zone's SOA.
    pub fn answer_code(&self, rcode: Rcode, zone: &Zone, out: &mut Vec<u8>) -> ResponseFacts {
        let mut found = FoundRecords::default();
        if rcode == Rcode::NxDomain
            && let Some(origin) = zone.origin(self.query.question.name)
        {
            found
                .sets
                .extend(negative(zone, origin, &Owner::RawQuestion));
        }
        self.write(rcode, &found, out)
    }

    /// Writes a truncated answer into `out`.
    pub fn answer_truncated(&self, out: &mut Vec<u8>) -> ResponseFacts {
        let mut response =
            ResponseWriter::start(self.message, &self.query.question, Rcode::NoError, out);
        response.truncate(&self.query.question);
        response.end(self, Rcode::NoError, None)
    }

    fn write(&self, rcode: Rcode, found: &FoundRecords, out: &mut Vec<u8>) -> ResponseFacts {
        let question = &self.query.question;
        let mut response = ResponseWriter::start(self.message, question, rcode, out);
        for (section, set) in &found.sets {
            response.push_set(*section, set, question);
        }
        let ttl_s = found.sets.iter().map(|(_, set)| set.ttl_s).min();
        response.end(self, rcode, ttl_s)
    }
}

/// Writes a header alone into `out`, for messages with an unreadable question.
pub fn answer_bare(message: &[u8], rcode: Rcode, out: &mut Vec<u8>) -> ResponseFacts {
    out.clear();
    out.extend_from_slice(&response_flags(message, rcode));
    out.resize(HEADER_BYTES, 0);
    ResponseFacts {
        rcode,
        ttl_s: None,
        cookie_at: None,
    }
}

/// The types TKEY, TSIG, IXFR and AXFR: not questions for records, but exchanges unsupported by the
/// edge (RFC 5936 section 2.2.1).
const TYPES_OF_OTHER_EXCHANGES: std::ops::RangeInclusive<u16> = 249..=252;

#[derive(Debug, Default)]
struct FoundRecords {
    sets: Vec<(Section, OwnedSet)>,
}

/// The longest chain of CNAMEs to follow. A longer chain, or a loop, is an error (RFC 1034 section
/// 3.6.2).
const CHAIN_LIMIT_COUNT: usize = 16;

/// Resolves a query in the zone; `None` when the query name is outside the zone.
fn resolve(query: &Query<'_>, zone: &Zone) -> Option<(Rcode, FoundRecords)> {
    let mut found = FoundRecords::default();
    if query.edns.is_some_and(|edns| edns.version != 0) {
        return Some((Rcode::BadVers, found));
    }
    let question = &query.question;
    if question.qclass != CLASS_IN {
        return Some((Rcode::Refused, found));
    }
    if TYPES_OF_OTHER_EXCHANGES.contains(&question.qtype) {
        return Some((Rcode::NotImp, found));
    }
    if question.qtype == TYPE_ANY {
        return resolve_any(question, zone);
    }
    let mut name = question.name.to_vec();
    let mut owner = Owner::RawQuestion;
    for _ in 0..=CHAIN_LIMIT_COUNT {
        match zone.lookup(&name, question.qtype) {
            Lookup::Records(set) => {
                found.sets.push((Section::Answer, owned(owner, set)));
                if set.record_type != TYPE_CNAME || question.qtype == TYPE_CNAME {
                    return Some((Rcode::NoError, found));
                }
                name.clone_from(&set.contents[0]);
                owner = Owner::Other(name.clone());
            }
            Lookup::NoData(origin) => {
                found.sets.extend(negative(zone, origin, &owner));
                return Some((Rcode::NoError, found));
            }
            Lookup::NoName(origin) => {
                found.sets.extend(negative(zone, origin, &owner));
                return Some((Rcode::NxDomain, found));
            }
            Lookup::NotOurs if found.sets.is_empty() => return None,
            Lookup::NotOurs => return Some((Rcode::NoError, found)),
        }
    }
    Some((Rcode::ServFail, FoundRecords::default()))
}

/// Answers ANY with a synthetic HINFO (RFC 8482 section 4.2).
fn resolve_any(question: &RawQuestion<'_>, zone: &Zone) -> Option<(Rcode, FoundRecords)> {
    let mut found = FoundRecords::default();
    let rcode = match zone.lookup(question.name, TYPE_ANY) {
        Lookup::NotOurs => return None,
        Lookup::NoName(origin) => {
            found
                .sets
                .extend(negative(zone, origin, &Owner::RawQuestion));
            Rcode::NxDomain
        }
        Lookup::NoData(_) | Lookup::Records(_) => {
            let set = OwnedSet {
                owner: Owner::RawQuestion,
                record_type: TYPE_HINFO,
                ttl_s: DEFAULT_TTL_S,
                contents: vec![b"\x07RFC8482\x00".to_vec()],
            };
            found.sets.push((Section::Answer, set));
            Rcode::NoError
        }
    };
    Some((rcode, found))
}

/// Returns the SOA for caching a negative answer, with the TTL of RFC 2308 section 5.
fn negative(zone: &Zone, origin: &[u8], request: &Owner) -> Option<(Section, OwnedSet)> {
    let Lookup::Records(set) = zone.lookup(origin, TYPE_SOA) else {
        return None;
    };
    let owner = match request {
        Owner::RawQuestion => Owner::Suffix(origin.len()),
        Owner::Suffix(_) | Owner::Other(_) => Owner::Other(origin.to_vec()),
    };
    let mut set = owned(owner, set);
    if let Some(minimum_s) = set.contents.first().and_then(|soa| soa_minimum_s(soa)) {
        set.ttl_s = set.ttl_s.min(minimum_s);
    }
    Some((Section::Authority, set))
}

fn owned(owner: Owner, set: &RecordSet) -> OwnedSet {
    OwnedSet {
        owner,
        record_type: set.record_type,
        ttl_s: set.ttl_s,
        contents: set.contents.clone(),
    }
}
