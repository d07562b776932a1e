//! What every connection of the edge shares: the zone, the sites, the names, the records' way out.
//!
//! For: answering one DNS message or finding one site, with its record. Not for: sockets.

use crate::coalescing::Coalescing;
use crate::config::EdgeConfig;
use crate::config::names::{NameConfig, QueryRecords};
use crate::connections::{Connections, OpenConnection, RecordSink};
use crate::dns::answer::Facts;
use crate::dns::behaviour::Behaviours;
use crate::dns::early_data;
use crate::dns::resolver::{Resolver, ResolverSettings, Verdict, Way};
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

/// Shared state; interior changes are rare (commands), reads are short.
pub struct World {
    /// Names, certificates, ticket policies.
    pub policies: Arc<ServerPolicies>,
    /// Open connections.
    pub connections: Connections,
    /// Where records go.
    pub sink: RecordSink,
    /// Settings of all sites.
    pub web: WebConfig,
    /// The resolver's name and DoH path; `None` for a web server only.
    pub doh: Option<DohPlace>,
    /// What the resolver's connections serve beside DNS.
    pub coalescing: Coalescing,
    /// Whether messages with several questions are answered to clients that take partial responses.
    pub gives_partial_responses: bool,
    /// Multiple to which responses on encrypted transports are padded; 0: never.
    pub padding_block_bytes: u16,
    forwarder: Option<Forwarder>,
    query_records: QueryRecords,
    resolver: Mutex<Resolver>,
    sites: RwLock<HashMap<String, Arc<Site>>>,
}

/// Where DoH is served.
#[derive(Debug, Clone)]
pub struct DohPlace {
    /// Host name.
    pub name: String,
    /// Addresses, for clients that know no name.
    pub addresses: Vec<IpAddr>,
    /// Path of its URLs.
    pub path: String,
}

/// One DNS query as it came.
pub struct Arrival<'a> {
    /// The message.
    pub message: &'a [u8],
    /// What it came over.
    pub transport: DnsTransport,
    /// Who asks.
    pub peer: SocketAddr,
    /// Connection, if there is one.
    pub connection: Option<&'a OpenConnection>,
    /// Whether it came as early data; `None` without TLS.
    pub in_early_data: Option<bool>,
    /// When it was whole.
    pub received_ns: u64,
}

/// The part of a query's record that is known when it is planned; `None` where queries are counted.
pub struct QueryNote(Option<Box<EdgeQueryRecord>>);

/// A response on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The message.
    pub message: Vec<u8>,
    /// Smallest TTL.
    pub ttl_s: Option<u32>,
}

/// What is to be done about a query.
pub struct Planned {
    /// Whether there is a response, in the buffer unless it is forwarded.
    pub answer: Option<Facts>,
    /// Whether the client is to wait for ever.
    pub is_withheld: bool,
    /// Whether an edns-tcp-keepalive option was in it.
    pub keepalive_asked: bool,
    /// For its record.
    pub note: QueryNote,
    due_ns: Option<u64>,
    forward: bool,
}

impl Planned {
    /// Whether it can be answered at once; else [`World::finish`] waits as long as it takes.
    pub fn is_due(&self) -> bool {
        self.due_ns.is_none() && !self.forward
    }

    /// Whether it is known already that it gets no answer.
    pub fn is_unanswered(&self) -> bool {
        self.is_withheld || (self.is_due() && self.answer.is_none())
    }
}

/// The end of a query.
pub struct Reply {
    /// The response, if there is one.
    pub answer: Option<Answer>,
    /// Whether the client is to wait for ever.
    pub is_withheld: bool,
    /// Whether an edns-tcp-keepalive option was in the query.
    pub keepalive_asked: bool,
    /// For its record.
    pub note: QueryNote,
}

impl World {
    /// Zone from a configuration, no sites yet. `Err` names the value that is wrong.
    pub fn new(
        config: &EdgeConfig,
        policies: Arc<ServerPolicies>,
        sink: RecordSink,
    ) -> Result<Self, String> {
        let doh = config.resolver.as_ref().map(|resolver| DohPlace {
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

    /// Decide what becomes of a message; a response that is there already is put into `out`.
    pub fn plan(&self, arrival: &Arrival<'_>, out: &mut Vec<u8>) -> Planned {
        let mut verdict = self.resolver().judge(arrival.message, arrival.way(), out);
        if arrival.in_early_data == Some(true) && !early_data::is_repeatable(arrival.message) {
            verdict.answer = early_data::too_early(arrival.message, out);
        }
        if let Some(connection) = arrival.connection {
            connection.count_query();
        }
        let treatment = verdict.treatment;
        let due_ns = (treatment.delay_ns > 0).then(|| arrival.received_ns + treatment.delay_ns);
        let note = match self.query_records {
            QueryRecords::Each => Some(Box::new(note(arrival, &verdict, out.len()))),
            QueryRecords::Count => None,
        };
        Planned {
            answer: verdict.answer,
            is_withheld: treatment.failure == Some(FailureMode::Drop),
            keepalive_asked: verdict.keepalive_asked,
            note: QueryNote(note),
            due_ns,
            forward: verdict.forward,
        }
    }

    /// Wait until a planned answer is due and ask upstream where that is needed. `message` is what
    /// [`World::plan`] put into its buffer.
    pub async fn finish(
        &self,
        arrival: &Arrival<'_>,
        mut planned: Planned,
        mut message: Vec<u8>,
    ) -> Reply {
        if let Some(due_ns) = planned.due_ns {
            wait_until(due_ns).await;
        }
        if planned.forward {
            planned.answer = self.forward(arrival, &mut message).await;
            if let (Some(note), Some(facts)) = (&mut planned.note.0, planned.answer) {
                note.rcode = Some(facts.rcode.text());
                note.response_bytes = Some(message.len() as u32);
            }
        }
        Reply {
            answer: planned.answer.map(|facts| Answer {
                message,
                ttl_s: facts.ttl_s,
            }),
            is_withheld: planned.is_withheld,
            keepalive_asked: planned.keepalive_asked,
            note: planned.note,
        }
    }

    /// Plan and finish.
    pub async fn answer(&self, arrival: &Arrival<'_>) -> Reply {
        let mut message = Vec::new();
        let planned = self.plan(arrival, &mut message);
        self.finish(arrival, planned, message).await
    }

    async fn forward(&self, arrival: &Arrival<'_>, out: &mut Vec<u8>) -> Option<Facts> {
        let said = match &self.forwarder {
            Some(forwarder) => forwarder.ask(arrival.message, arrival.received_ns).await,
            None => None,
        };
        let known = said.map(|said| {
            *out = said.message;
            (said.rcode, said.ttl_s)
        });
        let way = Way {
            now_ns: monotonic_ns(),
            ..arrival.way()
        };
        self.resolver()
            .finish_forwarded(arrival.message, way, known, out)
    }

    /// Write a query's record: `sent` says whether the answer was handed to the connection.
    pub fn write_query(&self, note: QueryNote, sent: bool) {
        let Some(mut record) = note.0 else { return };
        if sent {
            record.answered_ns = Some(monotonic_ns());
        } else {
            record.rcode = None;
            record.response_bytes = None;
        }
        (self.sink)(Record::EdgeQuery(*record));
    }

    /// Write what was done so far.
    pub fn write_summary(&self, label: Option<String>, connections: ConnectionsSummary) {
        let mut summary = self.resolver().summary(label, monotonic_ns());
        summary.connections = Some(connections);
        (self.sink)(Record::EdgeSummary(Box::new(summary)));
    }

    /// Treat a name differently from now on.
    pub fn set_name_behaviour(&self, name: &NameConfig) -> Result<(), String> {
        self.resolver()
            .change_behaviours(|behaviours| name.add_to(behaviours))
    }

    /// Put a loaded site in force.
    pub fn put_site(&self, host: &str, site: Site) {
        let mut sites = self.sites.write().unwrap_or_else(PoisonError::into_inner);
        sites.insert(host.to_ascii_lowercase(), Arc::new(site));
    }

    /// Put a site's records into the zone, instead of all there are of its name: for sites that the
    /// configuration, whose zone has them, did not know.
    pub fn name_site(&self, config: &SiteConfig) -> Result<(), String> {
        self.resolver()
            .change_zone(|zone| names::add_site(zone, config))
    }

    /// Take a site and its name's records away; requests under way keep what they have. `false`
    /// when there is none.
    pub fn remove_site(&self, host: &str) -> Result<bool, String> {
        let mut sites = self.sites.write().unwrap_or_else(PoisonError::into_inner);
        if sites.remove(&host.to_ascii_lowercase()).is_none() {
            return Ok(false);
        }
        self.resolver()
            .change_zone(|zone| names::remove_site(zone, host))
            .map(|()| true)
    }

    /// The site of a host, else that of the wildcard above it.
    pub fn site(&self, host: &str) -> Option<Arc<Site>> {
        let host = host.to_ascii_lowercase();
        let sites = self.sites.read().unwrap_or_else(PoisonError::into_inner);
        let exact = sites.get(&host);
        exact.or_else(|| sites.get(&wildcard_of(&host)?)).cloned()
    }

    /// What HTTP/3 on a connection says after SETTINGS.
    pub fn control_frames(&self, connection: &OpenConnection) -> Bytes {
        self.coalescing.control_frames(connection, || {
            let sites = self.sites.read().unwrap_or_else(PoisonError::into_inner);
            let mut hosts: Vec<_> = sites.keys().cloned().collect();
            hosts.sort_unstable();
            hosts
        })
    }

    /// Never held across a wait.
    fn resolver(&self) -> MutexGuard<'_, Resolver> {
        self.resolver.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Arrival<'_> {
    fn way(&self) -> Way {
        Way {
            transport: self.transport,
            peer: self.peer.ip(),
            now_ns: self.received_ns,
        }
    }
}

fn note(arrival: &Arrival<'_>, verdict: &Verdict<'_>, response_bytes: usize) -> EdgeQueryRecord {
    let name = verdict.question.map(|question| name_text(question.name));
    let qtype = verdict.question.map(|question| type_text(question.qtype));
    EdgeQueryRecord {
        connection_id: arrival.connection.map(|connection| connection.id),
        dns_transport: arrival.transport,
        peer_address: arrival.peer,
        received_ns: arrival.received_ns,
        answered_ns: None,
        in_early_data: arrival.in_early_data,
        qname: name.unwrap_or_default(),
        qtype: qtype.unwrap_or_default(),
        rcode: verdict.answer.map(|facts| facts.rcode.text()),
        query_bytes: arrival.message.len() as u32,
        response_bytes: verdict.answer.map(|_| response_bytes as u32),
        delay_ns: Some(verdict.treatment.delay_ns).filter(|&delay_ns| delay_ns > 0),
        failure_mode: verdict.treatment.failure,
        forwarded: verdict.forward,
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
