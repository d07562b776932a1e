//! The state shared by everything in a gateway. Not for: starting and ending the gateway.

use crate::name_sockets::{NameSockets, ServingError};
use crate::names::NameTable;
use crate::options::GatewayOptions;
use crate::speculation::Speculations;
use crate::upstream::UpstreamConnections;
use resolab_record::Record;
use resolab_transport::server::{CertificateAuthority, ServerPolicies, TicketTerms};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Semaphore, watch};

/// The maximum number of the browser's connections; further connections wait to be accepted.
pub(crate) const DOWNSTREAM_MAX_COUNT: u32 = 4_096;

/// The state shared by everything in a gateway.
pub(crate) struct GatewayState {
    pub options: Arc<GatewayOptions>,
    pub upstreams: Arc<UpstreamConnections>,
    pub authority: CertificateAuthority,
    pub policies: Arc<ServerPolicies>,
    pub records: Sender<Record>,
    /// The number of the present load; a new number ends the downstream connections.
    pub load: watch::Sender<u64>,
    /// True while a load ends: new arrivals are stragglers of the old load.
    pub is_ending: AtomicBool,
    /// A permit for each downstream connection, held until its last record is written.
    pub permits: Arc<Semaphore>,
    pub speculations: Speculations,
    names: Mutex<NameTable>,
    pub sockets: NameSockets,
    next_downstream: AtomicU64,
    next_request: AtomicU64,
    queries_count: AtomicU64,
}

impl GatewayState {
    pub fn new(
        options: GatewayOptions,
        authority: CertificateAuthority,
        records: Sender<Record>,
    ) -> Self {
        let options = Arc::new(options);
        let names = NameTable::new(options.range, options.names_max_count);
        // Resumption on a downstream connection would be a difference between loads that no network
        // has.
        let policies = ServerPolicies::new(resolab_record::TicketPolicy::None, false);
        Self {
            upstreams: Arc::new(UpstreamConnections::new(
                Arc::clone(&options),
                records.clone(),
            )),
            options,
            authority,
            policies: Arc::new(policies),
            records,
            load: watch::channel(0).0,
            is_ending: AtomicBool::new(false),
            permits: Arc::new(Semaphore::new(DOWNSTREAM_MAX_COUNT as usize)),
            speculations: Speculations::default(),
            names: Mutex::new(names),
            sockets: NameSockets::default(),
            next_downstream: AtomicU64::new(0),
            next_request: AtomicU64::new(0),
            queries_count: AtomicU64::new(0),
        }
    }

    /// Returns the name's address for the browser. Its sockets are listening when this returns.
    pub fn address_of(self: &Arc<Self>, name: &str) -> Result<Ipv4Addr, ServingError> {
        let name = crate::names::canonical(name);
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(address) = names.get(&name) {
            return Ok(address);
        }
        let certificate = self.authority.issue(std::slice::from_ref(&name))?;
        let terms = TicketTerms::new(resolab_record::TicketPolicy::None);
        let address = names.assign(&name).ok_or(ServingError::NoAddress)?;
        self.policies.add_name(&name, certificate, terms);
        let opened = self.sockets.open(self, &name, address);
        opened.inspect_err(|_| names.take_back_last(&name))?;
        Ok(address)
    }

    /// Opens a connection for a host in this load, unless an open connection serves the host. Does
    /// nothing while a load ends.
    pub fn begin_connection(self: &Arc<Self>, host: &str) {
        if self.is_ending.load(Ordering::Relaxed) {
            return;
        }
        let (gateway_state, host, load) = (Arc::clone(self), host.to_owned(), *self.load.borrow());
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = gateway_state.wait_for_load_end(load) => (),
                // What comes of it is told by whoever needs it, and by its record.
                found = gateway_state.upstreams.find(&host) => drop(found),
            }
        });
    }

    /// Waits for the end of a load.
    pub async fn wait_for_load_end(&self, number: u64) {
        let mut load = self.load.subscribe();
        // The sender lives as long as this.
        let _ = load.wait_for(|load| *load != number).await;
    }

    pub fn next_downstream(&self) -> u64 {
        self.next_downstream.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the number of downstream connections so far.
    pub fn downstream_count(&self) -> u64 {
        self.next_downstream.load(Ordering::Relaxed)
    }

    /// Counts a query of the browser.
    pub fn count_query(&self) {
        self.queries_count.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of queries so far.
    pub fn queries_count(&self) -> u64 {
        self.queries_count.load(Ordering::Relaxed)
    }

    pub fn next_request(&self) -> u64 {
        self.next_request.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a record. The receiver is gone only while the gateway ends.
    pub fn record(&self, record: Record) {
        let _ = self.records.send(record);
    }
}
