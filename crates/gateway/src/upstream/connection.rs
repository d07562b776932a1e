//! One upstream connection, from its first packet to its end. Not for: deciding about requests on
//! the connection (`sharing`).

use super::identity::ConnectionIdentity;
use super::servers::{HttpClientKind, UpstreamServer};
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

/// The maximum time for sending a close.
const CLOSE_LEAVES_WITHIN: Duration = Duration::from_secs(1);

/// An open upstream connection.
pub(crate) struct UpstreamConnection {
    pub identity: ConnectionIdentity,
    pub address: SocketAddr,
    /// True when the server takes no more requests on the connection.
    is_draining: AtomicBool,
    client: UpstreamClient,
}

enum UpstreamClient {
    /// The HTTP/2 client; `None` while closing.
    H2(Mutex<Option<Arc<H2Client>>>),
    H3(Box<H3Client>),
    /// The stub's connection, opened and closed by the stub.
    Resolver(Arc<H3Client>),
}

impl UpstreamConnection {
    /// Wraps the resolver's open connection. The connection's start is the start of its opening,
    /// from the log of its set-up.
    pub(super) fn resolvers(
        client: Arc<H3Client>,
        mut identity: ConnectionIdentity,
    ) -> Option<Self> {
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
            client: UpstreamClient::Resolver(client),
        })
    }

    /// Returns true when this is the resolver's connection with this client.
    pub fn is(&self, resolvers: &Arc<H3Client>) -> bool {
        matches!(&self.client, UpstreamClient::Resolver(client) if Arc::ptr_eq(client, resolvers))
    }

    /// Returns true when this is the resolver's connection.
    pub fn is_resolvers(&self) -> bool {
        matches!(self.client, UpstreamClient::Resolver(_))
    }

    fn http3(&self) -> Option<&H3Client> {
        match &self.client {
            UpstreamClient::H2(_) => None,
            UpstreamClient::H3(client) => Some(client),
            UpstreamClient::Resolver(client) => Some(client),
        }
    }

    /// Opens a connection within `at_most`. With early data, returns before the end of the
    /// handshake. `None` when the load ends before; then nothing more is sent on the connection.
    pub(super) async fn open(
        server: &UpstreamServer,
        address: SocketAddr,
        identity: ConnectionIdentity,
        at_most: Duration,
        load_ended: impl Future<Output = ()>,
    ) -> Option<Result<Self, MeasuredFailure>> {
        let setup = &identity.setup;
        setup.set_peer_address(address);
        let opening = async {
            match &server.way {
                HttpClientKind::H2(tls) => {
                    open_h2(tls, (address, at_most), setup, load_ended).await
                }
                HttpClientKind::H3(quic) => {
                    open_h3(quic, (address, at_most), setup, load_ended).await
                }
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

    /// Sends a request's head, and returns the request's two directions. A request with an unsafe
    /// method or a body waits for the end of the handshake (RFC 8470 section 4), and fails when the
    /// handshake takes longer than `at_most`.
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
        let request = set_version(request, self.identity.http_version);
        let begun = match &self.client {
            UpstreamClient::H2(client) => match h2_of(client) {
                Some(client) => client.begin(request, ends).await,
                None => Err(closed_failure()),
            },
            UpstreamClient::H3(client) => client.begin(request, ends).await,
            UpstreamClient::Resolver(client) => client.begin(request, ends).await,
        };
        let begun = begun.inspect_err(|failure| self.note_failure(failure))?;
        self.identity.count_request();
        Ok(begun)
    }

    /// Waits for the end of the handshake or of the connection, at most `at_most`. Returns true
    /// after either end. After a failed handshake, requests fail.
    pub async fn handshake_has_ended(&self, at_most: Duration) -> bool {
        let either = async {
            tokio::select! {
                () = self.identity.setup.handshake_ended() => (),
                () = self.wait_for_end() => (),
            }
        };
        timeout(at_most, either).await.is_ok()
    }

    /// Waits for the end of the connection.
    async fn wait_for_end(&self) {
        match &self.client {
            UpstreamClient::H2(client) => {
                if let Some(client) = h2_of(client) {
                    client.wait_for_end().await;
                }
            }
            UpstreamClient::H3(client) => drop(client.quic().connection.closed().await),
            UpstreamClient::Resolver(client) => drop(client.quic().connection.closed().await),
        }
    }

    /// Changes the priority of a request. Returns true when the server will receive the change
    /// (HTTP/3 only).
    pub async fn reprioritize(&self, stream: StreamId, value: &[u8]) -> bool {
        match self.http3() {
            Some(client) => client.reprioritize(stream, value).await,
            None => false,
        }
    }

    /// Returns true when a request broke off because of rejected early data, and may begin again
    /// here.
    pub fn may_begin_again(&self) -> bool {
        // Below HTTP/2 the stream sends it again by itself.
        self.http3().is_some_and(H3Client::may_begin_again)
    }

    /// Returns true when the connection takes further requests. A server ending the connection in
    /// an orderly way (RFC 9113 section 6.8) still serves its pending requests.
    pub fn takes_requests(&self) -> bool {
        let is_open = match &self.client {
            UpstreamClient::H2(client) => {
                h2_of(client).is_some_and(|client| client.takes_requests())
            }
            UpstreamClient::H3(_) | UpstreamClient::Resolver(_) => !self.is_closed(),
        };
        is_open && !self.is_draining.load(Ordering::Relaxed)
    }

    /// Notes that the connection refused a request.
    fn note_failure(&self, failure: &MeasuredFailure) {
        if failure.failure == Failure::QueryConnectionClosed {
            self.is_draining.store(true, Ordering::Relaxed);
        }
    }

    pub fn is_closed(&self) -> bool {
        match &self.client {
            UpstreamClient::H2(client) => h2_of(client).is_none_or(|client| client.is_closed()),
            UpstreamClient::H3(client) => client.is_closed(),
            UpstreamClient::Resolver(client) => client.is_closed(),
        }
    }

    /// Returns true when the certificate covers a host; `None` before the certificate has arrived.
    pub fn covers(&self, host: &str) -> Option<bool> {
        match &self.client {
            UpstreamClient::H2(_) => {
                let leaf = self.identity.setup.peer_leaf();
                leaf.map(|leaf| leaf_covers(leaf, host))
            }
            UpstreamClient::H3(client) => certificate_covers(&client.quic().connection, host),
            UpstreamClient::Resolver(client) => certificate_covers(&client.quic().connection, host),
        }
    }

    /// Returns true when the Origin Set contains an origin. `None` without an ORIGIN frame; only
    /// HTTP/3 reads ORIGIN frames.
    pub fn names_origin(&self, origin: &str) -> Option<bool> {
        self.http3()?.origins().allow(origin)
    }

    /// Reads the server's control frames, after the end of the handshake or of the connection.
    pub async fn read_control(&self) {
        tokio::select! {
            () = self.identity.setup.handshake_ended() => (),
            () = self.wait_for_end() => (),
        }
        if let Some(client) = self.http3() {
            client.read_control().await;
        }
    }

    /// Reads the control frames received by now, without waiting for more.
    pub async fn read_control_now(&self) {
        if let Some(client) = self.http3() {
            client.read_control().await;
        }
    }

    /// Writes the record at the end of the connection's load.
    pub fn close_record(&self) {
        self.identity.record();
    }

    /// Closes in an orderly way, and writes the record.
    pub async fn close(&self) {
        match &self.client {
            UpstreamClient::H2(client) => {
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
            UpstreamClient::H3(client) => {
                client.quic().close(H3_NO_ERROR);
                client.quic().wait_until_drained(CLOSE_LEAVES_WITHIN).await;
            }
            UpstreamClient::Resolver(_) => (),
        }
        self.identity.record();
    }
}

async fn open_h2(
    tls: &TlsClient,
    (address, at_most): (SocketAddr, Duration),
    setup: &Arc<SetupLog>,
    load_ended: impl Future<Output = ()>,
) -> Option<Result<UpstreamClient, MeasuredFailure>> {
    let opening = async {
        let tcp = connect_tcp(address, TcpOptions { fast_open: false }, setup).await?;
        let stream = connect_tls_for_bodies(tcp, tls, Arc::clone(setup)).await?;
        let client = H2Client::open_with(stream, PAGE_WINDOWS, Arc::clone(setup)).await?;
        Ok(UpstreamClient::H2(Mutex::new(Some(Arc::new(client)))))
    };
    let opening = wait_within(at_most, address, setup, opening);
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
) -> Option<Result<UpstreamClient, MeasuredFailure>> {
    let endpoint = match quic.endpoint(address, setup) {
        Ok(endpoint) => endpoint,
        Err(failure) => return Some(Err(failure)),
    };
    let opening = async {
        let connecting = quic.connect_from(endpoint.clone(), address, Arc::clone(setup));
        let client = H3Client::open(Arc::new(connecting.await?)).await?;
        Ok(UpstreamClient::H3(Box::new(client)))
    };
    let opened = tokio::select! {
        opened = wait_within(at_most, address, setup, opening) => Some(opened),
        () = load_ended => None,
    };
    if opened.is_none() {
        endpoint.wait_until_drained(CLOSE_LEAVES_WITHIN).await;
    }
    opened
}

async fn wait_within<T>(
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

fn closed_failure() -> MeasuredFailure {
    MeasuredFailure::new(
        Failure::QueryConnectionClosed,
        "the connection upstream was closed",
    )
}

fn is_safe(method: &Method) -> bool {
    method.is_safe() && method != Method::TRACE
}

/// Sets the request's HTTP version, because libraries use this field.
fn set_version(mut request: Request<()>, version: HttpVersion) -> Request<()> {
    *request.version_mut() = if version == HttpVersion::H3 {
        Version::HTTP_3
    } else {
        Version::HTTP_2
    };
    request
}
