//! The whole gateway: its start, each new load, its end. Not for: the events of a load.

use crate::dns_answers::GatewayAnswers;
use crate::gateway_state::{DOWNSTREAM_MAX_COUNT, GatewayState};
use crate::options::GatewayOptions;
use crate::upstream::{CONNECTION_WINDOW_BYTES, STREAM_WINDOW_BYTES, SharedResolver};
use resolab_dns::stub::{ReplyOverride, Stub};
use resolab_dns::{ClientError, DnsClient};
use resolab_record::{ConnectionSharing, DnsTransport, GatewayReadyRecord, HandshakeMode, Record};
use resolab_transport::server::CertificateAuthority;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::Duration;
use thiserror::Error;
use tokio::time::timeout;

/// The maximum number of stragglers' loads ended together with the load to end.
const STRAGGLING_LOADS_MAX_COUNT: u32 = 2;
/// The time the end of a load waits for pending work.
const LOAD_ENDS_WITHIN: Duration = Duration::from_secs(5);

/// The reason for the failed start of a gateway.
#[derive(Debug, Error)]
pub enum GatewayError {
    /// The DNS sockets cannot be opened.
    #[error("listen on {address} for names: {source}; give another --listen")]
    Listen {
        /// The address and port of the sockets.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The resolver's transport cannot carry pages on its connection.
    #[error(
        "send pages on the connection to {0}: h3:// carries them, and quic:// by the private ALPN"
    )]
    Unsupported(String),
    /// No usable TLS with the private ALPN.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// The outcome of ending a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoadEnd {
    /// Everything of the load has ended.
    Over,
    /// Downstream connections or queries arrived during the end.
    Stragglers,
    /// Downstream connections did not end in time.
    UnderWay,
}

/// A listening gateway, with its stub.
pub struct Gateway {
    stub: Stub,
    gateway_state: Arc<GatewayState>,
}

impl Gateway {
    /// Starts listening for queries. Another task must write out `records`, because writing may
    /// block.
    pub async fn start(
        listen: SocketAddr,
        resolver: DnsClient,
        options: GatewayOptions,
        authority: CertificateAuthority,
        records: Sender<Record>,
    ) -> Result<Self, GatewayError> {
        let deadline = options.deadline;
        let takes_pages = options.sharing == ConnectionSharing::ResolverConnection;
        let transport = resolver.resolver.transport;
        if takes_pages && !matches!(transport, DnsTransport::Doh3 | DnsTransport::Doq) {
            return Err(GatewayError::Unsupported(resolver.resolver.url));
        }
        let host = resolver.resolver.host.clone();
        let requested = resolver.requested_handshake_mode;
        let resolver = if takes_pages {
            let windows = (STREAM_WINDOW_BYTES, CONNECTION_WINDOW_BYTES);
            resolver.with_pages(windows)?
        } else {
            resolver
        };
        let gateway_state = Arc::new(GatewayState::new(options, authority, records.clone()));
        let answers: Arc<dyn ReplyOverride> = Arc::new(GatewayAnswers(Arc::clone(&gateway_state)));
        let stub = Stub::bind_with_override(listen, resolver, deadline.into(), records, answers);
        let stub = stub.await.map_err(|source| GatewayError::Listen {
            address: listen,
            source,
        })?;
        if takes_pages {
            gateway_state.upstreams.set_resolver(SharedResolver {
                connection: stub.resolver_connection(),
                host,
                handshake_mode: requested.unwrap_or(HandshakeMode::Full),
            });
        }
        Ok(Self {
            stub,
            gateway_state,
        })
    }

    /// Returns the record describing the ready gateway.
    pub fn ready_record(&self, resolver: String) -> io::Result<GatewayReadyRecord> {
        let (options, authority) = (&self.gateway_state.options, &self.gateway_state.authority);
        Ok(GatewayReadyRecord {
            dns_address: self.stub.listen_address()?,
            range: options.range.to_string(),
            port: options.port,
            resolver,
            ca_file: authority.certificate_file().display().to_string(),
            ca_spki_sha256: authority.spki_sha256().to_owned(),
            trigger: options.trigger,
            sharing: options.sharing,
            requested_handshake_mode: options.handshake_mode,
            upstream_http_version: options.upstream_version,
            leg_http_versions: options.leg_versions.clone(),
        })
    }

    /// Answers queries until dropped. Downstream connections are served independently of this task.
    pub async fn serve(&self) {
        self.stub.serve().await;
    }

    /// Ends the present load: closes downstream connections and the connections upstream and to the
    /// resolver, and writes all records of the load. Returns true when this finished in time. In
    /// the next load, the document of `speculate_for` is asked for in the flight of its name's
    /// query.
    ///
    /// A downstream connection or a query arriving meanwhile is a straggler of the old load, for
    /// example a beacon of its page. The next load must not find its page on the straggler's
    /// upstream connection. Therefore a straggler counts as a separate load, ended too.
    pub async fn new_load(&self, forgets_tickets: bool, speculate_for: Option<&str>) -> bool {
        let is_ending = &self.gateway_state.is_ending;
        is_ending.store(true, Ordering::Relaxed);
        let mut end = LoadEnd::Stragglers;
        for _ in 0..=STRAGGLING_LOADS_MAX_COUNT {
            end = self.end_load(forgets_tickets).await;
            if end != LoadEnd::Stragglers {
                break;
            }
        }
        is_ending.store(false, Ordering::Relaxed);
        self.gateway_state.speculations.begin_load(speculate_for);
        end == LoadEnd::Over
    }

    async fn end_load(&self, forgets_tickets: bool) -> LoadEnd {
        let downstream_count = self.gateway_state.downstream_count();
        let are_legs_over = self.end_legs().await;
        self.gateway_state.speculations.end_load().await;
        // Before the resolver's connection is closed: who loses it asks again on another.
        self.stub.queries_ended().await;
        let queries_count = self.gateway_state.queries_count();
        self.close_connections(forgets_tickets).await;
        let has_legs = self.gateway_state.downstream_count() != downstream_count;
        if !are_legs_over {
            LoadEnd::UnderWay
        } else if has_legs || self.gateway_state.queries_count() != queries_count {
            LoadEnd::Stragglers
        } else {
            LoadEnd::Over
        }
    }

    async fn end_legs(&self) -> bool {
        let gateway_state = &self.gateway_state;
        gateway_state.load.send_modify(|load| *load += 1);
        let all = gateway_state.permits.acquire_many(DOWNSTREAM_MAX_COUNT);
        timeout(LOAD_ENDS_WITHIN, all).await.is_ok()
    }

    async fn close_connections(&self, forgets_tickets: bool) {
        tokio::join!(
            self.gateway_state.upstreams.new_load(forgets_tickets),
            self.stub.close_connections(forgets_tickets),
        );
    }

    /// Closes everything in an orderly way; gives up pending look-ups.
    pub async fn stop(&self) {
        self.gateway_state.sockets.close();
        self.gateway_state.is_ending.store(true, Ordering::Relaxed);
        self.end_legs().await;
        self.gateway_state.speculations.end_load().await;
        self.close_connections(false).await;
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.gateway_state.sockets.close();
    }
}
