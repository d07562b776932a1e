//! One downstream connection: the wait before its handshake goes on, and its record. Not for:
//! serving the connection.

use crate::gateway_state::GatewayState;
use crate::upstream::UpstreamConnection;
use resolab_record::{GatewayLegRecord, GatewayTrigger, HttpVersion, Record};
use resolab_transport::client::MeasuredFailure;
use resolab_transport::clock::monotonic_ns;
use resolab_transport::exact_timer::wait_until;
use resolab_transport::server::HandshakeFacts;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

/// A downstream connection. Its record is written after the end of its last request.
pub(crate) struct DownstreamConnection {
    pub gateway_state: Arc<GatewayState>,
    pub load: u64,
    pub id: u64,
    pub host: Arc<str>,
    pub facts: Arc<HandshakeFacts>,
    hello_ns: u64,
    released_ns: OnceLock<u64>,
    requests_count: AtomicU64,
    failure: OnceLock<MeasuredFailure>,
    /// The permit, returned after the record was written: fields are dropped in this order.
    _permit: OwnedSemaphorePermit,
}

impl DownstreamConnection {
    /// Makes the state of a connection, after its ClientHello has arrived.
    pub fn new(
        gateway_state: &Arc<GatewayState>,
        host: &Arc<str>,
        facts: Arc<HandshakeFacts>,
        place: OwnedSemaphorePermit,
    ) -> Arc<Self> {
        Arc::new(Self {
            gateway_state: Arc::clone(gateway_state),
            load: *gateway_state.load.borrow(),
            id: gateway_state.next_downstream(),
            host: Arc::clone(host),
            facts,
            hello_ns: monotonic_ns(),
            released_ns: OnceLock::new(),
            requests_count: AtomicU64::new(0),
            failure: OnceLock::new(),
            _permit: place,
        })
    }

    /// Waits for the trigger's condition. Returns true when the handshake may go on.
    pub async fn wait_for_release(&self, over_tcp: bool) -> bool {
        match self.gateway_state.options.trigger {
            GatewayTrigger::Dns | GatewayTrigger::Request => (),
            GatewayTrigger::Hello => self.gateway_state.begin_connection(&self.host),
            GatewayTrigger::Mirror => match self.gateway_state.upstreams.find(&self.host).await {
                Ok((connection, _)) if over_tcp => self.hold_for_tcp_time(&connection).await,
                Ok(_) => (),
                Err(failure) => {
                    self.fail(failure);
                    return false;
                }
            },
        }
        let _ = self.released_ns.set(monotonic_ns());
        true
    }

    /// Delays a connection over TCP as long as TCP would take upstream, when upstream uses HTTP/3.
    /// (With TCP upstream the delay arises by itself.) The hello would arrive one round trip later,
    /// and the answer another round trip later. Losses in QUIC's handshake are not TCP's, so the
    /// smallest measured round trip counts. Firefox opens a TCP connection 50 ms after the QUIC
    /// connection, and takes the connection ready first.
    async fn hold_for_tcp_time(&self, connection: &UpstreamConnection) {
        if connection.identity.http_version != HttpVersion::H3 {
            return;
        }
        let setup = &connection.identity.setup;
        let _ = timeout(self.gateway_state.options.deadline, setup.handshake_ended()).await;
        let path = setup.path_facts();
        if let Some(round_trip_ns) = path.and_then(|path| path.min_rtt_ns) {
            wait_until(self.hello_ns + 2 * round_trip_ns).await;
        }
    }

    /// Waits for the end of the connection's load.
    pub async fn wait_for_load_end(&self) {
        self.gateway_state.wait_for_load_end(self.load).await;
    }

    pub fn fail(&self, failure: MeasuredFailure) {
        let _ = self.failure.set(failure);
    }

    pub fn count_request(&self) {
        self.requests_count.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for DownstreamConnection {
    fn drop(&mut self) {
        let failure = self.failure.get();
        let record = GatewayLegRecord {
            load: self.load,
            leg_id: self.id,
            host: self.host.to_string(),
            http_version: self.facts.alpn().map(version_of),
            hello_ns: self.hello_ns,
            released_ns: self.released_ns.get().copied(),
            handshake_complete_ns: self.facts.complete_ns(),
            requests_count: self.requests_count.load(Ordering::Relaxed),
            closed_ns: monotonic_ns(),
            failure: failure.map(|failure| failure.failure),
            failure_detail: failure.map(|failure| failure.detail.clone()),
        };
        self.gateway_state
            .record(Record::GatewayLeg(Box::new(record)));
    }
}

fn version_of(alpn: &str) -> HttpVersion {
    match alpn {
        "h3" => HttpVersion::H3,
        "h2" => HttpVersion::H2,
        _ => HttpVersion::H1,
    }
}
