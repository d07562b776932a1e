//! What every connection of the edge shares: the zone, the sites, the names, the records' way out.
//!
//! For: answering one DNS message or finding one site, with its record. Not for: sockets.

use crate::answer::{Answer, Channel, answer};
use crate::config::EdgeConfig;
use crate::connections::{Connections, OpenConnection, RecordSink};
use crate::web::Site;
use crate::web::names::{self, add_address, host_wire, wildcard_of};
use crate::web::settings::{SiteConfig, WebConfig};
use crate::zone::{Zone, parse_content};
use resolab_record::{DnsTransport, EdgeQueryRecord, Record};
use resolab_transport::clock::monotonic_ns;
use resolab_transport::server::ServerPolicies;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError, RwLock};

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
    zone: RwLock<Zone>,
    sites: RwLock<HashMap<String, Arc<Site>>>,
}

/// Where DoH is served.
#[derive(Debug, Clone)]
pub struct DohPlace {
    /// Host name.
    pub name: String,
    /// Addresses, for clients that know no name.
    pub addresses: Vec<IpAddr>,
    /// Path.
    pub path: String,
}

/// One DNS query as it came.
pub struct Arrival<'a> {
    /// The message.
    pub message: &'a [u8],
    /// Transport.
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
        Ok(Self {
            policies,
            connections: Connections::new(Arc::clone(&sink)),
            sink,
            web: config.web.clone(),
            doh,
            zone: RwLock::new(build_zone(config)?),
            sites: RwLock::default(),
        })
    }

    /// Answer one message; the record is the caller's to finish once the answer is on its way.
    pub fn answer(&self, arrival: &Arrival<'_>) -> (Option<Answer>, EdgeQueryRecord) {
        let channel = match arrival.transport {
            DnsTransport::Doudp => Channel::Datagram,
            DnsTransport::Dotcp => Channel::Stream,
            _ => Channel::Encrypted,
        };
        let answer = {
            let zone = self.zone.read().unwrap_or_else(PoisonError::into_inner);
            answer(arrival.message, &zone, channel)
        };
        let known = answer.as_ref();
        let record = EdgeQueryRecord {
            connection_id: arrival.connection.map(|connection| connection.id),
            dns_transport: arrival.transport,
            peer_address: arrival.peer,
            received_ns: arrival.received_ns,
            answered_ns: None,
            in_early_data: arrival.in_early_data,
            qname: known.map(|answer| answer.qname.clone()).unwrap_or_default(),
            qtype: known.map(|answer| answer.qtype.clone()).unwrap_or_default(),
            rcode: known.map(|answer| answer.rcode.text().to_owned()),
            query_bytes: arrival.message.len() as u32,
            response_bytes: known.map(|answer| answer.message.len() as u32),
        };
        (answer, record)
    }

    /// Write a query's record: `sent` says whether the answer was handed to the connection.
    pub fn write_query(&self, mut record: EdgeQueryRecord, sent: bool) {
        if sent {
            record.answered_ns = Some(monotonic_ns());
        } else {
            record.rcode = None;
            record.response_bytes = None;
        }
        (self.sink)(Record::EdgeQuery(record));
    }

    /// Put a loaded site in force and its name into the zone.
    pub fn put_site(&self, config: &SiteConfig, site: Site) -> Result<(), String> {
        let host = config.host.to_ascii_lowercase();
        let mut zone = self.zone.write().unwrap_or_else(PoisonError::into_inner);
        names::add_site(&mut zone, config)?;
        let mut sites = self.sites.write().unwrap_or_else(PoisonError::into_inner);
        sites.insert(host, Arc::new(site));
        Ok(())
    }

    /// Take a site and its name's records away; requests under way keep what they have. `false`
    /// when there is none.
    pub fn remove_site(&self, host: &str) -> Result<bool, String> {
        let mut zone = self.zone.write().unwrap_or_else(PoisonError::into_inner);
        let mut sites = self.sites.write().unwrap_or_else(PoisonError::into_inner);
        if sites.remove(&host.to_ascii_lowercase()).is_none() {
            return Ok(false);
        }
        names::remove_site(&mut zone, host).map(|()| true)
    }

    /// The site of a host, else that of the wildcard above it.
    pub fn site(&self, host: &str) -> Option<Arc<Site>> {
        let host = host.to_ascii_lowercase();
        let sites = self.sites.read().unwrap_or_else(PoisonError::into_inner);
        let exact = sites.get(&host);
        exact.or_else(|| sites.get(&wildcard_of(&host)?)).cloned()
    }
}

fn build_zone(config: &EdgeConfig) -> Result<Zone, String> {
    let mut zone = Zone::default();
    if let Some(resolver) = &config.resolver {
        for origin in &resolver.origins {
            zone.add_origin(host_wire(origin)?);
        }
        let name = host_wire(&resolver.name)?;
        for address in &resolver.addresses {
            add_address(&mut zone, &name, *address);
        }
    }
    for site in &config.sites {
        names::add_site(&mut zone, site)?;
    }
    for record in &config.records {
        let name = host_wire(&record.name)?;
        let (record_type, content) = parse_content(&record.record_type, &record.value)
            .map_err(|reason| format!("[[zone]] {}: {reason}", record.name))?;
        zone.add(&name, record_type, record.ttl_s, content);
    }
    Ok(zone)
}
