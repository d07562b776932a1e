//! The connections of the present load, and the choice of a connection for each request. Not for:
//! the rule (`sharing`).

use super::connection::UpstreamConnection;
use super::identity::ConnectionIdentity;
use super::locations::NameLocations;
use super::servers::UpstreamServers;
use crate::options::GatewayOptions;
use crate::sharing::{ConnectionFactsForHost, RequestTarget, may_carry};
use crate::speculation::coverage_source;
use resolab_dns::stub::StubResolverConnection;
use resolab_http::https_origin;
use resolab_record::{
    ConnectionReason, ConnectionSharing, CoverageSource, Failure, HandshakeMode, HttpVersion,
    Record,
};
use resolab_transport::client::MeasuredFailure;
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

type OpeningResult = Result<Arc<UpstreamConnection>, MeasuredFailure>;

/// The upstream connections and the knowledge about servers.
pub(crate) struct UpstreamConnections {
    options: Arc<GatewayOptions>,
    pub locations: NameLocations,
    servers: UpstreamServers,
    /// Pairs of a connection's name and a host answered 421 on the connection. A resumed handshake
    /// does not remove a pair.
    misdirected: Mutex<HashSet<(String, String)>>,
    /// True for hosts covered by the resolver's certificate, from its latest handshake. With early
    /// data, the present connection has no certificate yet.
    covered_by_resolver: Mutex<HashMap<String, bool>>,
    state: Mutex<State>,
    /// The resolver's connection, set after the stub's start.
    resolver: OnceLock<SharedResolver>,
    records: Sender<Record>,
}

/// The resolver's connection, and its name.
pub(crate) struct SharedResolver {
    pub connection: StubResolverConnection,
    pub host: String,
    pub handshake_mode: HandshakeMode,
}

/// The connections of the present load.
struct State {
    /// The load's number; a new number ends the opening of connections.
    load: watch::Sender<u64>,
    next_id: u64,
    /// The slots, in order of their first need.
    slots: Vec<UpstreamSlot>,
    /// Connections refusing new requests, possibly with pending requests.
    leaving: Vec<Arc<UpstreamConnection>>,
    /// The resolver's connection, after its first request.
    resolvers: Option<Arc<UpstreamConnection>>,
}

/// A connection being opened or open.
struct UpstreamSlot {
    host: String,
    opened: watch::Receiver<Option<OpeningResult>>,
    /// The task opening the connection and reading the server's first control frames; ends with the
    /// load at the latest.
    opener: JoinHandle<()>,
}

impl UpstreamSlot {
    /// Ends the slot after the load: waits for the opener, then closes the connection.
    async fn close(self) {
        let _ = self.opener.await;
        let opened = self.opened.borrow().clone();
        if let Some(Ok(connection)) = opened {
            connection.close().await;
        }
    }

    fn connection(&self) -> Option<Arc<UpstreamConnection>> {
        let opened = self.opened.borrow();
        opened.as_ref()?.as_ref().ok().map(Arc::clone)
    }

    /// Returns true when the slot is of no further use.
    fn is_over(&self) -> bool {
        match &*self.opened.borrow() {
            // Who opens it is gone.
            None => self.opened.has_changed().is_err(),
            Some(Err(_)) => true,
            Some(Ok(connection)) => !connection.takes_requests(),
        }
    }
}

impl State {
    fn new() -> Self {
        Self {
            load: watch::Sender::new(0),
            next_id: 0,
            slots: Vec::new(),
            leaving: Vec::new(),
            resolvers: None,
        }
    }

    /// Removes slots of no further use. Their open connections stay until the end of the load.
    fn remove_ended(&mut self) {
        let over = self.slots.extract_if(.., |slot| slot.is_over());
        let connections = over.filter_map(|slot| slot.connection());
        self.leaving
            .extend(connections.filter(|connection| !connection.is_closed()));
    }
}

impl UpstreamConnections {
    /// Makes the state without any connection.
    pub fn new(options: Arc<GatewayOptions>, records: Sender<Record>) -> Self {
        Self {
            options,
            locations: NameLocations::default(),
            servers: UpstreamServers::default(),
            misdirected: Mutex::default(),
            covered_by_resolver: Mutex::default(),
            state: Mutex::new(State::new()),
            resolver: OnceLock::new(),
            records,
        }
    }

    /// Allows pages' requests on the resolver's connection.
    pub fn set_resolver(&self, resolver: SharedResolver) {
        let _ = self.resolver.set(resolver);
    }

    /// Returns the connection for a host's next request, opening a connection when no other is
    /// suitable.
    pub async fn find(
        self: &Arc<Self>,
        host: &str,
    ) -> Result<(Arc<UpstreamConnection>, ConnectionReason), MeasuredFailure> {
        if self.options.sharing != ConnectionSharing::Separate
            && let Some(shared) = self.shared(host).await
        {
            return Ok(shared);
        }
        let mut opened = self.own(host);
        let connection = match opened.wait_for(Option::is_some).await {
            Ok(opened) => opened.clone(),
            Err(_) => None,
        };
        let gone = || Err(MeasuredFailure::new(Failure::Other, "the load is over"));
        Ok((connection.unwrap_or_else(gone)?, ConnectionReason::OwnName))
    }

    /// Returns an open connection suitable for a host, preferring the host's own.
    async fn shared(&self, host: &str) -> Option<(Arc<UpstreamConnection>, ConnectionReason)> {
        if self.resolver.get().is_none()
            && let Some(own) = self.find_own(host)
        {
            // Whatever a look-up under way may say.
            return Some((own, ConnectionReason::OwnName));
        }
        let found = self.locations.wait(host, self.options.deadline).await;
        let addresses = found.unwrap_or_else(|_| Arc::from([]));
        let connections: Vec<_> = match self.resolvers() {
            Some(resolvers) => {
                resolvers.read_control_now().await;
                vec![resolvers]
            }
            None => self.open_connections(),
        };
        if let Some(resolvers) = connections
            .first()
            .filter(|connection| connection.is_resolvers())
        {
            self.learn_coverage(host, resolvers);
        }
        let judged = connections.into_iter().filter_map(|connection| {
            let reason = self.judge(host, &addresses, &connection)?;
            Some((connection, reason))
        });
        // The first of those that are best.
        judged.min_by_key(|(_, reason)| *reason != ConnectionReason::OwnName)
    }

    /// Waits for the resolver's connection. `None` when pages do not use the connection.
    pub async fn resolvers_opened(&self) -> Option<Arc<UpstreamConnection>> {
        self.resolver.get()?.connection.http3_opened().await;
        self.resolvers()
    }

    /// Returns the source of the knowledge of coverage, when a request for a host may leave on the
    /// resolver's connection before the host's address is known.
    pub fn coverage(&self, host: &str, resolvers: &UpstreamConnection) -> Option<CoverageSource> {
        if self.is_misdirected(&resolvers.identity.host, host) {
            return None;
        }
        let before = self.covered().get(host).copied();
        coverage_source(resolvers.covers(host), before)
    }

    /// Returns the reason for using the resolver's connection for a host, after the host's address
    /// is known.
    pub async fn find_shareable(
        &self,
        host: &str,
        resolvers: &UpstreamConnection,
    ) -> Option<ConnectionReason> {
        let found = self.locations.wait(host, self.options.deadline).await;
        // Its certificate is there when its answer is.
        resolvers.read_control_now().await;
        self.learn_coverage(host, resolvers);
        self.judge(host, &found.ok()?, resolvers)
    }

    fn learn_coverage(&self, host: &str, resolvers: &UpstreamConnection) {
        if let Some(covers) = resolvers.covers(host) {
            self.covered().insert(host.to_owned(), covers);
        }
    }

    fn covered(&self) -> MutexGuard<'_, HashMap<String, bool>> {
        let covered = self.covered_by_resolver.lock();
        covered.unwrap_or_else(PoisonError::into_inner)
    }

    fn find_own(&self, host: &str) -> Option<Arc<UpstreamConnection>> {
        let state = self.state();
        let own = state.slots.iter().find(|slot| slot.host == host);
        own.filter(|slot| !slot.is_over())?.connection()
    }

    fn open_connections(&self) -> Vec<Arc<UpstreamConnection>> {
        let state = self.state();
        let slots = state.slots.iter().filter(|slot| !slot.is_over());
        slots.filter_map(UpstreamSlot::connection).collect()
    }

    /// Returns the resolver's connection, when open and allowed for pages.
    fn resolvers(&self) -> Option<Arc<UpstreamConnection>> {
        let resolver = self.resolver.get()?;
        let client = resolver.connection.http3()?;
        if client.is_closed() {
            return None;
        }
        let mut state = self.state();
        if let Some(known) = state.resolvers.as_ref().filter(|known| known.is(&client)) {
            return Some(Arc::clone(known));
        }
        let id = state.next_id;
        state.next_id += 1;
        let identity = ConnectionIdentity::new(
            (id, *state.load.borrow()),
            resolver.host.clone(),
            (HttpVersion::H3, resolver.handshake_mode),
            self.records.clone(),
        );
        let connection = Arc::new(UpstreamConnection::resolvers(client, identity)?);
        state.resolvers = Some(Arc::clone(&connection));
        Some(connection)
    }

    fn judge(
        &self,
        host: &str,
        addresses: &[IpAddr],
        connection: &UpstreamConnection,
    ) -> Option<ConnectionReason> {
        let port = self.options.upstream_port;
        let opened_for = connection.identity.host.as_str();
        let known = ConnectionFactsForHost {
            opened_for,
            address: connection.address,
            certificate_covers: connection.covers(host),
            origin_named: connection.names_origin(&https_origin(host, port)),
            is_misdirected: self.is_misdirected(opened_for, host),
            is_resolvers: connection.is_resolvers(),
        };
        let wanted = RequestTarget {
            host,
            addresses,
            port,
        };
        may_carry(self.options.sharing, &wanted, &known).ok()
    }

    /// Returns the host's own connection, opening the connection when needed.
    pub fn own(self: &Arc<Self>, host: &str) -> watch::Receiver<Option<OpeningResult>> {
        let mut state = self.state();
        state.remove_ended();
        if let Some(slot) = state.slots.iter().find(|slot| slot.host == host) {
            return slot.opened.clone();
        }
        let id = state.next_id;
        state.next_id += 1;
        let identity = ConnectionIdentity::new(
            (id, *state.load.borrow()),
            host.to_owned(),
            (self.options.upstream_version, self.options.handshake_mode),
            self.records.clone(),
        );
        let (sender, opened) = watch::channel(None);
        let opening = Arc::clone(self).open_and_read(identity, sender, state.load.subscribe());
        state.slots.push(UpstreamSlot {
            host: host.to_owned(),
            opened: opened.clone(),
            opener: tokio::spawn(opening),
        });
        opened
    }

    /// Opens a connection for all waiting tasks, and reads the server's first control frames, until
    /// the load ends.
    async fn open_and_read(
        self: Arc<Self>,
        identity: ConnectionIdentity,
        result_sender: watch::Sender<Option<OpeningResult>>,
        mut load: watch::Receiver<u64>,
    ) {
        let number = identity.load;
        let mut load_ended = pin!(async { drop(load.wait_for(|load| *load != number).await) });
        let Some(opened) = self.open(identity, &mut load_ended).await else {
            return;
        };
        result_sender.send_replace(Some(opened.clone()));
        if let Ok(connection) = opened {
            tokio::select! {
                () = connection.read_control() => (),
                () = load_ended => (),
            }
        }
    }

    /// Opens a connection; `None` when the load ended before.
    async fn open(
        &self,
        mut identity: ConnectionIdentity,
        mut load_ended: impl Future<Output = ()> + Unpin,
    ) -> Option<OpeningResult> {
        let host = identity.host.clone();
        let deadline = self.options.deadline;
        let prepared = async {
            let addresses = self.locations.wait(&host, deadline).await?;
            let none = || MeasuredFailure::new(Failure::BootstrapFailed, "the name has no address");
            let address = *addresses.first().ok_or_else(none)?;
            let server = self.servers.get(&host, &self.options)?;
            Ok((SocketAddr::new(address, self.options.upstream_port), server))
        };
        let prepared = tokio::select! {
            prepared = prepared => prepared,
            () = &mut load_ended => return None,
        };
        let (address, server) = match prepared {
            Ok(prepared) => prepared,
            Err(failure) => {
                identity.fail(MeasuredFailure::clone(&failure));
                return Some(Err(failure));
            }
        };
        identity.address = Some(address);
        let opened =
            UpstreamConnection::open(&server, address, identity, deadline, load_ended).await;
        Some(opened?.map(Arc::new))
    }

    /// Notes a 421 answer for a host, on a connection opened for another name.
    pub fn note_misdirected(&self, opened_for: &str, host: &str) {
        let pair = (opened_for.to_owned(), host.to_owned());
        self.misdirected().insert(pair);
    }

    fn is_misdirected(&self, opened_for: &str, host: &str) -> bool {
        let pair = (opened_for.to_owned(), host.to_owned());
        self.misdirected().contains(&pair)
    }

    fn misdirected(&self) -> MutexGuard<'_, HashSet<(String, String)>> {
        let misdirected = self.misdirected.lock();
        misdirected.unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes all connections, even while opening, and counts the next load. All records are
    /// written when this returns. With `forgets_tickets`, the next contact with a server is like
    /// the first: without tickets, address tokens, and the knowledge from certificates and 421
    /// answers.
    pub async fn new_load(&self, forgets_tickets: bool) {
        let (slots, leaving) = {
            let mut state = self.state();
            state.load.send_modify(|load| *load += 1);
            if let Some(resolvers) = state.resolvers.take() {
                resolvers.close_record();
            }
            let state = &mut *state;
            let (slots, leaving) = (&mut state.slots, &mut state.leaving);
            (std::mem::take(slots), std::mem::take(leaving))
        };
        let mut closing = JoinSet::new();
        for slot in slots {
            closing.spawn(slot.close());
        }
        for connection in leaving {
            closing.spawn(async move { connection.close().await });
        }
        while closing.join_next().await.is_some() {}
        self.locations.new_load();
        if forgets_tickets {
            self.servers.forget();
            self.covered().clear();
            self.misdirected().clear();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
