//! A cache of encoded answers. Some fields differ between two queries for the same answer: id,
//! flags, the question's case, cookies. Others change with time: TTLs. These fields are overwritten
//! in a copy.
//!
//! For: bytes by question and by the EDNS facts relevant to an answer. The size is bounded by two
//! generations; when the younger is full, the older is dropped. Not for: the choice of the answers.

use crate::dns::answer::{
    AnswerRequest, ResponseFacts, TransportLimits, authentic_flag, datagram_limit, response_flags,
};
use crate::dns::wire::{CLASS_IN, HEADER_BYTES, TYPE_OPT, skip_name, u16_at};
use resolab_record::WireCacheSummary;
use std::collections::HashMap;

/// The maximum of answers, and of bytes, in a generation.
const GENERATION_COUNT_MAX: usize = 32_768;
const GENERATION_BYTES_MAX: usize = 16 << 20;
/// The maximum length of a cached answer, in bytes; longer answers are rare and always built anew.
const ENTRY_BYTES_MAX: usize = 8_192;
/// The maximum TTL of a cached answer: seven days, for any upstream TTL (RFC 8767 section 4).
const TTL_MAX_S: u32 = 604_800;
const FLAG_TRUNCATED: u8 = 0x02;
/// The flags AD and CD of a query, in its fourth byte: upstream's answer depends on both.
const FLAGS_OF_VALIDATION: u8 = 0x30;
const NS_PER_S: u64 = 1_000_000_000;

/// The maximum key length, in bytes: name, type, class, channel with the facts of EDNS and of the
/// flags, and the datagram limit.
const KEY_BYTES_MAX: usize = 255 + 4 + 1 + 2;

/// The key of an entry.
struct CacheKey {
    bytes: [u8; KEY_BYTES_MAX],
    length: usize,
}

impl CacheKey {
    /// Returns the key of a query; `None` for queries without cached answers.
    fn from_request(request: &AnswerRequest<'_>) -> Option<Self> {
        let (question, edns) = (&request.query.question, request.query.edns);
        if question.qclass != CLASS_IN || edns.is_some_and(|edns| edns.version != 0) {
            return None;
        }
        if request.client_subnet().is_some() {
            return None;
        }
        let mut key = Self {
            bytes: [0; KEY_BYTES_MAX],
            length: 0,
        };
        let limits = match request.limits {
            TransportLimits::Datagram => 0,
            TransportLimits::Stream => 1,
            TransportLimits::Encrypted => 2,
        };
        let facts = edns.map_or(0, |edns| {
            0x80 | u8::from(edns.dnssec_ok) << 6
                | u8::from(edns.padded) << 5
                | u8::from(edns.client_cookie.is_some()) << 4
        });
        let validation = (request.message[3] & FLAGS_OF_VALIDATION) >> 2;
        let limit = match request.limits {
            TransportLimits::Datagram => datagram_limit(edns) as u16,
            TransportLimits::Stream | TransportLimits::Encrypted => 0,
        };
        key.push(question.name);
        // Lengths of labels are below 64 and no letters.
        key.bytes[..key.length].make_ascii_lowercase();
        key.push(&question.qtype.to_be_bytes());
        key.push(&[limits | facts | validation]);
        key.push(&limit.to_be_bytes());
        Some(key)
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[derive(Debug)]
struct CachedAnswer {
    message: Box<[u8]>,
    facts: ResponseFacts,
    /// The positions of decreasing TTLs, and the start of the decrease in ns.
    counting: Option<(Box<[u16]>, u64)>,
}

impl CachedAnswer {
    fn age_s(&self, now_ns: u64) -> u32 {
        self.counting.as_ref().map_or(0, |(_, since_ns)| {
            u32::try_from(now_ns.saturating_sub(*since_ns) / NS_PER_S).unwrap_or(u32::MAX)
        })
    }

    /// Returns true when the TTL of an ageing answer has expired.
    fn is_over(&self, now_ns: u64) -> bool {
        let age_s = self.age_s(now_ns);
        age_s > 0 && self.facts.ttl_s.is_some_and(|ttl_s| ttl_s <= age_s)
    }

    fn write(&self, request: &AnswerRequest<'_>, now_ns: u64, out: &mut Vec<u8>) -> ResponseFacts {
        out.clear();
        out.extend_from_slice(&self.message);
        let truncated = out[2] & FLAG_TRUNCATED;
        let authentic = authentic_flag(out, request);
        out[..4].copy_from_slice(&response_flags(request.message, self.facts.rcode));
        out[2] |= truncated;
        out[3] |= authentic;
        let name = request.query.question.name;
        out[HEADER_BYTES..HEADER_BYTES + name.len()].copy_from_slice(name);
        let client_cookie = request.query.edns.and_then(|edns| edns.client_cookie);
        if let (Some(at), Some(client_cookie)) = (self.facts.cookie_at, client_cookie) {
            let at = usize::from(at);
            out[at..at + 8].copy_from_slice(&client_cookie);
            out[at + 8..at + 16].copy_from_slice(&request.server_cookie);
        }
        let mut facts = self.facts;
        let age_s = self.age_s(now_ns);
        if age_s > 0 {
            facts.ttl_s = facts.ttl_s.map(|ttl_s| ttl_s.saturating_sub(age_s));
            let offsets = self.counting.iter().flat_map(|(offsets, _)| offsets);
            change_ttls(out, offsets, |ttl_s| ttl_s.saturating_sub(age_s));
        }
        facts
    }
}

#[derive(Default)]
struct CacheGeneration {
    entries: HashMap<Box<[u8]>, CachedAnswer>,
    bytes: usize,
}

impl CacheGeneration {
    fn find(
        &self,
        key: &CacheKey,
        request: &AnswerRequest<'_>,
        now_ns: u64,
        out: &mut Vec<u8>,
    ) -> Option<ResponseFacts> {
        let entry = self.entries.get(key.as_bytes())?;
        (!entry.is_over(now_ns)).then(|| entry.write(request, now_ns, out))
    }
}

/// The cache of encoded answers.
#[derive(Default)]
pub struct WireCache {
    young: CacheGeneration,
    old: CacheGeneration,
    hit_count: u64,
    miss_count: u64,
    invalidation_count: u64,
}

impl WireCache {
    /// Writes the cached answer, adapted to this query, into `out`.
    pub fn find(
        &mut self,
        request: &AnswerRequest<'_>,
        now_ns: u64,
        out: &mut Vec<u8>,
    ) -> Option<ResponseFacts> {
        let key = CacheKey::from_request(request)?;
        let mut facts = self.young.find(&key, request, now_ns, out);
        if facts.is_none()
            && let Some((kept, entry)) = self.old.entries.remove_entry(key.as_bytes())
        {
            // What is asked for stays when the old ones go.
            self.put(kept, entry);
            facts = self.young.find(&key, request, now_ns, out);
        }
        let count = match facts {
            Some(_) => &mut self.hit_count,
            None => &mut self.miss_count,
        };
        *count += 1;
        facts
    }

    /// Stores an answer. With `counts_down`, the TTLs decrease from now on.
    pub fn keep(
        &mut self,
        request: &AnswerRequest<'_>,
        message: &[u8],
        facts: ResponseFacts,
        counts_down: bool,
        now_ns: u64,
    ) {
        let Some(key) =
            CacheKey::from_request(request).filter(|_| message.len() <= ENTRY_BYTES_MAX)
        else {
            return;
        };
        let counting = if counts_down {
            match (facts.ttl_s, ttl_offsets(message)) {
                (Some(1..), Some(offsets)) => Some((offsets.into_boxed_slice(), now_ns)),
                // Nothing says how long it may be kept.
                _ => return,
            }
        } else {
            None
        };
        let entry = CachedAnswer {
            message: message.into(),
            facts,
            counting,
        };
        self.put(key.as_bytes().into(), entry);
    }

    fn put(&mut self, key: Box<[u8]>, entry: CachedAnswer) {
        let is_full = self.young.entries.len() >= GENERATION_COUNT_MAX
            || self.young.bytes >= GENERATION_BYTES_MAX;
        if is_full {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.bytes += key.len() + entry.message.len();
        if let Some(before) = self.young.entries.insert(key, entry) {
            self.young.bytes = self.young.bytes.saturating_sub(before.message.len());
        }
    }

    /// Forgets all answers after a change of the zone or behaviours.
    pub fn invalidate(&mut self) {
        self.young = CacheGeneration::default();
        self.old = CacheGeneration::default();
        self.invalidation_count += 1;
    }

    /// Returns the counts of the cache.
    pub fn summary(&self) -> WireCacheSummary {
        let asked_count = self.hit_count + self.miss_count;
        let entries = || self.young.entries.values().chain(self.old.entries.values());
        WireCacheSummary {
            hit_count: self.hit_count,
            miss_count: self.miss_count,
            hit_ratio: (asked_count > 0).then(|| self.hit_count as f64 / asked_count as f64),
            entry_count: entries().count() as u64,
            entry_bytes: entries().map(|entry| entry.message.len() as u64).sum(),
            invalidation_count: self.invalidation_count,
        }
    }
}

/// Limits the TTLs of a response before caching, so the TTLs equal the time in the cache.
pub fn bound_ttls(message: &mut [u8], facts: &mut ResponseFacts) {
    facts.ttl_s = facts.ttl_s.map(|ttl_s| ttl_s.min(TTL_MAX_S));
    let offsets = ttl_offsets(message).unwrap_or_default();
    change_ttls(message, &offsets, |ttl_s| ttl_s.min(TTL_MAX_S));
}

fn change_ttls<'a>(
    message: &mut [u8],
    offsets: impl IntoIterator<Item = &'a u16>,
    change: impl Fn(u32) -> u32,
) {
    for at in offsets {
        let rest = message.get_mut(usize::from(*at)..);
        if let Some(bytes) = rest.and_then(<[u8]>::first_chunk_mut::<4>) {
            *bytes = change(u32::from_be_bytes(*bytes)).to_be_bytes();
        }
    }
}

/// Returns the positions of the TTLs of a response's records, except OPT. `None` for an unreadable
/// response.
fn ttl_offsets(message: &[u8]) -> Option<Vec<u16>> {
    let mut at = HEADER_BYTES;
    for _ in 0..u16_at(message, 4)? {
        at = skip_name(message, at, true)? + 4;
    }
    let mut offsets = Vec::new();
    let record_count: u32 = [6, 8, 10]
        .into_iter()
        .map(|at| u16_at(message, at).map_or(0, u32::from))
        .sum();
    for _ in 0..record_count {
        let fixed = skip_name(message, at, true)?;
        if u16_at(message, fixed)? != TYPE_OPT {
            offsets.push(u16::try_from(fixed + 4).ok()?);
        }
        at = fixed + 10 + usize::from(u16_at(message, fixed + 8)?);
    }
    (at == message.len()).then_some(offsets)
}

#[cfg(test)]
mod tests;
