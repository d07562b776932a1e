//! Decides the answer to a DNS message from the zone, the names' behaviours and the wire-format
//! cache, and keeps the three consistent. Pure: the time is an argument, and the caller waits.
//!
//! For: a decision on each message. Not for: sockets, records or asking upstream.

use crate::dns::answer::{
    AnswerRequest, ResponseFacts, ResponseWriter, TransportLimits, answer_bare,
};
use crate::dns::behaviour::{Behaviours, QueryTreatment};
use crate::dns::early_data;
use crate::dns::wire::{Query, QueryError, RawQuestion, Rcode};
use crate::dns::wire_cache::{WireCache, bound_ttls};
use crate::dns::zone::Zone;
use resolab_record::{DnsTransport, EdgeSummaryRecord, FailureMode};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;

/// The constant settings of the resolver.
#[derive(Debug, Clone, Copy)]
pub struct ResolverSettings {
    /// The padding block for responses on encrypted transports, in bytes; 0: no padding.
    pub padding_block_bytes: u16,
    /// True when encoded answers are cached.
    pub wire_cache: bool,
    /// The scope of answers, in bits of the client's address, for clients with a client subnet
    /// option. `None`: answers have no option.
    pub client_subnet_scope: Option<u8>,
    /// True when names outside the zone are forwarded upstream.
    pub forwards: bool,
    /// True when upstream answers are cached for their TTL.
    pub caches_forwarded: bool,
}

impl Default for ResolverSettings {
    fn default() -> Self {
        Self {
            padding_block_bytes: 468,
            wire_cache: true,
            client_subnet_scope: None,
            forwards: false,
            caches_forwarded: false,
        }
    }
}

/// The decision on a message. Without an answer and without forwarding nothing is sent.
#[derive(Debug, Clone, Copy)]
pub struct ResolverDecision<'a> {
    /// The facts of the response in the buffer.
    pub answer: Option<ResponseFacts>,
    /// True when upstream gives the answer.
    pub forward: bool,
    /// The delay and failure of the name.
    pub treatment: QueryTreatment,
    /// The question, if readable.
    pub question: Option<RawQuestion<'a>>,
    /// True when the query had an edns-tcp-keepalive option.
    pub keepalive_asked: bool,
}

/// The transport, client and time of a message.
#[derive(Debug, Clone, Copy)]
pub struct MessageContext {
    /// The transport of the message.
    pub transport: DnsTransport,
    /// The client's IP address, for server cookies.
    pub peer: IpAddr,
    /// The arrival time, in ns.
    pub now_ns: u64,
    /// True when the message arrived in early data, which an attacker may repeat.
    pub in_early_data: bool,
}

impl MessageContext {
    fn limits(self) -> TransportLimits {
        match self.transport {
            DnsTransport::Doudp => TransportLimits::Datagram,
            DnsTransport::Dotcp => TransportLimits::Stream,
            DnsTransport::Dot | DnsTransport::Doh | DnsTransport::Doh3 | DnsTransport::Doq => {
                TransportLimits::Encrypted
            }
        }
    }
}

#[derive(Debug, Default)]
struct ResolverCounts {
    queries: [u64; DnsTransport::ALL.len()],
    /// The counts of named codes; other codes come from upstream.
    rcodes: [u64; Rcode::NAMED.len()],
    unanswered: u64,
    delayed: u64,
    failed_on_purpose: u64,
    forwarded: u64,
    forward_failed: u64,
}

/// The complete state for DNS answers.
pub struct Resolver {
    settings: ResolverSettings,
    zone: Zone,
    behaviours: Behaviours,
    cache: WireCache,
    cookie_key: RandomState,
    counts: ResolverCounts,
}

impl Resolver {
    /// Makes a resolver with an empty cache.
    pub fn new(settings: ResolverSettings, zone: Zone, behaviours: Behaviours) -> Self {
        Self {
            settings,
            zone,
            behaviours,
            cache: WireCache::default(),
            cookie_key: RandomState::new(),
            counts: ResolverCounts::default(),
        }
    }

    /// Uses the same server cookies as another resolver.
    #[cfg(any(test, fuzzing))]
    pub fn share_cookies(&mut self, other: &Self) {
        self.cookie_key = other.cookie_key.clone();
    }

    /// Changes the zone and empties the cache.
    pub fn change_zone<T>(&mut self, change: impl FnOnce(&mut Zone) -> T) -> T {
        self.cache.invalidate();
        change(&mut self.zone)
    }

    /// Changes the names' behaviours and empties the cache.
    pub fn change_behaviours<T>(&mut self, change: impl FnOnce(&mut Behaviours) -> T) -> T {
        self.cache.invalidate();
        change(&mut self.behaviours)
    }

    /// Decides on a message, and writes an immediate response into `out`.
    pub fn judge<'a>(
        &mut self,
        message: &'a [u8],
        context: MessageContext,
        out: &mut Vec<u8>,
    ) -> ResolverDecision<'a> {
        self.counts.queries[context.transport.index()] += 1;
        let mut decision = match Query::parse(message) {
            Ok(query) => self.judge_query(message, query, context, out),
            Err(error) => ResolverDecision {
                answer: unreadable(message, error, out),
                forward: false,
                treatment: QueryTreatment::default(),
                question: None,
                keepalive_asked: false,
            },
        };
        if context.in_early_data && !early_data::is_repeatable(message) {
            decision.answer = early_data::too_early(message, out);
        }
        self.count(&decision);
        decision
    }

    fn judge_query<'a>(
        &mut self,
        message: &'a [u8],
        query: Query<'a>,
        context: MessageContext,
        out: &mut Vec<u8>,
    ) -> ResolverDecision<'a> {
        let treatment = self
            .behaviours
            .draw(query.question.name)
            .unwrap_or_default();
        let request = self.request(message, query, context);
        let failed = treatment
            .failure
            .and_then(|mode| self.fail(mode, &request, out));
        let (answer, forward) = match failed {
            Some(facts) => (Some(facts), false),
            None if treatment.failure == Some(FailureMode::Drop) => (None, false),
            None => self.answer(&request, context.now_ns, out),
        };
        ResolverDecision {
            answer,
            forward,
            treatment,
            question: Some(query.question),
            keepalive_asked: query.edns.is_some_and(|edns| edns.keepalive),
        }
    }

    fn request<'a>(
        &self,
        message: &'a [u8],
        query: Query<'a>,
        context: MessageContext,
    ) -> AnswerRequest<'a> {
        // RFC 7873 section 5.2: a hash of the client's address and cookie under a secret.
        let cookie = query.edns.and_then(|edns| edns.client_cookie);
        let server_cookie = cookie.map_or([0; 8], |cookie| {
            self.cookie_key
                .hash_one((context.peer, cookie))
                .to_be_bytes()
        });
        AnswerRequest {
            message,
            query,
            limits: context.limits(),
            padding_block_bytes: self.settings.padding_block_bytes,
            server_cookie,
            client_subnet_scope: self.settings.client_subnet_scope,
        }
    }

    /// Returns the answer, and true when upstream gives the answer.
    fn answer(
        &mut self,
        request: &AnswerRequest<'_>,
        now_ns: u64,
        out: &mut Vec<u8>,
    ) -> (Option<ResponseFacts>, bool) {
        if self.settings.wire_cache
            && let Some(facts) = self.cache.find(request, now_ns, out)
        {
            return (Some(facts), false);
        }
        match request.answer(&self.zone, out) {
            Some(facts) => {
                if self.settings.wire_cache {
                    self.cache.keep(request, out, facts, false, now_ns);
                }
                (Some(facts), false)
            }
            None if self.settings.forwards => (None, true),
            None => (
                Some(request.answer_code(Rcode::Refused, &self.zone, out)),
                false,
            ),
        }
    }

    /// Writes the answer of a failure mode; `None` for a mode without its own answer.
    fn fail(
        &self,
        mode: FailureMode,
        request: &AnswerRequest<'_>,
        out: &mut Vec<u8>,
    ) -> Option<ResponseFacts> {
        let rcode = match mode {
            FailureMode::Nxdomain => Rcode::NxDomain,
            FailureMode::Servfail => Rcode::ServFail,
            FailureMode::Refused => Rcode::Refused,
            FailureMode::Truncated if request.limits == TransportLimits::Datagram => {
                return Some(request.answer_truncated(out));
            }
            FailureMode::Truncated | FailureMode::Drop => return None,
        };
        Some(request.answer_code(rcode, &self.zone, out))
    }

    /// Turns upstream's response (without OPT, in `out`) into the answer to `message`. With `None`
    /// the answer is SERVFAIL. Returns `None` when the message was not a query.
    pub fn finish_forwarded(
        &mut self,
        message: &[u8],
        context: MessageContext,
        upstream: Option<(Rcode, Option<u32>)>,
        out: &mut Vec<u8>,
    ) -> Option<ResponseFacts> {
        let query = Query::parse(message).ok()?;
        let request = self.request(message, query, context);
        let said = upstream.filter(|(rcode, _)| query.edns.is_some() || rcode.number() < 16);
        let Some((rcode, ttl_s)) = said else {
            self.counts.forward_failed += u64::from(upstream.is_none());
            return Some(request.answer_code(Rcode::ServFail, &self.zone, out));
        };
        let response = ResponseWriter::adopt(&request, rcode, out);
        let mut facts = response.end(&request, rcode, ttl_s);
        if self.settings.wire_cache && self.settings.caches_forwarded {
            bound_ttls(out, &mut facts);
            self.cache.keep(&request, out, facts, true, context.now_ns);
        }
        Some(facts)
    }

    fn count(&mut self, decision: &ResolverDecision<'_>) {
        let counts = &mut self.counts;
        counts.delayed += u64::from(decision.treatment.delay_ns > 0);
        counts.failed_on_purpose += u64::from(decision.treatment.failure.is_some());
        counts.forwarded += u64::from(decision.forward);
        match decision.answer {
            Some(facts) => {
                let at = Rcode::NAMED.iter().position(|rcode| *rcode == facts.rcode);
                if let Some(at) = at {
                    counts.rcodes[at] += 1;
                }
            }
            None => counts.unanswered += u64::from(!decision.forward),
        }
    }

    /// Returns the counts so far.
    pub fn summary(&self, label: Option<String>, now_ns: u64) -> EdgeSummaryRecord {
        let counts = &self.counts;
        let queries = DnsTransport::ALL.iter().zip(counts.queries);
        let rcodes = Rcode::NAMED.iter().zip(counts.rcodes);
        let seen = |(name, count): (String, u64)| (count > 0).then_some((name, count));
        EdgeSummaryRecord {
            label,
            monotonic_ns: now_ns,
            queries: queries
                .filter_map(|(transport, count)| seen((transport.text().to_owned(), count)))
                .collect::<BTreeMap<_, _>>(),
            rcodes: rcodes
                .filter_map(|(rcode, count)| seen((rcode.text(), count)))
                .collect::<BTreeMap<_, _>>(),
            unanswered_count: counts.unanswered,
            delayed_count: counts.delayed,
            failed_on_purpose_count: counts.failed_on_purpose,
            forwarded_count: counts.forwarded,
            forward_failed_count: counts.forward_failed,
            wire_cache: self.settings.wire_cache.then(|| self.cache.summary()),
            connections: None,
        }
    }
}

/// Answers an unreadable message; `None`: no answer.
fn unreadable(message: &[u8], error: QueryError, out: &mut Vec<u8>) -> Option<ResponseFacts> {
    match error {
        QueryError::Unanswerable => None,
        QueryError::Malformed => Some(answer_bare(message, Rcode::FormErr, out)),
        QueryError::OpcodeUnknown => Some(answer_bare(message, Rcode::NotImp, out)),
    }
}

#[cfg(test)]
mod tests;
