//! A gateway as a whole: started, told of each new load, ended. Not for: what happens in a load.

use crate::answering::Answers;
use crate::options::GatewayOptions;
use crate::upstream::{CONNECTION_WINDOW_BYTES, Resolver, STREAM_WINDOW_BYTES};
use crate::world::{LEGS_MAX_COUNT, World};
use resolab_dns::stub::{Answering, Stub};
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

/// Loads of stragglers that are ended beside the one that was meant.
const STRAGGLING_LOADS_MAX_COUNT: u32 = 2;
/// How long the end of a load waits for what was under way to be let go.
const LOAD_ENDS_WITHIN: Duration = Duration::from_secs(5);

/// Why there is no gateway.
#[derive(Debug, Error)]
pub enum GatewayError {
    /// It cannot answer for names.
    #[error("listen on {address} for names: {source}; give another --listen")]
    Listen {
        /// Address and port.
        address: SocketAddr,
        /// What was wrong.
        source: io::Error,
    },
    /// Pages cannot go on the connection of such a resolver.
    #[error(
        "send pages on the connection to {0}: h3:// carries them, and quic:// by the private ALPN"
    )]
    Unsupported(String),
    /// No TLS by the private ALPN.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// How a load came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoadEnd {
    /// Nothing of it is left.
    Over,
    /// More of it came meanwhile.
    Stragglers,
    /// Something of it does not end.
    UnderWay,
}

/// A gateway that is listening.
pub struct Gateway {
    stub: Stub,
    world: Arc<World>,
}

impl Gateway {
    /// Listen for names. Records go to `records`, which is written out elsewhere: writing may block.
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
            resolver.carrying_pages(windows)?
        } else {
            resolver
        };
        let world = Arc::new(World::new(options, authority, records.clone()));
        let answers: Arc<dyn Answering> = Arc::new(Answers(Arc::clone(&world)));
        let stub = Stub::bind_answering(listen, resolver, deadline.into(), records, answers);
        let stub = stub.await.map_err(|source| GatewayError::Listen {
            address: listen,
            source,
        })?;
        if takes_pages {
            world.upstreams.set_resolver(Resolver {
                connection: stub.resolver_connection(),
                host,
                handshake_mode: requested.unwrap_or(HandshakeMode::Full),
            });
        }
        Ok(Self { stub, world })
    }

    /// What it is, for whoever waits for it.
    pub fn ready_record(&self, resolver: String) -> io::Result<GatewayReadyRecord> {
        let (options, authority) = (&self.world.options, &self.world.authority);
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

    /// Answer queries until dropped; legs are served whether this runs or not.
    pub async fn serve(&self) {
        self.stub.serve().await;
    }

    /// End the load under way: legs, connections upstream and to the resolver are closed, and all
    /// records of it written. Whether that was so in time. In the next load the document of
    /// `speculate_for` is asked for in the flight of its name's query.
    ///
    /// A leg or a query that comes meanwhile is a straggler of the old load, a beacon of its page for
    /// instance, and its connection upstream nothing to find the next one's page on: it is a load by
    /// itself, which is ended, too.
    pub async fn new_load(&self, forgets_tickets: bool, speculate_for: Option<&str>) -> bool {
        let is_ending = &self.world.is_ending;
        is_ending.store(true, Ordering::Relaxed);
        let mut end = LoadEnd::Stragglers;
        for _ in 0..=STRAGGLING_LOADS_MAX_COUNT {
            end = self.end_load(forgets_tickets).await;
            if end != LoadEnd::Stragglers {
                break;
            }
        }
        is_ending.store(false, Ordering::Relaxed);
        self.world.speculations.begin_load(speculate_for);
        end == LoadEnd::Over
    }

    async fn end_load(&self, forgets_tickets: bool) -> LoadEnd {
        let legs_count = self.world.legs_count();
        let are_legs_over = self.end_legs().await;
        self.world.speculations.end_load().await;
        // Before the resolver's connection is closed: who loses it asks again on another.
        self.stub.queries_ended().await;
        let queries_count = self.world.queries_count();
        self.close_connections(forgets_tickets).await;
        let has_legs = self.world.legs_count() != legs_count;
        if !are_legs_over {
            LoadEnd::UnderWay
        } else if has_legs || self.world.queries_count() != queries_count {
            LoadEnd::Stragglers
        } else {
            LoadEnd::Over
        }
    }

    async fn end_legs(&self) -> bool {
        let world = &self.world;
        world.load.send_modify(|load| *load += 1);
        let all = world.places.acquire_many(LEGS_MAX_COUNT);
        timeout(LOAD_ENDS_WITHIN, all).await.is_ok()
    }

    async fn close_connections(&self, forgets_tickets: bool) {
        tokio::join!(
            self.world.upstreams.new_load(forgets_tickets),
            self.stub.close_connections(forgets_tickets),
        );
    }

    /// Close everything in good order; look-ups under way are given up.
    pub async fn stop(&self) {
        self.world.sockets.close();
        self.world.is_ending.store(true, Ordering::Relaxed);
        self.end_legs().await;
        self.world.speculations.end_load().await;
        self.close_connections(false).await;
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.world.sockets.close();
    }
}
