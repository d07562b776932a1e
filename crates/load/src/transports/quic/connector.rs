//! QUIC connections of a load. Each connection has a separate socket and port, like a separate
//! client. Servers with load balancing by port therefore spread the connections.

use crate::error::LoadError;
use crate::plan::WorkerPlan;
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{
    ClientConfig, Connection, ConnectionError, Endpoint, EndpointConfig, TokioRuntime,
    TransportConfig, VarInt,
};
use resolab_record::{Failure, HelloFacts};
use resolab_transport::client::{
    SetupLog, TlsClient, TlsConfigError, has_no_common_protocol, observed,
};
use resolab_transport::socket::RawUdpSocket;
use socket2::{Domain, Protocol, Socket, Type};
use std::fmt::Display;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

/// The receive buffer of a socket, for answers arriving while the thread waits or is not running.
const RECEIVE_BUFFER_BYTES: usize = 4 << 20;

/// The reason for a failed connection attempt.
#[derive(Debug, Clone)]
pub struct ConnectFailure {
    /// The failure category for the counts.
    pub failure: Failure,
    /// The error message, for people.
    pub reason: String,
    /// The kernel's error number, if the kernel refused.
    pub os_error: Option<i32>,
}

impl ConnectFailure {
    /// Creates a failure before contact with the server.
    fn from_local_error(error: impl Display) -> Self {
        Self {
            failure: Failure::Other,
            reason: error.to_string(),
            os_error: None,
        }
    }

    /// Creates the failure for a socket refused by the kernel.
    fn from_socket_error(error: &io::Error) -> Self {
        Self {
            os_error: error.raw_os_error(),
            ..Self::from_local_error(error)
        }
    }

    /// Converts the failure to the error of a run unable to begin.
    pub fn into_load_error(self, resolver: SocketAddr) -> LoadError {
        match self.os_error {
            Some(number) => {
                let error = io::Error::from_raw_os_error(number);
                LoadError::from_connect_failure(resolver, self.failure, error)
            }
            None => LoadError::Connect {
                resolver,
                failure: self.failure,
                reason: self.reason,
            },
        }
    }
}

/// The opener of connections to a server.
pub struct Connector {
    crypto: Arc<QuicClientConfig>,
    transport: Arc<TransportConfig>,
    server: SocketAddr,
    server_name: String,
    timeout: Duration,
    segmentation_offload: bool,
}

impl Connector {
    /// Creates the connector of a worker with TLS in the plan.
    pub fn new(worker: &WorkerPlan, tls: &TlsClient) -> Result<Self, TlsConfigError> {
        let plan = &worker.plan;
        Ok(Self {
            crypto: Arc::new(QuicClientConfig::try_from(Arc::clone(tls.config()))?),
            transport: Arc::new(transport_config(plan.segmentation_offload)),
            server: plan.resolver_address,
            server_name: tls.server_name().to_str().into_owned(),
            timeout: plan.timeout,
            segmentation_offload: plan.segmentation_offload,
        })
    }

    /// Opens a connection and returns the facts of its hello messages. Errors with the reason.
    pub async fn connect(&self) -> Result<(Endpoint, Connection, HelloFacts), ConnectFailure> {
        let log = Arc::<SetupLog>::default();
        let mut config = ClientConfig::new(observed(Arc::clone(&self.crypto) as _, &log));
        config.transport_config(Arc::clone(&self.transport));
        let endpoint = self
            .endpoint()
            .map_err(|error| ConnectFailure::from_socket_error(&error))?;
        let connecting = endpoint
            .connect_with(config, self.server, &self.server_name)
            .map_err(ConnectFailure::from_local_error)?;
        match tokio::time::timeout(self.timeout, connecting).await {
            Ok(Ok(connection)) => Ok((endpoint, connection, log.hello_facts())),
            Ok(Err(error)) => Err(ConnectFailure {
                failure: match error {
                    _ if has_no_common_protocol(&error) => Failure::TlsAlpnMismatch,
                    ConnectionError::TimedOut => Failure::QuicHandshakeTimeout,
                    ConnectionError::VersionMismatch
                    | ConnectionError::TransportError(_)
                    | ConnectionError::ConnectionClosed(_)
                    | ConnectionError::ApplicationClosed(_)
                    | ConnectionError::Reset
                    | ConnectionError::LocallyClosed
                    | ConnectionError::CidsExhausted => Failure::QuicHandshakeFailed,
                },
                reason: error.to_string(),
                os_error: None,
            }),
            Err(_) => Err(ConnectFailure {
                failure: Failure::QuicHandshakeTimeout,
                reason: format!("no handshake within {:?}", self.timeout),
                os_error: None,
            }),
        }
    }

    fn endpoint(&self) -> io::Result<Endpoint> {
        let socket = socket(self.server)?;
        let config = EndpointConfig::default();
        let runtime = Arc::new(TokioRuntime);
        if self.segmentation_offload {
            return Endpoint::new(config, None, socket, runtime);
        }
        let socket = RawUdpSocket::from_std(socket)?;
        Endpoint::new_with_abstract_socket(config, None, socket, runtime)
    }
}

fn socket(server: SocketAddr) -> io::Result<UdpSocket> {
    let local = match server {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES)?;
    socket.bind(&local.into())?;
    Ok(socket.into())
}

/// Returns the transport settings of the single client. There are no probes; the server may open
/// only the three streams of HTTP/3. The server decides the lifetime of the connection.
fn transport_config(segmentation_offload: bool) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(3))
        .mtu_discovery_config(None)
        .enable_segmentation_offload(segmentation_offload)
        .max_idle_timeout(None);
    config
}
