//! One connection upstream, from its first packet to its end. Not for: whether a request may go
//! on it; that is `sharing`.

use super::identity::Identity;
use super::servers::{Server, Way};
use h3::quic::StreamId;
use http::{Method, Request, Version};
use resolab_http::streaming::{BodyWriter, ResponseReader};
use resolab_http::{H2Client, H3_NO_ERROR, H3Client, PAGE_WINDOWS};
use resolab_record::{Failure, HttpVersion};
use resolab_transport::client::{
    MeasuredFailure, QuicClient, SetupLog, TcpOptions, TlsClient, certificate_covers, connect_tcp,
    connect_tls_for_bodies, leaf_covers,
};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// How long a close may take to leave.
const CLOSE_LEAVES_WITHIN: Duration = Duration::from_secs(1);

/// An open connection.
pub(crate) struct Connection {
    pub identity: Identity,
    pub address: SocketAddr,
    /// The server takes no more requests on it.
    is_draining: AtomicBool,
    client: Client,
}

enum Client {
    /// `None` once it is being closed.
    H2(Mutex<Option<Arc<H2Client>>>),
    H3(Box<H3Client>),
    /// The stub's, which opens and closes it.
    Resolver(Arc<H3Client>),
}

impl Connection {
    /// The resolver's, which is open: wanted when its opening began, as the log of its set-up tells.
    pub(super) fn resolvers(client: Arc<H3Client>, mut identity: Identity) -> Option<Self> {
        let setup = Arc::clone(&client.quic().log);
        let address = setup.peer_address()?;
        let began_ns = setup.bootstrap.start_ns();
        let began_ns = began_ns.or(setup.quic_handshake.start_ns());
        identity.wanted_ns = began_ns.unwrap_or(identity.wanted_ns);
        identity.usable_since(client.opened_ns());
        identity.setup = setup;
        identity.address = Some(address);
        Some(Self {
            identity,
            address,
            is_draining: AtomicBool::new(false),
            client: Client::Resolver(client),
        })
    }

    /// Whether it is the resolver's, by this client.
    pub fn is(&self, resolvers: &Arc<H3Client>) -> bool {
        matches!(&self.client, Client::Resolver(client) if Arc::ptr_eq(client, resolvers))
    }

    /// Whether it is the resolver's.
    pub fn is_resolvers(&self) -> bool {
        matches!(self.client, Client::Resolver(_))
    }

    fn http3(&self) -> Option<&H3Client> {
        match &self.client {
            Client::H2(_) => None,
            Client::H3(client) => Some(client),
            Client::Resolver(client) => Some(client),
        }
    }

    /// Open one, at most `at_most` later. With early data it is open before its handshake has ended. `None`
    /// where the load ends before: then nothing of it is sent any more.
    pub(super) async fn open(
        server: &Server,
        address: SocketAddr,
        identity: Identity,
        at_most: Duration,
        load_ended: impl Future<Output = ()>,
    ) -> Option<Result<Self, MeasuredFailure>> {
        let setup = &identity.setup;
        setup.set_peer_address(address);
        let opening = async {
            match &server.way {
                Way::H2(tls) => open_h2(tls, (address, at_most), setup, load_ended).await,
                Way::H3(quic) => open_h3(quic, (address, at_most), setup, load_ended).await,
            }
        };
        let client = match opening.await? {
            Ok(client) => client,
            Err(failure) => {
                identity.fail(failure.clone());
                return Some(Err(failure));
            }
        };
        identity.usable();
        Some(Ok(Self {
            identity,
            address,
            is_draining: AtomicBool::new(false),
            client,
        }))
    }

    /// Send a request's head; its two directions. One that is not safe, or has a body, waits for the end of
    /// the handshake (RFC 8470 section 4), and fails where that does not come within `at_most`.
    pub async fn begin(
        &self,
        request: Request<()>,
        ends: bool,
        at_most: Duration,
    ) -> Result<(BodyWriter, ResponseReader), MeasuredFailure> {
        let may_be_early = ends && is_safe(request.method());
        if !may_be_early && !self.handshake_has_ended(at_most).await {
            let detail = format!("no handshake with {} within {at_most:?}", self.address);
            let failure = self.identity.setup.failure_at_deadline();
            return Err(MeasuredFailure::new(failure, detail));
        }
        let request = in_version(request, self.identity.http_version);
        let begun = match &self.client {
            Client::H2(client) => match h2_of(client) {
                Some(client) => client.begin(request, ends).await,
                None => Err(ended()),
            },
            Client::H3(client) => client.begin(request, ends).await,
            Client::Resolver(client) => client.begin(request, ends).await,
        };
        let begun = begun.inspect_err(|failure| self.note_failure(failure))?;
        self.identity.count_request();
        Ok(begun)
    }

    /// Wait for the end of the handshake, or of the connection, at most `at_most`; whether either came.
    /// Where the handshake failed, so does what is sent then.
    pub async fn handshake_has_ended(&self, at_most: Duration) -> bool {
        let either = async {
            tokio::select! {
                () = self.identity.setup.handshake_ended() => (),
                () = self.ended() => (),
            }
        };
        timeout(at_most, either).await.is_ok()
    }

    /// Resolves when the connection has ended.
    async fn ended(&self) {
        match &self.client {
            Client::H2(client) => {
                if let Some(client) = h2_of(client) {
                    client.ended().await;
                }
            }
            Client::H3(client) => drop(client.quic().connection.closed().await),
            Client::Resolver(client) => drop(client.quic().connection.closed().await),
        }
    }

    /// Change the priority of a request; whether the server will be told, which is over HTTP/3 only.
    pub async fn reprioritize(&self, stream: StreamId, value: &[u8]) -> bool {
        match self.http3() {
            Some(client) => client.reprioritize(stream, value).await,
            None => false,
        }
    }

    /// Whether a request broke off for early data was rejected, and may be begun again here.
    pub fn may_begin_again(&self) -> bool {
        // Below HTTP/2 the stream sends it again by itself.
        self.http3().is_some_and(H3Client::may_begin_again)
    }

    /// Whether it takes further requests: a server that ends it in good order (RFC 9113 section 6.8)
    /// goes on with those it has.
    pub fn takes_requests(&self) -> bool {
        let is_open = match &self.client {
            Client::H2(client) => h2_of(client).is_some_and(|client| client.takes_requests()),
            Client::H3(_) | Client::Resolver(_) => !self.is_closed(),
        };
        is_open && !self.is_draining.load(Ordering::Relaxed)
    }

    /// It took no request.
    fn note_failure(&self, failure: &MeasuredFailure) {
        if failure.failure == Failure::QueryConnectionClosed {
            self.is_draining.store(true, Ordering::Relaxed);
        }
    }

    pub fn is_closed(&self) -> bool {
        match &self.client {
            Client::H2(client) => h2_of(client).is_none_or(|client| client.is_closed()),
            Client::H3(client) => client.is_closed(),
            Client::Resolver(client) => client.is_closed(),
        }
    }

    /// Whether its certificate covers a host; `None` while it has none.
    pub fn covers(&self, host: &str) -> Option<bool> {
        match &self.client {
            Client::H2(_) => {
                let leaf = self.identity.setup.peer_leaf();
                leaf.map(|leaf| leaf_covers(leaf, host))
            }
            Client::H3(client) => certificate_covers(&client.quic().connection, host),
            Client::Resolver(client) => certificate_covers(&client.quic().connection, host),
        }
    }

    /// Whether its Origin Set names an origin; `None` without an ORIGIN frame, which is read over
    /// HTTP/3 only.
    pub fn names_origin(&self, origin: &str) -> Option<bool> {
        self.http3()?.origins().allow(origin)
    }

    /// Read what the server says of the connection once its handshake has ended, or the connection.
    pub async fn read_control(&self) {
        tokio::select! {
            () = self.identity.setup.handshake_ended() => (),
            () = self.ended() => (),
        }
        if let Some(client) = self.http3() {
            client.read_control().await;
        }
    }

    /// Read what the server has said of the connection by now; waits for no more.
    pub async fn read_control_now(&self) {
        if let Some(client) = self.http3() {
            client.read_control().await;
        }
    }

    /// Its part in the load is over: write the record.
    pub fn close_record(&self) {
        self.identity.record();
    }

    /// Close in good order, and write the record.
    pub async fn close(&self) {
        match &self.client {
            Client::H2(client) => {
                let client = client.lock().unwrap_or_else(PoisonError::into_inner).take();
                match client.map(Arc::try_unwrap) {
                    Some(Ok(client)) => client.close(CLOSE_LEAVES_WITHIN).await,
                    Some(Err(shared)) => {
                        if let Some(end) = self.identity.setup.tcp_end() {
                            end.reset();
                        }
                        shared.abort();
                    }
                    None => (),
                }
            }
            Client::H3(client) => {
                client.quic().close(H3_NO_ERROR);
                client.quic().drained(CLOSE_LEAVES_WITHIN).await;
            }
            Client::Resolver(_) => (),
        }
        self.identity.record();
    }
}

async fn open_h2(
    tls: &TlsClient,
    (address, at_most): (SocketAddr, Duration),
    setup: &Arc<SetupLog>,
    load_ended: impl Future<Output = ()>,
) -> Option<Result<Client, MeasuredFailure>> {
    let opening = async {
        let tcp = connect_tcp(address, TcpOptions { fast_open: false }, setup).await?;
        let stream = connect_tls_for_bodies(tcp, tls, Arc::clone(setup)).await?;
        let client = H2Client::open_with(stream, PAGE_WINDOWS, Arc::clone(setup)).await?;
        Ok(Client::H2(Mutex::new(Some(Arc::new(client)))))
    };
    let opening = within(at_most, address, setup, opening);
    tokio::select! {
        opened = opening => Some(opened),
        () = load_ended => {
            // Before the socket is closed: the kernel would go on with what it holds.
            if let Some(end) = setup.tcp_end() {
                end.reset();
            }
            None
        }
    }
}

async fn open_h3(
    quic: &QuicClient,
    (address, at_most): (SocketAddr, Duration),
    setup: &Arc<SetupLog>,
    load_ended: impl Future<Output = ()>,
) -> Option<Result<Client, MeasuredFailure>> {
    let endpoint = match quic.endpoint(address, setup) {
        Ok(endpoint) => endpoint,
        Err(failure) => return Some(Err(failure)),
    };
    let opening = async {
        let connecting = quic.connect_from(endpoint.clone(), address, Arc::clone(setup));
        let client = H3Client::open(Arc::new(connecting.await?)).await?;
        Ok(Client::H3(Box::new(client)))
    };
    let opened = tokio::select! {
        opened = within(at_most, address, setup, opening) => Some(opened),
        () = load_ended => None,
    };
    if opened.is_none() {
        endpoint.drained(CLOSE_LEAVES_WITHIN).await;
    }
    opened
}

async fn within<T>(
    at_most: Duration,
    address: SocketAddr,
    setup: &SetupLog,
    opening: impl Future<Output = Result<T, MeasuredFailure>>,
) -> Result<T, MeasuredFailure> {
    timeout(at_most, opening).await.unwrap_or_else(|_| {
        let detail = format!("no connection to {address} within {at_most:?}");
        Err(MeasuredFailure::new(setup.failure_at_deadline(), detail))
    })
}

fn h2_of(client: &Mutex<Option<Arc<H2Client>>>) -> Option<Arc<H2Client>> {
    client
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

fn ended() -> MeasuredFailure {
    MeasuredFailure::new(
        Failure::QueryConnectionClosed,
        "the connection upstream was closed",
    )
}

fn is_safe(method: &Method) -> bool {
    method.is_safe() && method != Method::TRACE
}

/// Libraries go by the version a request says it has.
fn in_version(mut request: Request<()>, version: HttpVersion) -> Request<()> {
    *request.version_mut() = if version == HttpVersion::H3 {
        Version::HTTP_3
    } else {
        Version::HTTP_2
    };
    request
}
