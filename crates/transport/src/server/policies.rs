//! The TLS configuration of a connection by ticket policy. All policies share one session store, so
//! a policy can change live and old tickets meet the new policy.
//!
//! For: TCP and QUIC alike; names, their certificates and their policies.
//! Not for: the handshake itself.

use super::BlackHole;
use super::address_tokens::ServerAddressTokens;
use super::tickets::{ServerTicketStore, TicketShelf};
use crate::crypto::provider;
use resolab_record::{KeyExchangeGroup, TicketPolicy};
use rustls::crypto::CryptoProvider;
use rustls::server::{NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

/// The maximum number of stored tickets of all names; the oldest are dropped first. A handshake
/// issues two tickets.
const STORED_TICKETS_COUNT: usize = 65_536;
/// The limit of a TCP client's early data, in bytes: more than any query or request head.
const TCP_EARLY_DATA_BYTES: u32 = 65_536;
/// The early data limit in QUIC's tickets. RFC 9001 section 4.6.1 permits only this value and 0.
const QUIC_EARLY_DATA_BYTES: u32 = u32::MAX;

/// The default number of tickets issued by a handshake.
const TICKETS_COUNT: u32 = 2;
/// The default and maximum ticket lifetime. rustls announces this lifetime to clients for every
/// stateful ticket.
const TICKET_LIFETIME: Duration = Duration::from_hours(24);

/// The rules for issuing and accepting a name's tickets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketTerms {
    /// The ticket policy: with or without tickets and early data.
    pub policy: TicketPolicy,
    /// The maximum age of an accepted ticket.
    pub lifetime: Duration,
    /// The number of tickets issued by a handshake.
    pub per_handshake_count: u32,
}

impl TicketTerms {
    /// Makes terms with a policy and the default lifetime and number of tickets.
    pub fn new(policy: TicketPolicy) -> Self {
        Self {
            policy,
            lifetime: TICKET_LIFETIME,
            per_handshake_count: TICKETS_COUNT,
        }
    }

    /// Returns the terms with the given values changed; `None` leaves a value unchanged.
    #[must_use]
    pub fn with(mut self, lifetime_s: Option<u32>, per_handshake_count: Option<u32>) -> Self {
        if let Some(seconds) = lifetime_s {
            self.lifetime = Duration::from_secs(u64::from(seconds)).min(TICKET_LIFETIME);
        }
        if let Some(count) = per_handshake_count {
            self.per_handshake_count = count;
        }
        self
    }
}

/// The served names with certificates and ticket policies.
pub struct ServerPolicies {
    provider: Arc<CryptoProvider>,
    tickets: Arc<ServerTicketStore>,
    /// The address tokens: valid on every listener, each once, as with tickets.
    pub(super) address_tokens: ServerAddressTokens,
    /// The names cut off from the network.
    pub black_hole: Arc<BlackHole>,
    tls12_allowed: bool,
    table: RwLock<PolicyTable>,
}

struct PolicyTable {
    certificates: HashMap<String, Arc<CertifiedKey>>,
    /// The certificate for clients without a server name: the client knows only an address.
    nameless: Option<Arc<CertifiedKey>>,
    terms: HashMap<String, TicketTerms>,
    default_terms: TicketTerms,
    /// The names refusing new connections.
    refused: HashSet<String>,
    /// The ALPN identifiers not offered by a name despite its sockets' offer.
    left_out: HashMap<String, Vec<Vec<u8>>>,
}

impl PolicyTable {
    /// Returns the served name for a client's name: the name itself, else the wildcard above.
    fn serving(&self, name: &str) -> String {
        let wildcard = name
            .split_once('.')
            .map(|(_, parent)| format!("*.{parent}"));
        let exact = self.certificates.contains_key(name);
        wildcard
            .filter(|_| !exact)
            .unwrap_or_else(|| name.to_owned())
    }

    /// Changes the terms of a name, or of all names. Returns true when the name is served.
    fn change(&mut self, name: Option<&str>, change: impl Fn(&mut TicketTerms)) -> bool {
        let Some(name) = name else {
            change(&mut self.default_terms);
            self.terms.values_mut().for_each(change);
            return true;
        };
        let found = self.terms.get_mut(&name.to_ascii_lowercase());
        found.map(change).is_some()
    }
}

impl ServerPolicies {
    /// Makes policies without names; `default_policy` applies to names without their own policy.
    /// Every key exchange group is accepted.
    pub fn new(default_policy: TicketPolicy, tls12_allowed: bool) -> Self {
        let table = PolicyTable {
            certificates: HashMap::new(),
            nameless: None,
            terms: HashMap::new(),
            default_terms: TicketTerms::new(default_policy),
            refused: HashSet::new(),
            left_out: HashMap::new(),
        };
        Self {
            provider: Arc::new(provider(&KeyExchangeGroup::ALL)),
            tickets: Arc::new(ServerTicketStore::new(STORED_TICKETS_COUNT)),
            address_tokens: ServerAddressTokens::new(),
            black_hole: Arc::default(),
            tls12_allowed,
            table: RwLock::new(table),
        }
    }

    /// Accepts only these key exchange groups, preferred in this order.
    #[must_use]
    pub fn with_groups(mut self, groups: &[KeyExchangeGroup]) -> Self {
        self.provider = Arc::new(provider(groups));
        self
    }

    /// Serves a name. The first added name also serves clients without a server name.
    pub fn add_name(&self, name: &str, certificate: Arc<CertifiedKey>, terms: TicketTerms) {
        let mut table = self.write();
        let name = name.to_ascii_lowercase();
        table
            .nameless
            .get_or_insert_with(|| Arc::clone(&certificate));
        table.certificates.insert(name.clone(), certificate);
        table.terms.insert(name, terms);
    }

    /// Changes the certificate of a served name, from the next ClientHello on. If the old
    /// certificate was also used for clients without a server name, these clients get the new
    /// certificate, too.
    pub fn replace_certificate(&self, name: &str, certificate: Arc<CertifiedKey>) {
        let mut table = self.write();
        let old = table
            .certificates
            .insert(name.to_ascii_lowercase(), Arc::clone(&certificate));
        let nameless = table.nameless.as_mut();
        if let (Some(old), Some(nameless)) = (old, nameless)
            && Arc::ptr_eq(&old, nameless)
        {
            *nameless = certificate;
        }
    }

    /// Stops serving a name, from the next ClientHello on.
    pub fn remove_name(&self, name: &str) {
        let mut table = self.write();
        let name = name.to_ascii_lowercase();
        table.certificates.remove(&name);
        table.terms.remove(&name);
        table.refused.remove(&name);
        table.left_out.remove(&name);
    }

    /// Omits these ALPN identifiers for a name, from the next ClientHello on.
    pub fn leave_out(&self, name: &str, ids: Vec<Vec<u8>>) {
        self.write().left_out.insert(name.to_ascii_lowercase(), ids);
    }

    /// Returns the socket's ALPN identifiers offered for the name of a ClientHello. The list is
    /// never empty unless the socket's list is empty: with an empty list, rustls would negotiate no
    /// protocol and continue.
    pub fn offer(&self, name: Option<&str>, of_socket: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let table = self.read();
        let left_out = name.and_then(|name| table.left_out.get(&table.serving(name)));
        let Some(left_out) = left_out else {
            return of_socket.to_vec();
        };
        let offered = of_socket.iter().filter(|id| !left_out.contains(id));
        let offered: Vec<_> = offered.cloned().collect();
        if offered.is_empty() && !of_socket.is_empty() {
            // No client has it: RFC 7301 section 3.1 allows none that is empty.
            return vec![Vec::new()];
        }
        offered
    }

    /// Returns true when a name is served.
    pub fn has_name(&self, name: &str) -> bool {
        self.read()
            .certificates
            .contains_key(&name.to_ascii_lowercase())
    }

    /// Sets the policy of one name, or of every name, from the next ClientHello on. Returns `false`
    /// when the name is not served.
    pub fn set_policy(&self, name: Option<&str>, policy: TicketPolicy) -> bool {
        self.write().change(name, |terms| terms.policy = policy)
    }

    /// Sets lifetime and number of tickets, as [`ServerPolicies::set_policy`] does for policies.
    pub fn set_tickets(
        &self,
        name: Option<&str>,
        lifetime_s: Option<u32>,
        per_handshake_count: Option<u32>,
    ) -> bool {
        self.write().change(name, |terms| {
            *terms = terms.with(lifetime_s, per_handshake_count);
        })
    }

    /// Accepts or refuses new connections to a name. Returns `false` when the name is not served.
    pub fn set_accepting(&self, name: &str, accepting: bool) -> bool {
        let mut table = self.write();
        let name = name.to_ascii_lowercase();
        let known = table.certificates.contains_key(&name);
        if accepting {
            table.refused.remove(&name);
        } else if known {
            table.refused.insert(name);
        }
        known
    }

    /// Returns the number of stored tickets.
    pub fn stored_tickets_count(&self) -> usize {
        self.tickets.count()
    }

    /// Returns certificate and terms for the name of a ClientHello. Without a certificate the TLS
    /// stack refuses the client, with or without tickets.
    pub(super) fn choose(&self, name: Option<&str>) -> (Option<Arc<CertifiedKey>>, TicketTerms) {
        let table = self.read();
        let Some(name) = name else {
            return (table.nameless.clone(), table.default_terms);
        };
        let name = &table.serving(name);
        let terms = table
            .terms
            .get(name)
            .copied()
            .unwrap_or(table.default_terms);
        let certificate = table.certificates.get(name);
        let certificate = certificate.filter(|_| !table.refused.contains(name));
        (certificate.cloned(), terms)
    }

    fn read(&self) -> RwLockReadGuard<'_, PolicyTable> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, PolicyTable> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the configuration of one TCP connection.
    pub(super) fn tcp_config(
        &self,
        terms: TicketTerms,
        alpn: &[Vec<u8>],
        certificate: Arc<dyn ResolvesServerCert>,
    ) -> Result<ServerConfig, rustls::Error> {
        let versions: &[_] = if self.tls12_allowed {
            &[&TLS13, &TLS12]
        } else {
            &[&TLS13]
        };
        self.config(terms, versions, alpn, certificate, TCP_EARLY_DATA_BYTES)
    }

    /// Returns the configuration of one QUIC connection.
    pub(super) fn quic_config(
        &self,
        terms: TicketTerms,
        alpn: &[Vec<u8>],
        certificate: Arc<dyn ResolvesServerCert>,
    ) -> Result<ServerConfig, rustls::Error> {
        self.config(terms, &[&TLS13], alpn, certificate, QUIC_EARLY_DATA_BYTES)
    }

    fn config(
        &self,
        terms: TicketTerms,
        versions: &[&'static SupportedProtocolVersion],
        alpn: &[Vec<u8>],
        certificate: Arc<dyn ResolvesServerCert>,
        early_data_bytes: u32,
    ) -> Result<ServerConfig, rustls::Error> {
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(versions)?
            .with_no_client_auth()
            .with_cert_resolver(certificate);
        config.alpn_protocols = alpn.to_vec();
        // Our order of cipher suites, so that it does not differ between clients.
        config.ignore_client_order = true;
        config.session_storage = Arc::new(TicketShelf {
            store: Arc::clone(&self.tickets),
            lifetime: terms.lifetime,
            makes_older: terms.policy == TicketPolicy::RejectEarlyData,
        });
        config.send_tls13_tickets = terms.per_handshake_count as usize;
        match terms.policy {
            TicketPolicy::None => {
                // An old ticket must not be found either: every handshake is full.
                config.session_storage = Arc::new(NoServerSessionStorage {});
                config.send_tls13_tickets = 0;
            }
            TicketPolicy::Resume => config.max_early_data_size = 0,
            // The tickets given out allow early data in both, so clients offer it.
            TicketPolicy::EarlyData | TicketPolicy::RejectEarlyData => {
                allow_early_data(&mut config, early_data_bytes);
            }
        }
        Ok(config)
    }
}

fn allow_early_data(config: &mut ServerConfig, bytes: u32) {
    config.max_early_data_size = bytes;
    // Over TCP the answer to early data would otherwise wait for the client's Finished.
    config.send_half_rtt_data = true;
}

#[cfg(test)]
mod tests;
