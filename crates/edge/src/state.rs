//! The shared state of every connection of the edge: the zone, the sites, the names, and the output
//! of records.
//!
//! For: answering a DNS message or finding a site, with its record. Not for: sockets.

use crate::coalescing::Coalescing;
use crate::config::EdgeConfig;
use crate::config::names::{NameConfig, QueryRecords};
use crate::connections::{Connections, OpenConnection, RecordSink};
use crate::dns::answer::ResponseFacts;
use crate::dns::behaviour::Behaviours;
use crate::dns::resolver::{MessageContext, Resolver, ResolverDecision, ResolverSettings};
use crate::dns::wire::{name_text, type_text};
use crate::forward::Forwarder;
use crate::web::Site;
use crate::web::names::{self, wildcard_of};
use crate::web::settings::{SiteConfig, WebConfig};
use crate::zone_setup::build_zone;
use bytes::Bytes;
use resolab_record::{ConnectionsSummary, DnsTransport, EdgeQueryRecord, FailureMode, Record};
use resolab_transport::clock::monotonic_ns;
use resolab_transport::exact_timer::wait_until;
use resolab_transport::server::ServerPolicies;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The shared state; changes inside are rare (commands), reads are short.
pub struct EdgeState {
    /// The names, certificates and ticket policies.
    pub policies: Arc<ServerPolicies>,
    /// The register of open connections.
    pub connections: Connections,
    /// The output of records.
    pub sink: RecordSink,
    /// The common settings of all sites.
    pub web: WebConfig,
    /// The resolver's name and DoH path; `None` for a web server only.
    pub doh: Option<DohLocation>,
    /// The uses of the resolver's connections beside DNS.
    pub coalescing: Coalescing,
    /// True when messages with several questions are answered, for clients accepting partial
    /// responses.
    pub gives_partial_responses: bool,
    /// The padding block for responses on encrypted transports, in bytes; 0: no padding.
    pub padding_block_bytes: u16,
    forwarder: Option<Forwarder>,
    query_records: QueryRecords,
    resolver: Mutex<Resolver>,
    sites: RwLock<HashMap<String, Arc<Site>>>,
}

/// The host name, addresses and path of DoH.
#[derive(Debug, Clone)]
pub struct DohLocation {
    /// The resolver's host name.
    pub name: String,
    /// The addresses, for clients without a name.
    pub addresses: Vec<IpAddr>,
    /// The path of DoH's URLs.
    pub path: String,
}

/// A DNS query on its arrival.
pub struct QueryArrival<'a> {
    /// The query message in wire form.
    pub message: &'a [u8],
    /// The transport of the query.
    pub transport: DnsTransport,
    /// The client's address and port.
    pub peer: SocketAddr,
    /// The connection, if there is one.
    pub connection: Option<&'a OpenConnection>,
    /// True when the query came as early data; `None` without TLS.
    pub in_early_data: Option<bool>,
    /// The arrival time of the whole message, in ns.
    pub received_ns: u64,
}

/// The part of a query's record known at the decision; `None` when queries are only counted.
pub struct QueryRecordDraft(Option<Box<EdgeQueryRecord>>);

/// A response ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyResponse {
    /// The response message in wire form.
    pub message: Vec<u8>,
    /// The smallest TTL of the response, in s.
    pub ttl_s: Option<u32>,
}

/// The decision on a query.
pub struct QueryPlan {
    /// The facts of the response, if any; the response is in the buffer unless forwarded.
    pub answer: Option<ResponseFacts>,
    /// True when the client gets no answer and must wait forever.
    pub is_withheld: bool,
    /// True when the query had an edns-tcp-keepalive option.
    pub keepalive_asked: bool,
    /// The note for the query's record.
    pub note: QueryRecordDraft,
    due_ns: Option<u64>,
    forward: bool,
}

impl QueryPlan {
    /// Returns true when the answer is immediate; else [`EdgeState::finish`] waits for the answer.
    pub fn is_due(&self) -> bool {
        self.due_ns.is_none() && !self.forward
    }

    /// Returns true when the query certainly gets no answer.
    pub fn is_unanswered(&self) -> bool {
        self.is_withheld || (self.is_due() && self.answer.is_none())
    }
}

/// The result of a query.
pub struct QueryReply {
    /// The response, if there is one.
    pub answer: Option<ReadyResponse>,
    /// True when the client gets no answer and must wait forever.
    pub is_withheld: bool,
    /// True when the query had an edns-tcp-keepalive option.
    pub keepalive_asked: bool,
    /// The note for the query's record.
    pub note: QueryRecordDraft,
}

impl EdgeState {
    /// Makes the state from a configuration, with its zone and without sites. Errors with the name
    /// of the wrong value.
    pub fn new(
        config: &EdgeConfig,
        policies: Arc<ServerPolicies>,
        sink: RecordSink,
    ) -> Result<Self, String> {
        let doh = config.resolver.as_ref().map(|resolver| DohLocation {
            name: resolver.name.to_ascii_lowercase(),
            addresses: resolver.addresses.clone(),
            path: resolver.doh_path.clone(),
        });
        let forward = config
            .resolver
            .as_ref()
            .and_then(|resolver| resolver.forward.as_ref());
        let mut behaviours = Behaviours::default();
        for name in &config.names {
            name.add_to(&mut behaviours)?;
        }
        let settings = settings_of(config);
        let resolver = Resolver::new(settings, build_zone(config)?, behaviours);
        Ok(Self {
            gives_partial_responses: config
                .resolver
                .as_ref()
                .is_some_and(|resolver| resolver.partial_responses),
            padding_block_bytes: settings.padding_block_bytes,
            policies,
            connections: Connections::new(Arc::clone(&sink), config.limits.clone()),
            sink,
            web: config.web.clone(),
            doh,
            coalescing: Coalescing::new(config),
            forwarder: forward.map(Forwarder::new).transpose()?,
            query_records: config.written.queries,
            resolver: Mutex::new(resolver),
            sites: RwLock::default(),
        })
    }

    /// Decides on a message, and writes an immediate response into `out`.
    pub fn plan(&self, arrival: &QueryArrival<'_>, out: &mut Vec<u8>) -> QueryPlan {
        let decision = self
            .resolver()
            .judge(arrival.message, arrival.context(), out);
        if let Some(connection) = arrival.connection {
            connection.count_query();
        }
        let treatment = decision.treatment;
        let due_ns = (treatment.delay_ns > 0).then(|| arrival.received_ns + treatment.delay_ns);
        let note = match self.query_records {
            QueryRecords::Each => Some(Box::new(note(arrival, &decision, out.len()))),
            QueryRecords::Count => None,
        };
        QueryPlan {
            answer: decision.answer,
            is_withheld: treatment.failure == Some(FailureMode::Drop),
            keepalive_asked: decision.keepalive_asked,
            note: QueryRecordDraft(note),
            due_ns,
            forward: decision.forward,
        }
    }

    /// Waits until a decided answer is due, and asks upstream if necessary. `message` is the buffer
    /// written by [`EdgeState::plan`].
    pub async fn finish(
        &self,
        arrival: &QueryArrival<'_>,
        mut plan: QueryPlan,
        mut message: Vec<u8>,
    ) -> QueryReply {
        if let Some(due_ns) = plan.due_ns {
            wait_until(due_ns).await;
        }
        if plan.forward {
            plan.answer = self.forward(arrival, &mut message).await;
            if let (Some(note), Some(facts)) = (&mut plan.note.0, plan.answer) {
                note.rcode = Some(facts.rcode.text());
                note.response_bytes = Some(message.len() as u32);
            }
        }
        QueryReply {
            answer: plan.answer.map(|facts| ReadyResponse {
                message,
                ttl_s: facts.ttl_s,
            }),
            is_withheld: plan.is_withheld,
            keepalive_asked: plan.keepalive_asked,
            note: plan.note,
        }
    }

    /// Decides on a query and finishes the answer.
    pub async fn answer(&self, arrival: &QueryArrival<'_>) -> QueryReply {
        let mut message = Vec::new();
        let plan = self.plan(arrival, &mut message);
        self.finish(arrival, plan, message).await
    }

    async fn forward(
        &self,
        arrival: &QueryArrival<'_>,
        out: &mut Vec<u8>,
    ) -> Option<ResponseFacts> {
        let forwarded = match &self.forwarder {
            Some(forwarder) => forwarder.ask(arrival.message, arrival.received_ns).await,
            None => None,
        };
        let known = forwarded.map(|forwarded| {
            *out = forwarded.message;
            (forwarded.rcode, forwarded.ttl_s)
        });
        let context = MessageContext {
            now_ns: monotonic_ns(),
            ..arrival.context()
        };
        self.resolver()
            .finish_forwarded(arrival.message, context, known, out)
    }

    /// Writes a query's record; `sent` is true when the answer was passed to the connection.
    pub fn write_query(&self, note: QueryRecordDraft, sent: bool) {
        let Some(mut record) = note.0 else { return };
        if sent {
            record.answered_ns = Some(monotonic_ns());
        } else {
            record.rcode = None;
            record.response_bytes = None;
        }
        (self.sink)(Record::EdgeQuery(*record));
    }

    /// Writes the summary of the counts so far.
    pub fn write_summary(&self, label: Option<String>, connections: ConnectionsSummary) {
        let mut summary = self.resolver().summary(label, monotonic_ns());
        summary.connections = Some(connections);
        (self.sink)(Record::EdgeSummary(Box::new(summary)));
    }

    /// Changes the behaviour of a name from now on.
    pub fn set_name_behaviour(&self, name: &NameConfig) -> Result<(), String> {
        self.resolver()
            .change_behaviours(|behaviours| name.add_to(behaviours))
    }

    /// Activates a loaded site.
    pub fn put_site(&self, host: &str, site: Site) {
        let mut sites = self.sites.write().unwrap_or_else(PoisonError::into_inner);
        sites.insert(host.to_ascii_lowercase(), Arc::new(site));
    }

    /// Adds a site's records to the zone, replacing all records of the name. The zone of the
    /// configuration already has the records of the configured sites; this call is for other sites.
    pub fn name_site(&self, config: &SiteConfig) -> Result<(), String> {
        self.resolver()
            .change_zone(|zone| names::add_site(zone, config))
    }

    /// Removes a site and the records of its name; requests under way keep their data. Returns
    /// `false` without such a site.
    pub fn remove_site(&self, host: &str) -> Result<bool, String> {
        let mut sites = self.sites.write().unwrap_or_else(PoisonError::into_inner);
        if sites.remove(&host.to_ascii_lowercase()).is_none() {
            return Ok(false);
        }
        self.resolver()
            .change_zone(|zone| names::remove_site(zone, host))
            .map(|()| true)
    }

    /// Returns the site of a host, else the site of the wildcard above.
    pub fn site(&self, host: &str) -> Option<Arc<Site>> {
        let host = host.to_ascii_lowercase();
        let sites = self.sites.read().unwrap_or_else(PoisonError::into_inner);
        let exact = sites.get(&host);
        exact.or_else(|| sites.get(&wildcard_of(&host)?)).cloned()
    }

    /// Returns the HTTP/3 control frames after SETTINGS on a connection.
    pub fn control_frames(&self, connection: &OpenConnection) -> Bytes {
        self.coalescing.control_frames(connection, || {
            let sites = self.sites.read().unwrap_or_else(PoisonError::into_inner);
            let mut hosts: Vec<_> = sites.keys().cloned().collect();
            hosts.sort_unstable();
            hosts
        })
    }

    /// Locks the resolver; never hold the lock across a wait.
    fn resolver(&self) -> MutexGuard<'_, Resolver> {
        self.resolver.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueryArrival<'_> {
    fn context(&self) -> MessageContext {
        MessageContext {
            transport: self.transport,
            peer: self.peer.ip(),
            now_ns: self.received_ns,
            in_early_data: self.in_early_data == Some(true),
        }
    }
}

fn note(
    arrival: &QueryArrival<'_>,
    decision: &ResolverDecision<'_>,
    response_bytes: usize,
) -> EdgeQueryRecord {
    let name = decision.question.map(|question| name_text(question.name));
    let qtype = decision.question.map(|question| type_text(question.qtype));
    EdgeQueryRecord {
        connection_id: arrival.connection.map(|connection| connection.id),
        dns_transport: arrival.transport,
        peer_address: arrival.peer,
        received_ns: arrival.received_ns,
        answered_ns: None,
        in_early_data: arrival.in_early_data,
        qname: name.unwrap_or_default(),
        qtype: qtype.unwrap_or_default(),
        rcode: decision.answer.map(|facts| facts.rcode.text()),
        query_bytes: arrival.message.len() as u32,
        response_bytes: decision.answer.map(|_| response_bytes as u32),
        delay_ns: Some(decision.treatment.delay_ns).filter(|&delay_ns| delay_ns > 0),
        failure_mode: decision.treatment.failure,
        forwarded: decision.forward,
    }
}

fn settings_of(config: &EdgeConfig) -> ResolverSettings {
    let Some(resolver) = &config.resolver else {
        return ResolverSettings::default();
    };
    let forward = resolver.forward.as_ref();
    ResolverSettings {
        padding_block_bytes: resolver.padding_block_bytes,
        wire_cache: resolver.wire_cache,
        client_subnet_scope: resolver.client_subnet_scope,
        forwards: forward.is_some(),
        caches_forwarded: forward.is_some_and(|forward| forward.cache),
    }
}
