//! The identity of an upstream connection, open or not, and its record. The record is written once,
//! when the connection is dropped at the latest. Not for: the connection.

use resolab_record::{GatewayConnectionRecord, HandshakeMode, HttpVersion, Record};
use resolab_transport::client::{MeasuredFailure, SetupLog};
use resolab_transport::clock::monotonic_ns;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};

/// The facts known before the connection is open, and its record.
pub(crate) struct ConnectionIdentity {
    pub id: u64,
    pub load: u64,
    /// The name to open the connection for.
    pub host: String,
    pub address: Option<SocketAddr>,
    pub http_version: HttpVersion,
    pub requested: HandshakeMode,
    pub wanted_ns: u64,
    pub setup: Arc<SetupLog>,
    usable_ns: OnceLock<u64>,
    requests_count: AtomicU64,
    is_recorded: AtomicBool,
    failure: OnceLock<MeasuredFailure>,
    records: Sender<Record>,
}

impl ConnectionIdentity {
    /// Makes the identity of a connection needed from now on.
    pub fn new(
        (id, load): (u64, u64),
        host: String,
        (http_version, requested): (HttpVersion, HandshakeMode),
        records: Sender<Record>,
    ) -> Self {
        Self {
            id,
            load,
            host,
            address: None,
            http_version,
            requested,
            wanted_ns: monotonic_ns(),
            setup: Arc::default(),
            usable_ns: OnceLock::new(),
            requests_count: AtomicU64::new(0),
            is_recorded: AtomicBool::new(false),
            failure: OnceLock::new(),
            records,
        }
    }

    /// Notes that the connection can take requests now.
    pub fn usable(&self) {
        self.usable_since(monotonic_ns());
    }

    /// Notes the instant from which the connection could take requests.
    pub fn usable_since(&self, instant_ns: u64) {
        let _ = self.usable_ns.set(instant_ns);
    }

    /// Counts a request given to the connection.
    pub fn count_request(&self) {
        self.requests_count.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes the failure of the opening.
    pub fn fail(&self, failure: MeasuredFailure) {
        let _ = self.failure.set(failure);
    }

    /// Writes the record, once only.
    pub fn record(&self) {
        if self.is_recorded.swap(true, Ordering::AcqRel) {
            return;
        }
        // The reader is gone only when the gateway is ending.
        let _ = self
            .records
            .send(Record::GatewayConnection(Box::new(self.described())));
    }

    fn described(&self) -> GatewayConnectionRecord {
        let (setup, failure) = (&self.setup, self.failure.get());
        let handshake = setup.handshake();
        GatewayConnectionRecord {
            load: self.load,
            connection_id: self.id,
            host: self.host.clone(),
            address: self.address,
            http_version: self.http_version,
            requested_handshake_mode: self.requested,
            handshake_mode: handshake.map(resolab_transport::client::Handshake::mode),
            early_data_accepted: handshake.and_then(|handshake| handshake.early_data_accepted),
            wanted_ns: self.wanted_ns,
            tcp_connect_start_ns: setup.tcp_connect.start_ns(),
            tcp_connect_end_ns: setup.tcp_connect.end_ns(),
            tls_handshake_start_ns: setup.tls_handshake.start_ns(),
            tls_handshake_end_ns: setup.tls_handshake.end_ns(),
            quic_handshake_start_ns: setup.quic_handshake.start_ns(),
            quic_handshake_end_ns: setup.quic_handshake.end_ns(),
            usable_ns: self.usable_ns.get().copied(),
            closed_ns: monotonic_ns(),
            requests_count: self.requests_count.load(Ordering::Relaxed),
            connection_min_rtt_ns: setup.path_facts().and_then(|facts| facts.min_rtt_ns),
            failure: failure.map(|failure| failure.failure),
            failure_detail: failure.map(|failure| failure.detail.clone()),
            hello_facts: setup.hello_facts(),
        }
    }
}

impl Drop for ConnectionIdentity {
    /// Writes the record, when the last holder drops the identity for any reason.
    fn drop(&mut self) {
        self.record();
    }
}
