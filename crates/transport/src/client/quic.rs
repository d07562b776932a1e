//! QUIC connections, each on a new endpoint and socket: a cold exchange pays for both.
//! With a ticket that allows it, the connection is handed out before the handshake, and what is
//! written before the first await leaves as 0-RTT data.

use super::address_tokens::AddressTokens;
use super::failure::MeasuredFailure;
use super::handshake_failure::{CERTIFICATE_REASON, unwrapped};
use super::observed_session::ObservedConfig;
use super::path_facts::{PathProbe, QUIC_INITIAL_RTT};
use super::qlog::QlogFolder;
use super::rejected_streams::StreamGuard;
use super::setup::SetupLog;
use super::tcp::is_unreachable;
use super::tls_config::{TlsClient, TlsConfigError};
use crate::flights::Flights;
use crate::socket::{DATAGRAM_MAX_BYTES, RawUdpSocket};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{
    ClientConfig, Connecting, Connection, ConnectionError, Endpoint, EndpointConfig, TokioRuntime,
    TransportConfig, VarInt,
};
use resolab_record::{Failure, HandshakeMode};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// QUIC towards one server, prepared before any clock starts.
#[derive(Clone)]
pub struct QuicClient {
    crypto: Arc<QuicClientConfig>,
    transport: Arc<TransportConfig>,
    tokens: Arc<AddressTokens>,
    endpoint_config: EndpointConfig,
    server_name: String,
    qlog_folder: Option<QlogFolder>,
}

/// The socket of one connection, and what drives it; it outlives a connection that is given up before it
/// stands.
#[derive(Clone)]
pub struct QuicEndpoint(Endpoint);

/// One connection, with the endpoint that is its own.
pub struct QuicConnection {
    /// The connection.
    pub connection: quinn::Connection,
    /// How it was set up.
    pub log: Arc<SetupLog>,
    endpoint: QuicEndpoint,
    dropped_streams: Arc<Notify>,
}

impl QuicClient {
    /// Prepare QUIC. A full handshake is a first contact, so it uses no address token either
    /// (RFC 9000 section 8.1.3); the others come back with the token they were given.
    pub fn new(tls: &TlsClient) -> Result<Self, TlsConfigError> {
        let tokens = match tls.handshake_mode {
            HandshakeMode::Full => AddressTokens::forgotten(),
            HandshakeMode::Resumed | HandshakeMode::ZeroRtt => AddressTokens::default(),
        };
        Ok(Self {
            crypto: Arc::new(QuicClientConfig::try_from(Arc::clone(&tls.config))?),
            transport: Arc::new(transport_config()),
            tokens: Arc::new(tokens),
            endpoint_config: endpoint_config()?,
            server_name: tls.server_name.to_str().into_owned(),
            qlog_folder: QlogFolder::from_environment()?,
        })
    }

    /// The same with other address tokens.
    #[must_use]
    pub fn with_tokens(mut self, tokens: Arc<AddressTokens>) -> Self {
        self.tokens = tokens;
        self
    }

    /// Forget the address tokens that servers gave. Tickets are the TLS configuration's.
    pub fn forget_tokens(&self) {
        self.tokens.forget();
    }

    /// The same with windows for whole pages: bytes the server may send on one stream, and on all
    /// together, before they are taken. Not where qlogs are written.
    #[must_use]
    pub fn with_windows(mut self, stream_bytes: u32, connection_bytes: u32) -> Self {
        let mut transport = transport_config();
        transport
            .stream_receive_window(VarInt::from_u32(stream_bytes))
            .receive_window(VarInt::from_u32(connection_bytes));
        self.transport = Arc::new(transport);
        self
    }

    /// Connect, or get ready for 0-RTT data.
    pub async fn connect(
        &self,
        server: SocketAddr,
        log: Arc<SetupLog>,
    ) -> Result<QuicConnection, MeasuredFailure> {
        let endpoint = self.endpoint(server, &log)?;
        self.connect_from(endpoint, server, log).await
    }

    /// The same from an endpoint made for it.
    pub async fn connect_from(
        &self,
        endpoint: QuicEndpoint,
        server: SocketAddr,
        log: Arc<SetupLog>,
    ) -> Result<QuicConnection, MeasuredFailure> {
        let connecting = self.start(&endpoint, server, &log)?;
        let connection = match connecting.into_0rtt() {
            Ok((connection, _accepted)) => connection,
            Err(connecting) => Self::handshake(connecting, &log).await?,
        };
        log.set_path(PathProbe::Quic(connection.clone()));
        Ok(QuicConnection {
            connection,
            log,
            endpoint,
            dropped_streams: Arc::default(),
        })
    }

    /// A full or resumed handshake, which ends at once where no packet of it can leave.
    async fn handshake(
        connecting: Connecting,
        log: &SetupLog,
    ) -> Result<Connection, MeasuredFailure> {
        tokio::select! {
            biased;
            connected = connecting => connected.map_err(|error| quic_failure(&error, log)),
            reason = log.unsent.wait() => {
                Err(MeasuredFailure::new(Failure::QuicHandshakeUnreachable, reason))
            }
        }
    }

    /// A socket for a connection, whose handshake begins now.
    pub fn endpoint(
        &self,
        server: SocketAddr,
        log: &SetupLog,
    ) -> Result<QuicEndpoint, MeasuredFailure> {
        log.quic_handshake.begin();
        let local = match server {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let flights = Arc::<Flights>::default();
        log.hellos.set_flights(Arc::clone(&flights));
        let (last_arrival, unsent) = (Arc::clone(&log.last_arrival), Arc::clone(&log.unsent));
        let socket = RawUdpSocket::bind_stamped(local, last_arrival, flights, unsent)
            .map_err(|error| unbound(&error))?;
        let endpoint = Endpoint::new_with_abstract_socket(
            self.endpoint_config.clone(),
            None,
            socket,
            Arc::new(TokioRuntime),
        );
        endpoint.map(QuicEndpoint).map_err(other)
    }

    fn start(
        &self,
        endpoint: &QuicEndpoint,
        server: SocketAddr,
        log: &Arc<SetupLog>,
    ) -> Result<Connecting, MeasuredFailure> {
        let config = self.config(server, log).map_err(other)?;
        let connecting = endpoint.0.connect_with(config, server, &self.server_name);
        connecting.map_err(other)
    }

    /// Of one connection.
    fn config(&self, server: SocketAddr, log: &Arc<SetupLog>) -> io::Result<ClientConfig> {
        let crypto = ObservedConfig {
            inner: Arc::clone(&self.crypto) as _,
            log: Arc::downgrade(log),
        };
        let mut config = ClientConfig::new(Arc::new(crypto));
        config.token_store(Arc::clone(&self.tokens) as _);
        match &self.qlog_folder {
            None => drop(config.transport_config(Arc::clone(&self.transport))),
            Some(folder) => {
                let title = format!("{} at {server}", self.server_name);
                folder.log_next(title, transport_config(), &mut config)?;
            }
        }
        Ok(config)
    }
}

/// A socket that could not be had: of an address family that this machine has not, for one.
fn unbound(error: &io::Error) -> MeasuredFailure {
    let failure = if is_unreachable(error) {
        Failure::QuicHandshakeUnreachable
    } else {
        Failure::Other
    };
    MeasuredFailure::new(failure, error)
}

/// Datagrams up to what Ethernet carries over IPv4: quinn's default of 65,527 bytes makes each new
/// endpoint map and unmap 2 MiB inside the clock.
fn endpoint_config() -> Result<EndpointConfig, TlsConfigError> {
    let mut config = EndpointConfig::default();
    config.max_udp_payload_size(DATAGRAM_MAX_BYTES)?;
    Ok(config)
}

/// No streams for the server to open but the three of HTTP/3: quinn keeps an entry for every
/// stream it permits. No idle timeout of our own: who opens a connection closes it.
fn transport_config() -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(3))
        .mtu_discovery_config(None)
        .initial_rtt(QUIC_INITIAL_RTT)
        .max_idle_timeout(None);
    config
}

fn other(error: impl std::fmt::Display) -> MeasuredFailure {
    MeasuredFailure::new(Failure::Other, error)
}

impl QuicEndpoint {
    /// Let the close of its connection leave and late packets be answered, which takes three probe timeouts
    /// (RFC 9000 section 10.2), for `at_most`. Never inside a clock.
    pub async fn drained(&self, at_most: Duration) {
        let _ = tokio::time::timeout(at_most, self.0.wait_idle()).await;
    }
}

impl QuicConnection {
    /// Close with an application code; the packet leaves when the runtime gets its turn.
    pub fn close(&self, code: u32) {
        self.connection.close(VarInt::from_u32(code), b"");
    }

    /// To be kept beside a stream that is opened now, and dropped after it.
    pub fn stream_guard(&self) -> StreamGuard {
        StreamGuard::new(&self.log, &self.dropped_streams)
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.connection.close_reason().is_some()
    }

    /// As of its endpoint.
    pub async fn drained(&self, at_most: Duration) {
        self.endpoint.drained(at_most).await;
    }
}

/// What the end of a connection means for the query that needed it.
pub fn quic_failure(error: &ConnectionError, log: &SetupLog) -> MeasuredFailure {
    let handshaking = log.quic_handshake.is_under_way();
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of quinn's errors those with a meaning of their own are named"
    )]
    let failure = match error {
        ConnectionError::TransportError(error) if error.reason.starts_with(CERTIFICATE_REASON) => {
            Failure::TlsCertificateInvalid
        }
        ConnectionError::TimedOut if handshaking => Failure::QuicHandshakeTimeout,
        _ if handshaking => Failure::QuicHandshakeFailed,
        _ => Failure::QueryConnectionClosed,
    };
    MeasuredFailure::new(failure, unwrapped(&error.to_string()))
}
