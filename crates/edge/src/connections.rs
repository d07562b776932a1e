//! The edge's open connections: who they are, how to close them, and their records.
//!
//! For: one place that knows what is open. Not for: carrying bytes.

use resolab_record::{ConnectionRecord, Failure, HandshakeMode, Record};
use resolab_transport::clock::monotonic_ns;
use resolab_transport::server::HandshakeFacts;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Takes records in order; must not block.
pub type RecordSink = Arc<dyn Fn(Record) + Send + Sync>;

/// Transport protocol of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// QUIC.
    Quic,
}

/// How a connection ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    /// `None` for an orderly end.
    pub failure: Option<Failure>,
    /// One line for people.
    pub detail: Option<String>,
}

impl Ending {
    /// An orderly end.
    pub fn orderly() -> Self {
        Self::default()
    }

    /// An orderly end that deserves a word.
    pub fn noted(detail: impl Into<String>) -> Self {
        Self {
            failure: None,
            detail: Some(detail.into()),
        }
    }

    /// A failure.
    pub fn failed(failure: Failure, detail: impl Into<String>) -> Self {
        Self {
            failure: Some(failure),
            detail: Some(detail.into()),
        }
    }
}

/// One open connection.
pub struct OpenConnection {
    /// Number within this edge.
    pub id: u64,
    /// Server side.
    pub local: SocketAddr,
    /// Client side.
    pub peer: SocketAddr,
    /// The handshake; `None` without TLS.
    pub facts: Option<Arc<HandshakeFacts>>,
    protocol: Protocol,
    accepted_ns: u64,
    close: Notify,
}

impl OpenConnection {
    /// Resolves when the connection is to be closed from this side.
    pub async fn close_wanted(&self) {
        self.close.notified().await;
    }

    /// Whether bytes that are here now are early data; `None` without TLS.
    pub fn in_early_data(&self) -> Option<bool> {
        self.facts.as_ref().map(|facts| facts.in_early_data())
    }

    /// Server name asked for, lower case, and ALPN, where they are known.
    pub fn name_and_alpn(&self) -> (Option<&str>, Option<&str>) {
        let facts = self.facts.as_ref();
        (
            facts.and_then(|facts| facts.server_name()),
            facts.and_then(|facts| facts.alpn()),
        )
    }

    fn is_named(&self, name: Option<&str>) -> bool {
        let own = self.facts.as_ref().and_then(|facts| facts.server_name());
        name.is_none_or(|name| own.is_some_and(|own| own.eq_ignore_ascii_case(name)))
    }

    fn record(&self, closed_ns: Option<u64>, ending: Ending) -> Record {
        let facts = self.facts.as_deref();
        Record::Connection(Box::new(ConnectionRecord {
            connection_id: self.id,
            protocol: match self.protocol {
                Protocol::Tcp => "tcp".to_owned(),
                Protocol::Quic => "quic".to_owned(),
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
        }))
    }
}

/// All open connections.
pub struct Connections {
    sink: RecordSink,
    last_id: AtomicU64,
    open: Mutex<BTreeMap<u64, Arc<OpenConnection>>>,
}

/// Longest wait for connections to end after they were told to.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);
const CLOSE_POLL: Duration = Duration::from_millis(1);

impl Connections {
    /// None open.
    pub fn new(sink: RecordSink) -> Self {
        Self {
            sink,
            last_id: AtomicU64::new(0),
            open: Mutex::default(),
        }
    }

    /// A connection was seen.
    pub fn open(
        &self,
        protocol: Protocol,
        local: SocketAddr,
        peer: SocketAddr,
        facts: Option<Arc<HandshakeFacts>>,
    ) -> Arc<OpenConnection> {
        let connection = Arc::new(OpenConnection {
            id: self.last_id.fetch_add(1, Ordering::Relaxed) + 1,
            local,
            peer,
            facts,
            protocol,
            accepted_ns: monotonic_ns(),
            close: Notify::new(),
        });
        self.lock().insert(connection.id, Arc::clone(&connection));
        connection
    }

    /// A connection ended: write its record.
    pub fn end(&self, connection: &OpenConnection, ending: Ending) {
        if self.lock().remove(&connection.id).is_some() {
            (self.sink)(connection.record(Some(monotonic_ns()), ending));
        }
    }

    /// A record of each open connection.
    pub fn write_open(&self) {
        for connection in self.select(None) {
            (self.sink)(connection.record(None, Ending::orderly()));
        }
    }

    /// Tell connections to close and wait until they did; how many did not.
    pub async fn close(&self, name: Option<&str>) -> usize {
        let told = self.select(name);
        for connection in &told {
            connection.close.notify_one();
        }
        let deadline = tokio::time::Instant::now() + CLOSE_PATIENCE;
        loop {
            let left = {
                let open = self.lock();
                told.iter()
                    .filter(|connection| open.contains_key(&connection.id))
                    .count()
            };
            // Once more after the last ended: QUIC's close leaves with the next turn of its driver.
            tokio::time::sleep(CLOSE_POLL).await;
            if left == 0 || tokio::time::Instant::now() > deadline {
                return left;
            }
        }
    }

    fn select(&self, name: Option<&str>) -> Vec<Arc<OpenConnection>> {
        self.lock()
            .values()
            .filter(|connection| connection.is_named(name))
            .cloned()
            .collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Arc<OpenConnection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a request's connection is resumed, for its record.
pub fn session_resumed(connection: &OpenConnection) -> Option<bool> {
    let facts = connection.facts.as_ref()?;
    match facts.handshake_mode() {
        Some(mode) => Some(mode != HandshakeMode::Full),
        None => facts.session_resumed(),
    }
}
