//! What everything in a gateway shares. Not for: starting and ending it.

use crate::names::NameTable;
use crate::options::GatewayOptions;
use crate::serving::{ServingError, Sockets};
use crate::speculation::Speculations;
use crate::upstream::Upstreams;
use resolab_record::Record;
use resolab_transport::server::{CertificateAuthority, ServerPolicies, TicketTerms};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Semaphore, watch};

/// Connections of the browser at once; more wait to be accepted.
pub(crate) const LEGS_MAX_COUNT: u32 = 4_096;

/// What everything in a gateway shares.
pub(crate) struct World {
    pub options: Arc<GatewayOptions>,
    pub upstreams: Arc<Upstreams>,
    pub authority: CertificateAuthority,
    pub policies: Arc<ServerPolicies>,
    pub records: Sender<Record>,
    /// The load under way; its end ends the legs.
    pub load: watch::Sender<u64>,
    /// What comes is a straggler of the load before.
    pub is_ending: AtomicBool,
    /// A place for each leg, held until its last record is written.
    pub places: Arc<Semaphore>,
    pub speculations: Speculations,
    names: Mutex<NameTable>,
    pub sockets: Sockets,
    next_leg: AtomicU64,
    next_request: AtomicU64,
    queries_count: AtomicU64,
}

impl World {
    pub fn new(
        options: GatewayOptions,
        authority: CertificateAuthority,
        records: Sender<Record>,
    ) -> Self {
        let options = Arc::new(options);
        let names = NameTable::new(options.range, options.names_max_count);
        // Resumption on a leg would be a difference between loads that no network has.
        let policies = ServerPolicies::new(resolab_record::TicketPolicy::None, false);
        Self {
            upstreams: Arc::new(Upstreams::new(Arc::clone(&options), records.clone())),
            options,
            authority,
            policies: Arc::new(policies),
            records,
            load: watch::channel(0).0,
            is_ending: AtomicBool::new(false),
            places: Arc::new(Semaphore::new(LEGS_MAX_COUNT as usize)),
            speculations: Speculations::default(),
            names: Mutex::new(names),
            sockets: Sockets::default(),
            next_leg: AtomicU64::new(0),
            next_request: AtomicU64::new(0),
            queries_count: AtomicU64::new(0),
        }
    }

    /// The address the browser is told for a name; what is served there stands when this returns.
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

    /// Have a connection for a host opened in this load, if none is good for it; nobody needs one of a load
    /// that is ending.
    pub fn begin_connection(self: &Arc<Self>, host: &str) {
        if self.is_ending.load(Ordering::Relaxed) {
            return;
        }
        let (world, host, load) = (Arc::clone(self), host.to_owned(), *self.load.borrow());
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = world.load_ended(load) => (),
                // What comes of it is told by whoever needs it, and by its record.
                found = world.upstreams.find(&host) => drop(found),
            }
        });
    }

    /// Resolves at the end of a load.
    pub async fn load_ended(&self, number: u64) {
        let mut load = self.load.subscribe();
        // The sender lives as long as this.
        let _ = load.wait_for(|load| *load != number).await;
    }

    pub fn next_leg(&self) -> u64 {
        self.next_leg.fetch_add(1, Ordering::Relaxed)
    }

    /// How many legs there have been.
    pub fn legs_count(&self) -> u64 {
        self.next_leg.load(Ordering::Relaxed)
    }

    /// The browser asked for a name.
    pub fn count_query(&self) {
        self.queries_count.fetch_add(1, Ordering::Relaxed);
    }

    /// How many queries there have been.
    pub fn queries_count(&self) -> u64 {
        self.queries_count.load(Ordering::Relaxed)
    }

    pub fn next_request(&self) -> u64 {
        self.next_request.fetch_add(1, Ordering::Relaxed)
    }

    /// The reader is gone only when the gateway is ending.
    pub fn record(&self, record: Record) {
        let _ = self.records.send(record);
    }
}
