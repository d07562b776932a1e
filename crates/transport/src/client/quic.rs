//! QUIC connections, each on a new endpoint and socket: the time of a cold exchange includes both.
//! With a ticket for early data, the caller gets the connection before the handshake. Data written
//! before the first await leaves as 0-RTT data.

use super::address_tokens::ClientAddressTokens;
use super::failure::MeasuredFailure;
use super::handshake_failure::{CERTIFICATE_REASON, unwrap_reason};
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
    TransportConfig, TransportErrorCode, VarInt,
};
use resolab_record::{Failure, HandshakeMode};
use rustls::AlertDescription;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// A QUIC client for one server, prepared before any measurement.
#[derive(Clone)]
pub struct QuicClient {
    crypto: Arc<QuicClientConfig>,
    transport: Arc<TransportConfig>,
    tokens: Arc<ClientAddressTokens>,
    endpoint_config: EndpointConfig,
    server_name: String,
    qlog_folder: Option<QlogFolder>,
}

/// The socket of one connection and its driver. The endpoint outlives a connection abandoned during
/// the handshake.
#[derive(Clone)]
pub struct QuicEndpoint(Endpoint);

/// One connection with its own endpoint.
pub struct QuicConnection {
    /// The connection of quinn.
    pub connection: quinn::Connection,
    /// The log of the connection's set-up.
    pub log: Arc<SetupLog>,
    endpoint: QuicEndpoint,
    dropped_streams: Arc<Notify>,
}

impl QuicClient {
    /// Prepares QUIC. A full handshake is a first contact and uses no address token (RFC 9000
    /// section 8.1.3). The other modes present the token of an earlier connection.
    pub fn new(tls: &TlsClient) -> Result<Self, TlsConfigError> {
        let tokens = match tls.handshake_mode {
            HandshakeMode::Full => ClientAddressTokens::without_memory(),
            HandshakeMode::Resumed | HandshakeMode::ZeroRtt => ClientAddressTokens::default(),
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

    /// Returns the client with other address tokens.
    #[must_use]
    pub fn with_tokens(mut self, tokens: Arc<ClientAddressTokens>) -> Self {
        self.tokens = tokens;
        self
    }

    /// Forgets the address tokens of all servers. The tickets belong to the TLS configuration.
    pub fn forget_tokens(&self) {
        self.tokens.forget();
    }

    /// Returns the client with flow control windows for whole pages. The windows limit the unread
    /// bytes of one stream, and of all streams together. Do not use this client where qlogs are
    /// written.
    #[must_use]
    pub fn with_windows(mut self, stream_bytes: u32, connection_bytes: u32) -> Self {
        let mut transport = transport_config();
        transport
            .stream_receive_window(VarInt::from_u32(stream_bytes))
            .receive_window(VarInt::from_u32(connection_bytes));
        self.transport = Arc::new(transport);
        self
    }

    /// Connects, or prepares for 0-RTT data.
    pub async fn connect(
        &self,
        server: SocketAddr,
        log: Arc<SetupLog>,
    ) -> Result<QuicConnection, MeasuredFailure> {
        let endpoint = self.endpoint(server, &log)?;
        self.connect_from(endpoint, server, log).await
    }

    /// Connects from an endpoint made for this connection.
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

    /// Makes a full or resumed handshake. Errors at once when no packet of the handshake can leave.
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

    /// Opens a socket for a connection. The connection's handshake begins now.
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
            .map_err(|error| bind_failure(&error))?;
        let endpoint = Endpoint::new_with_abstract_socket(
            self.endpoint_config.clone(),
            None,
            socket,
            Arc::new(TokioRuntime),
        );
        endpoint.map(QuicEndpoint).map_err(other_failure)
    }

    fn start(
        &self,
        endpoint: &QuicEndpoint,
        server: SocketAddr,
        log: &Arc<SetupLog>,
    ) -> Result<Connecting, MeasuredFailure> {
        let config = self.config(server, log).map_err(other_failure)?;
        let connecting = endpoint.0.connect_with(config, server, &self.server_name);
        connecting.map_err(other_failure)
    }

    /// Returns the configuration of one connection.
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

/// Classifies a failure to open a socket, for example with an address family missing on this
/// machine.
fn bind_failure(error: &io::Error) -> MeasuredFailure {
    let failure = if is_unreachable(error) {
        Failure::QuicHandshakeUnreachable
    } else {
        Failure::Other
    };
    MeasuredFailure::new(failure, error)
}

/// Limits datagrams to Ethernet's payload over IPv4. Quinn's default of 65,527 bytes makes each new
/// endpoint map and unmap 2 MiB inside the measured time.
fn endpoint_config() -> Result<EndpointConfig, TlsConfigError> {
    let mut config = EndpointConfig::default();
    config.max_udp_payload_size(DATAGRAM_MAX_BYTES)?;
    Ok(config)
}

/// Permits the server only the three streams of HTTP/3, because quinn keeps an entry for every
/// permitted stream. No idle timeout is set: the opener of a connection closes the connection.
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

fn other_failure(error: impl std::fmt::Display) -> MeasuredFailure {
    MeasuredFailure::new(Failure::Other, error)
}

impl QuicEndpoint {
    /// Waits at most `at_most` for the connection's close to leave and for answers to late packets.
    /// The wait takes three probe timeouts (RFC 9000 section 10.2). Do not call inside a measured
    /// time.
    pub async fn wait_until_drained(&self, at_most: Duration) {
        let _ = tokio::time::timeout(at_most, self.0.wait_idle()).await;
    }
}

impl QuicConnection {
    /// Closes the connection with an application code. The packet leaves at the runtime's next
    /// turn.
    pub fn close(&self, code: u32) {
        self.connection.close(VarInt::from_u32(code), b"");
    }

    /// Returns a guard for a new stream. Keep the guard beside the stream and drop the stream
    /// first.
    pub fn stream_guard(&self) -> StreamGuard {
        StreamGuard::new(&self.log, &self.dropped_streams)
    }

    /// Returns true when the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.connection.close_reason().is_some()
    }

    /// Waits as [`QuicEndpoint::wait_until_drained`] does.
    pub async fn wait_until_drained(&self, at_most: Duration) {
        self.endpoint.wait_until_drained(at_most).await;
    }
}

/// Returns true for the TLS alert of a side that has protocols, and none in common with the other
/// (RFC 9001 section 8.1).
pub fn has_no_common_protocol(error: &ConnectionError) -> bool {
    let alert = TransportErrorCode::crypto(AlertDescription::NoApplicationProtocol.into());
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "quinn's; no other error has a code of TLS"
    )]
    match error {
        ConnectionError::TransportError(error) => error.code == alert,
        ConnectionError::ConnectionClosed(close) => close.error_code == alert,
        _ => false,
    }
}

/// Classifies the end of a connection for its query.
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
        _ if has_no_common_protocol(error) => Failure::TlsAlpnMismatch,
        ConnectionError::TimedOut if handshaking => Failure::QuicHandshakeTimeout,
        _ if handshaking => Failure::QuicHandshakeFailed,
        _ => Failure::QueryConnectionClosed,
    };
    MeasuredFailure::new(failure, unwrap_reason(&error.to_string()))
}
