//! The edge's open connections: their peers, their closing and their records.
//!
//! For: a single register of open connections. Not for: carrying bytes.

pub mod counters;
pub mod ending;
pub mod memory;

use crate::config::limits::Limits;
use counters::ConnectionCounters;
use ending::ConnectionEnding;
use memory::MemoryLimit;
use resolab_record::{AddressProof, ConnectionRecord, HandshakeMode, Record};
use resolab_transport::clock::monotonic_ns;
use resolab_transport::server::{ByteCounts, HandshakeFacts};
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// A function taking records in order; must not block.
pub type RecordSink = Arc<dyn Fn(Record) + Send + Sync>;

/// The transport protocol of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionProtocol {
    /// A connection over TCP.
    Tcp,
    /// A connection over QUIC.
    Quic,
}

/// One open connection of a client.
pub struct OpenConnection {
    /// The connection's number within this edge.
    pub id: u64,
    /// The server's address and port.
    pub local: SocketAddr,
    /// The client's address and port.
    pub peer: SocketAddr,
    /// The facts of the handshake; `None` without TLS.
    pub facts: Option<Arc<HandshakeFacts>>,
    /// The limits of the connection.
    pub limits: Arc<Limits>,
    /// The counts of all connections together.
    pub tallies: Arc<ConnectionCounters>,
    /// The memory limit of the process.
    pub memory: Arc<MemoryLimit>,
    /// The permits for concurrent HTTP/2 exchanges.
    exchanges: Arc<Semaphore>,
    /// The byte counts of a TCP connection; QUIC has its own counts.
    pub bytes: Arc<ByteCounts>,
    quic: OnceLock<quinn::Connection>,
    queries: AtomicU64,
    requests: AtomicU64,
    protocol: ConnectionProtocol,
    accepted_ns: u64,
    close: Notify,
}

impl OpenConnection {
    /// Resolves on the command to close the connection.
    pub async fn close_wanted(&self) {
        self.close.notified().await;
    }

    /// Returns true when bytes received now are early data; `None` without TLS.
    pub fn is_in_early_data(&self) -> Option<bool> {
        self.facts.as_ref().map(|facts| facts.is_in_early_data())
    }

    /// Sets the QUIC connection, as the source of byte counts.
    pub fn set_quic(&self, quic: quinn::Connection) {
        let _ = self.quic.set(quic);
    }

    /// Takes a permit for an HTTP/2 exchange, held during the exchange. `None` when a client resets
    /// streams faster than their exchanges end. A client waiting for its answers never meets this
    /// limit. QUIC needs no permit: a reset stream counts until this side has ended the stream,
    /// too.
    pub fn begin_exchange(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.exchanges).try_acquire_owned().ok()
    }

    /// Returns true when a message of `length_bytes` may grow by `more_bytes`.
    pub fn may_grow(&self, length_bytes: usize, more_bytes: usize) -> bool {
        length_bytes <= SHORT_MESSAGE_BYTES || !self.memory.is_exceeded(more_bytes)
    }

    /// Counts a DNS query on this connection.
    pub fn count_query(&self) {
        self.queries.fetch_add(1, Ordering::Relaxed);
        self.tallies.queries.add();
    }

    /// Counts another HTTP request on this connection.
    pub fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.tallies.requests.add();
    }

    /// Returns the number of queries and requests on this connection.
    pub fn messages_count(&self) -> u64 {
        self.queries.load(Ordering::Relaxed) + self.requests.load(Ordering::Relaxed)
    }

    /// Returns the address of a QUIC client with this server name.
    fn quic_peer_of(&self, name: &str) -> Option<SocketAddr> {
        (self.protocol == ConnectionProtocol::Quic && self.is_named(name)).then_some(self.peer)
    }

    /// Returns the numbers of bytes received and sent.
    fn byte_counts(&self) -> (Option<u64>, Option<u64>) {
        match self.protocol {
            ConnectionProtocol::Tcp => (Some(self.bytes.received()), Some(self.bytes.sent())),
            ConnectionProtocol::Quic => {
                let stats = self.quic.get().map(quinn::Connection::stats);
                let stats = stats.map(|stats| (stats.udp_rx.bytes, stats.udp_tx.bytes));
                stats.unzip()
            }
        }
    }

    /// Returns the requested server name (lower case) and the ALPN identifier, if known.
    pub fn name_and_alpn(&self) -> (Option<&str>, Option<&str>) {
        let facts = self.facts.as_ref();
        (
            facts.and_then(|facts| facts.server_name()),
            facts.and_then(|facts| facts.alpn()),
        )
    }

    fn is_named(&self, name: &str) -> bool {
        let own = self.facts.as_ref().and_then(|facts| facts.server_name());
        own.is_some_and(|own| own.eq_ignore_ascii_case(name))
    }

    fn record(&self, closed_ns: Option<u64>, ending: ConnectionEnding) -> Record {
        let facts = self.facts.as_deref();
        let proof = facts.and_then(HandshakeFacts::address_proof);
        let (received_bytes, sent_bytes) = self.byte_counts();
        Record::Connection(Box::new(ConnectionRecord {
            connection_id: self.id,
            protocol: match self.protocol {
                ConnectionProtocol::Tcp => "tcp".to_owned(),
                ConnectionProtocol::Quic => "quic".to_owned(),
            },
            local_address: self.local,
            peer_address: self.peer,
            server_name: facts
                .and_then(HandshakeFacts::server_name)
                .map(str::to_owned),
            alpn: facts.and_then(HandshakeFacts::alpn).map(str::to_owned),
            handshake_mode: facts.and_then(HandshakeFacts::handshake_mode),
            early_data_accepted: facts.and_then(HandshakeFacts::early_data_accepted),
            accepted_ns: self.accepted_ns,
            handshake_complete_ns: facts.and_then(HandshakeFacts::complete_ns),
            closed_ns,
            failure: ending.failure,
            failure_detail: ending.detail,
            tls_version: facts
                .and_then(HandshakeFacts::tls_version)
                .map(str::to_owned),
            quic_version: facts
                .and_then(HandshakeFacts::quic_version)
                .map(|version| version.to_string()),
            cipher_suite: facts.and_then(HandshakeFacts::cipher_suite),
            early_data_offered: facts.and_then(HandshakeFacts::early_data_offered),
            retry_sent: proof.map(|proof| proof == AddressProof::RetryToken),
            address_validated_by: proof,
            client_hello_ns: facts.and_then(HandshakeFacts::client_hello_ns),
            server_flight_ns: facts.and_then(HandshakeFacts::server_flight_ns),
            received_bytes,
            sent_bytes,
            queries_count: self.queries.load(Ordering::Relaxed),
            requests_count: self.requests.load(Ordering::Relaxed),
            closed_by_client: ending.by_client,
            close_code: ending.close_code,
            hello_facts: facts.map(|facts| facts.hellos.facts()).unwrap_or_default(),
        }))
    }
}

/// The register of all open connections.
pub struct Connections {
    sink: RecordSink,
    limits: Arc<Limits>,
    /// The counts of accepted and refused connections.
    pub tallies: Arc<ConnectionCounters>,
    memory: Arc<MemoryLimit>,
    last_id: AtomicU64,
    open: Mutex<OpenConnections>,
}

/// The maximum of concurrent exchanges, as a multiple of the permitted streams.
const EXCHANGES_RATIO: usize = 10;
/// The length up to which a message is read despite exceeded memory, in bytes.
const SHORT_MESSAGE_BYTES: usize = 4_096;
/// The number of connections up to which memory is not checked. Experiments stay below this number
/// and thus do not pay for the check.
const FEW_CONNECTIONS_COUNT: usize = 256;
/// The approximate memory of a further connection, in bytes. 10,000 connections took 200 kB each,
/// including the clients' halves.
const CONNECTION_BYTES: usize = 100_000;

#[derive(Default)]
struct OpenConnections {
    by_id: BTreeMap<u64, Arc<OpenConnection>>,
    count_by_peer: HashMap<IpAddr, usize>,
}

impl OpenConnections {
    fn remove(&mut self, id: u64) -> bool {
        let Some(connection) = self.by_id.remove(&id) else {
            return false;
        };
        let peer = connection.peer.ip();
        if let Some(count) = self.count_by_peer.get_mut(&peer) {
            *count -= 1;
            if *count == 0 {
                self.count_by_peer.remove(&peer);
            }
        }
        true
    }
}

/// The longest wait for connections to end after a close command. No connection waits for its
/// client, but a busy machine may delay the end.
const CLOSE_PATIENCE: Duration = Duration::from_secs(5);
const CLOSE_POLL: Duration = Duration::from_millis(1);

impl Connections {
    /// Makes an empty register.
    pub fn new(sink: RecordSink, limits: Limits) -> Self {
        Self {
            sink,
            memory: Arc::new(MemoryLimit::new(limits.resident_bytes)),
            limits: Arc::new(limits),
            tallies: Arc::default(),
            last_id: AtomicU64::new(0),
            open: Mutex::default(),
        }
    }

    /// Returns the limits of every connection.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the number of open connections.
    pub fn open_count(&self) -> usize {
        self.lock().by_id.len()
    }

    /// Returns the addresses of QUIC clients connected to a name.
    pub fn quic_peers_of(&self, name: &str) -> Vec<SocketAddr> {
        let open = self.lock();
        let peers = open.by_id.values();
        peers.filter_map(|each| each.quic_peer_of(name)).collect()
    }

    /// Returns true when a client may connect, and counts refusals.
    pub fn admits(&self, peer: IpAddr) -> bool {
        let open = self.lock();
        let count = open.by_id.len();
        let is_full = count >= self.limits.connections_count
            || (count >= FEW_CONNECTIONS_COUNT && self.memory.is_exceeded(CONNECTION_BYTES));
        if is_full {
            self.tallies.refused_total.add();
            return false;
        }
        let of_peer = open.count_by_peer.get(&peer).copied().unwrap_or(0);
        if of_peer >= self.limits.connections_per_peer_count {
            self.tallies.refused_peer.add();
            return false;
        }
        true
    }

    /// Registers a new connection.
    pub fn open(
        &self,
        protocol: ConnectionProtocol,
        local: SocketAddr,
        peer: SocketAddr,
        facts: Option<Arc<HandshakeFacts>>,
    ) -> Arc<OpenConnection> {
        match protocol {
            ConnectionProtocol::Tcp => self.tallies.tcp_connections.add(),
            ConnectionProtocol::Quic => self.tallies.quic_connections.add(),
        }
        let connection = Arc::new(OpenConnection {
            id: self.last_id.fetch_add(1, Ordering::Relaxed) + 1,
            local,
            peer,
            facts,
            limits: Arc::clone(&self.limits),
            tallies: Arc::clone(&self.tallies),
            memory: Arc::clone(&self.memory),
            exchanges: Arc::new(Semaphore::new(
                EXCHANGES_RATIO * self.limits.streams_count as usize,
            )),
            bytes: Arc::default(),
            quic: OnceLock::new(),
            queries: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            protocol,
            accepted_ns: monotonic_ns(),
            close: Notify::new(),
        });
        let mut open = self.lock();
        *open.count_by_peer.entry(peer.ip()).or_default() += 1;
        open.by_id.insert(connection.id, Arc::clone(&connection));
        drop(open);
        connection
    }

    /// Removes an ended connection and writes its record.
    pub fn end(&self, connection: &OpenConnection, ending: ConnectionEnding) {
        if self.lock().remove(connection.id) {
            (self.sink)(connection.record(Some(monotonic_ns()), ending));
        }
    }

    /// Writes a record of each open connection.
    pub fn write_open(&self) {
        for connection in self.select(None) {
            (self.sink)(connection.record(None, ConnectionEnding::default()));
        }
    }

    /// Closes all current connections, or the connections of some names, and waits for their ends.
    /// Returns the number of connections still open.
    pub async fn close(&self, only: Option<&[String]>) -> usize {
        let told = self.select(only);
        for connection in &told {
            connection.close.notify_one();
        }
        let deadline = tokio::time::Instant::now() + CLOSE_PATIENCE;
        loop {
            let left = {
                let open = self.lock();
                told.iter()
                    .filter(|connection| open.by_id.contains_key(&connection.id))
                    .count()
            };
            // Once more after the last ended: QUIC's close leaves with the next turn of its driver.
            tokio::time::sleep(CLOSE_POLL).await;
            if left == 0 || tokio::time::Instant::now() > deadline {
                return left;
            }
        }
    }

    fn select(&self, only: Option<&[String]>) -> Vec<Arc<OpenConnection>> {
        let is_meant = |connection: &OpenConnection| {
            only.is_none_or(|names| names.iter().any(|name| connection.is_named(name)))
        };
        let open = self.lock();
        let meant = open
            .by_id
            .values()
            .filter(|connection| is_meant(connection));
        meant.cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns true when a request's connection is resumed, for the request's record.
pub fn session_resumed(connection: &OpenConnection) -> Option<bool> {
    let facts = connection.facts.as_ref()?;
    match facts.handshake_mode() {
        Some(mode) => Some(mode != HandshakeMode::Full),
        None => facts.session_resumed(),
    }
}
