//! Which TLS configuration a connection gets: one per ticket policy, all with the same session
//! store, so that a policy changes live and old tickets meet the new policy.
//!
//! For: TCP and QUIC alike; names, their certificates and their policies.
//! Not for: the handshake itself.

use super::tickets::TicketStore;
use resolab_record::TicketPolicy;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::UnixTime;
use rustls::server::{NoServerSessionStorage, ResolvesServerCert, StoresServerSessions};
use rustls::sign::CertifiedKey;
use rustls::time_provider::TimeProvider;
use rustls::{CipherSuite, ServerConfig};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tickets kept for all names; the oldest make room. Two are issued a handshake.
const STORED_TICKETS_COUNT: usize = 65_536;
/// Early data a TCP client may send: more than any query or request head.
const TCP_EARLY_DATA_BYTES: u32 = 65_536;
/// RFC 9001 section 4.6.1: QUIC allows no other value than this and 0.
const QUIC_EARLY_DATA_BYTES: u32 = u32::MAX;

/// Names with certificates and ticket policies.
pub struct ServerPolicies {
    provider: Arc<CryptoProvider>,
    tickets: Arc<dyn StoresServerSessions>,
    table: RwLock<Table>,
}

struct Table {
    certificates: HashMap<String, Arc<CertifiedKey>>,
    /// For clients that send no name: they know an address only.
    nameless: Option<Arc<CertifiedKey>>,
    policies: HashMap<String, TicketPolicy>,
    default_policy: TicketPolicy,
}

impl ServerPolicies {
    /// No names yet; `default_policy` for those without one of their own.
    pub fn new(default_policy: TicketPolicy) -> Self {
        let table = Table {
            certificates: HashMap::new(),
            nameless: None,
            policies: HashMap::new(),
            default_policy,
        };
        Self {
            provider: Arc::new(provider()),
            tickets: Arc::new(TicketStore::new(STORED_TICKETS_COUNT)),
            table: RwLock::new(table),
        }
    }

    /// Serve a name; the first one added also serves clients that send no name.
    pub fn add_name(&self, name: &str, certificate: Arc<CertifiedKey>, policy: TicketPolicy) {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let name = name.to_ascii_lowercase();
        table
            .nameless
            .get_or_insert_with(|| Arc::clone(&certificate));
        table.certificates.insert(name.clone(), certificate);
        table.policies.insert(name, policy);
    }

    /// Serve a name no more, from the next ClientHello on.
    pub fn remove_name(&self, name: &str) {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let name = name.to_ascii_lowercase();
        table.certificates.remove(&name);
        table.policies.remove(&name);
    }

    /// Whether a name is served.
    pub fn has_name(&self, name: &str) -> bool {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.certificates.contains_key(&name.to_ascii_lowercase())
    }

    /// Policy of one name, or of every name, from the next ClientHello on. `false` when the name is
    /// not served.
    pub fn set_policy(&self, name: Option<&str>, policy: TicketPolicy) -> bool {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let Some(name) = name else {
            table.default_policy = policy;
            table.policies.values_mut().for_each(|each| *each = policy);
            return true;
        };
        let found = table.policies.get_mut(&name.to_ascii_lowercase());
        found.map(|each| *each = policy).is_some()
    }

    /// Certificate and policy for the name of a ClientHello.
    pub(super) fn choose(&self, name: Option<&str>) -> (Option<Arc<CertifiedKey>>, TicketPolicy) {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let Some(name) = name else {
            return (table.nameless.clone(), table.default_policy);
        };
        // A name of its own comes before the wildcard above it.
        let wildcard = name
            .split_once('.')
            .map(|(_, parent)| format!("*.{parent}"));
        let exact = table.certificates.contains_key(name);
        let name = wildcard.as_deref().filter(|_| !exact).unwrap_or(name);
        let policy = table
            .policies
            .get(name)
            .copied()
            .unwrap_or(table.default_policy);
        (table.certificates.get(name).cloned(), policy)
    }

    /// Configuration of one TCP connection.
    pub(super) fn tcp_config(
        &self,
        policy: TicketPolicy,
        alpn: &[Vec<u8>],
        certificate: Arc<dyn ResolvesServerCert>,
    ) -> Result<ServerConfig, rustls::Error> {
        self.config(policy, alpn, certificate, TCP_EARLY_DATA_BYTES)
    }

    /// Configuration of one QUIC connection.
    pub(super) fn quic_config(
        &self,
        policy: TicketPolicy,
        alpn: &[Vec<u8>],
        certificate: Arc<dyn ResolvesServerCert>,
    ) -> Result<ServerConfig, rustls::Error> {
        self.config(policy, alpn, certificate, QUIC_EARLY_DATA_BYTES)
    }

    fn config(
        &self,
        policy: TicketPolicy,
        alpn: &[Vec<u8>],
        certificate: Arc<dyn ResolvesServerCert>,
        early_data_bytes: u32,
    ) -> Result<ServerConfig, rustls::Error> {
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_cert_resolver(certificate);
        config.alpn_protocols = alpn.to_vec();
        // Our order of cipher suites, so that it does not differ between clients.
        config.ignore_client_order = true;
        config.session_storage = Arc::clone(&self.tickets);
        match policy {
            TicketPolicy::None => {
                // An old ticket must not be found either: every handshake is full.
                config.session_storage = Arc::new(NoServerSessionStorage {});
                config.send_tls13_tickets = 0;
            }
            TicketPolicy::Resume => config.max_early_data_size = 0,
            TicketPolicy::EarlyData => allow_early_data(&mut config, early_data_bytes),
            TicketPolicy::RejectEarlyData => {
                allow_early_data(&mut config, early_data_bytes);
                config.time_provider = Arc::new(LeapingClock);
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

/// ring, AES-128 first, classical groups: the same bytes on the wire for every client.
fn provider() -> CryptoProvider {
    let mut provider = rustls::crypto::ring::default_provider();
    provider
        .cipher_suites
        .sort_by_key(|suite| suite.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
    provider
}

/// A clock that runs an hour ahead for every time it was read. To it no ticket is ever as old as
/// its client says, which is the reason RFC 8446 section 8.3 gives to refuse early data and go on
/// with the resumption; the tickets it issues still allow early data, so clients keep offering it.
#[derive(Debug)]
struct LeapingClock;

static LEAPS: AtomicU64 = AtomicU64::new(0);
const LEAP_SECONDS: u64 = 3_600;

impl TimeProvider for LeapingClock {
    fn current_time(&self) -> Option<UnixTime> {
        let leaps = LEAPS.fetch_add(1, Ordering::Relaxed) + 1;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        Some(UnixTime::since_unix_epoch(
            now + Duration::from_secs(leaps * LEAP_SECONDS),
        ))
    }
}
