//! A QUIC listener with a ticket policy by server name. Connections are usable before the handshake
//! is complete.
//!
//! For: one address and port each, never a wildcard, so that answers leave from the requested
//! address.
//! Not for: the protocols on the connections.

use super::flight_table::FlightTable;
use super::quic_session::QuicAdmission;
use super::quic_socket::QuicSocket;
use super::resumption_detector::WitnessedCertificate;
use super::{HandshakeFacts, QuicControl, ServerPolicies, TicketTerms};
use crate::socket::{DATAGRAM_MAX_BYTES, RawUdpSocket};
use quinn::congestion::CubicConfig;
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{
    Connection, ConnectionError, Endpoint, EndpointConfig, IdleTimeout, Incoming, ServerConfig,
    TransportConfig, VarInt,
};
use resolab_record::{AddressProof, TicketPolicy};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The default initial window, in bytes: ten datagrams of a size usable on all paths, recommended
/// by RFC 9002 section 7.2.
pub const INITIAL_WINDOW_BYTES: u32 = 12_000;

/// The limits of a listener for its clients.
#[derive(Debug, Clone)]
pub struct QuicSettings {
    /// The maximum of concurrent requests. The server allocates memory for every permitted stream
    /// at once.
    pub max_bidi_streams_count: u32,
    /// The maximum of unidirectional streams; 0 if the protocol has no unidirectional streams.
    pub max_uni_streams_count: u32,
    /// The idle time before a connection is dropped.
    pub idle_timeout: Duration,
    /// The flow control window of one stream: unread bytes from the client.
    pub stream_window_bytes: u32,
    /// The flow control window of all streams of a connection, in bytes.
    pub connection_window_bytes: u32,
    /// The initial congestion window of a connection, in bytes (RFC 9002 section 7.2).
    pub initial_window_bytes: u32,
    /// The maximum of first packets waiting to be accepted.
    pub waiting_count: usize,
    /// The bytes buffered for each waiting connection; the total limit is 64 times this value.
    pub waiting_bytes: u64,
}

impl QuicSettings {
    /// Makes settings for a server of small requests without attackers.
    pub fn with_stream_limits(bidi_count: u32, uni_count: u32, idle_timeout: Duration) -> Self {
        Self {
            max_bidi_streams_count: bidi_count,
            max_uni_streams_count: uni_count,
            idle_timeout,
            stream_window_bytes: 1 << 17,
            connection_window_bytes: 1 << 20,
            initial_window_bytes: INITIAL_WINDOW_BYTES,
            waiting_count: 1 << 12,
            waiting_bytes: 1 << 18,
        }
    }
}

/// A bound QUIC socket for accepting connections.
pub struct QuicListener {
    endpoint: Endpoint,
    server_config: ServerConfig,
    base: Arc<QuicServerConfig>,
    policies: Arc<ServerPolicies>,
    alpn: Arc<Vec<Vec<u8>>>,
    control: Arc<QuicControl>,
    flights: Arc<FlightTable>,
}

impl QuicListener {
    /// Binds a socket and listens; needs the context of a tokio runtime.
    pub fn bind(
        address: SocketAddr,
        alpn: Vec<Vec<u8>>,
        policies: Arc<ServerPolicies>,
        settings: &QuicSettings,
        control: Arc<QuicControl>,
    ) -> io::Result<Self> {
        let socket = std::net::UdpSocket::bind(address)?;
        let endpoint = EndpointConfig::default();
        Self::listen_on_socket(socket, endpoint, alpn, policies, settings, control)
    }

    /// Listens on a bound socket, for clients with datagrams up to Ethernet's payload over IPv4.
    /// Receiving such datagrams needs a fortieth of the memory.
    pub fn listen_with_small_datagrams(
        socket: std::net::UdpSocket,
        alpn: Vec<Vec<u8>>,
        policies: Arc<ServerPolicies>,
        settings: &QuicSettings,
        control: Arc<QuicControl>,
    ) -> io::Result<Self> {
        let mut endpoint = EndpointConfig::default();
        let small = endpoint.max_udp_payload_size(DATAGRAM_MAX_BYTES);
        small.map_err(io::Error::other)?;
        Self::listen_on_socket(socket, endpoint, alpn, policies, settings, control)
    }

    fn listen_on_socket(
        socket: std::net::UdpSocket,
        endpoint: EndpointConfig,
        alpn: Vec<Vec<u8>>,
        policies: Arc<ServerPolicies>,
        settings: &QuicSettings,
        control: Arc<QuicControl>,
    ) -> io::Result<Self> {
        let no_certificate = WitnessedCertificate::new(None, Arc::new(AtomicBool::new(false)));
        let base = policies
            .quic_config(
                TicketTerms::new(TicketPolicy::None),
                &alpn,
                Arc::new(no_certificate),
            )
            .map_err(io::Error::other)?;
        let base = Arc::new(QuicServerConfig::try_from(base).map_err(io::Error::other)?);
        let mut server_config = ServerConfig::with_crypto(Arc::clone(&base) as _);
        server_config
            .transport_config(Arc::new(transport_config(settings)?))
            .max_incoming(settings.waiting_count)
            .incoming_buffer_size(settings.waiting_bytes)
            .incoming_buffer_size_total(64 * settings.waiting_bytes);
        policies.address_tokens.put_into(&mut server_config);
        let flights = Arc::<FlightTable>::default();
        let socket = QuicSocket {
            inner: RawUdpSocket::from_std(socket)?,
            black_hole: Arc::clone(&policies.black_hole),
            flights: Arc::clone(&flights),
        };
        let endpoint = Endpoint::new_with_abstract_socket(
            endpoint,
            Some(server_config.clone()),
            Arc::new(socket),
            Arc::new(quinn::TokioRuntime),
        )?;
        Ok(Self {
            endpoint,
            server_config,
            base,
            policies,
            alpn: Arc::new(alpn),
            control,
            flights,
        })
    }

    /// Returns the listening address and port.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.endpoint.local_addr()
    }

    /// Returns the next client; `None` after the close.
    pub async fn accept(&self) -> Option<QuicArrival> {
        let incoming = self.next_admitted().await?;
        let facts = Arc::new(HandshakeFacts::default());
        facts.set_address_proof(address_proof(&incoming));
        facts
            .hellos
            .set_flights(self.flights.take(incoming.remote_address()));
        let admission = QuicAdmission {
            flights: Arc::clone(&self.flights),
            base: Arc::clone(&self.base),
            policies: Arc::clone(&self.policies),
            alpn: Arc::clone(&self.alpn),
            peer: incoming.remote_address(),
            facts: Arc::clone(&facts),
        };
        let mut config = self.server_config.clone();
        config.crypto = Arc::new(admission);
        Some(QuicArrival {
            incoming,
            config,
            facts,
        })
    }

    async fn next_admitted(&self) -> Option<Incoming> {
        loop {
            let incoming = self.endpoint.accept().await?;
            let proof = address_proof(&incoming);
            let after_retry = proof == AddressProof::RetryToken;
            if !self.control.admits() {
                self.flights.refuse(incoming.remote_address());
                incoming.refuse();
            } else if self
                .control
                .wants_retry(incoming.remote_address_validated(), after_retry)
            {
                // It errs only after a Retry, which is never asked for twice.
                let _ = incoming.retry();
            } else {
                return Some(incoming);
            }
        }
    }

    /// Closes every connection and stops accepting.
    pub fn close(&self, code: u32, reason: &[u8]) {
        self.endpoint.close(VarInt::from_u32(code), reason);
    }
}

/// A new client by its first packet.
pub struct QuicArrival {
    incoming: Incoming,
    config: ServerConfig,
    facts: Arc<HandshakeFacts>,
}

impl QuicArrival {
    /// Returns the facts of the handshake; the handshake adds further facts.
    pub fn facts(&self) -> &Arc<HandshakeFacts> {
        &self.facts
    }

    /// Returns the client's address and port.
    pub fn peer_address(&self) -> SocketAddr {
        self.incoming.remote_address()
    }

    /// Answers with CONNECTION_REFUSED.
    pub fn refuse(self) {
        self.incoming.refuse();
    }

    /// Continues until the ClientHello is read. The connection is then usable for early data and
    /// for answers to early data, before the handshake is complete.
    pub async fn start(self) -> Result<Connection, ConnectionError> {
        let mut connecting = self.incoming.accept_with(Arc::new(self.config))?;
        connecting.handshake_data().await?;
        match connecting.into_0rtt() {
            Ok((connection, _)) => Ok(connection),
            // Never on a server; waiting for the whole handshake is the same, only later.
            Err(connecting) => connecting.await,
        }
    }
}

fn address_proof(incoming: &Incoming) -> AddressProof {
    if !incoming.may_retry() {
        AddressProof::RetryToken
    } else if incoming.remote_address_validated() {
        AddressProof::NewToken
    } else {
        AddressProof::Handshake
    }
}

fn transport_config(settings: &QuicSettings) -> io::Result<TransportConfig> {
    let mut config = TransportConfig::default();
    let idle = IdleTimeout::try_from(settings.idle_timeout).map_err(io::Error::other)?;
    let mut congestion = CubicConfig::default();
    congestion.initial_window(settings.initial_window_bytes.into());
    config
        .congestion_controller_factory(Arc::new(congestion))
        .max_concurrent_bidi_streams(VarInt::from_u32(settings.max_bidi_streams_count))
        .max_concurrent_uni_streams(VarInt::from_u32(settings.max_uni_streams_count))
        .max_idle_timeout(Some(idle))
        .stream_receive_window(VarInt::from_u32(settings.stream_window_bytes))
        .receive_window(VarInt::from_u32(settings.connection_window_bytes))
        // Probes would be extra packets of unlike size on the link.
        .mtu_discovery_config(None);
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{QuicClient, SetupLog, TlsClient, Trust};
    use resolab_record::{HandshakeMode, KeyExchangeGroup};
    use std::net::Ipv4Addr;

    fn listener(control: &Arc<QuicControl>) -> QuicListener {
        let settings = QuicSettings::with_stream_limits(1, 0, Duration::from_secs(5));
        QuicListener::bind(
            (Ipv4Addr::LOCALHOST, 0).into(),
            vec![b"doq".to_vec()],
            Arc::new(ServerPolicies::new(TicketPolicy::None, false)),
            &settings,
            Arc::clone(control),
        )
        .unwrap()
    }

    fn client() -> QuicClient {
        let trust = Trust::from_pins(Vec::new());
        let groups = &KeyExchangeGroup::ALL;
        let tls = TlsClient::new(&trust, "a.test", "doq", HandshakeMode::Full, groups);
        QuicClient::new(&tls.unwrap()).unwrap()
    }

    #[tokio::test]
    async fn who_is_refused_leaves_no_count_behind() {
        let control = Arc::<QuicControl>::default();
        control.set_accepting(false);
        let (listener, client) = (listener(&control), client());
        let server = listener.local_address().unwrap();
        let refused = tokio::select! {
            _ = listener.accept() => panic!("it was taken"),
            refused = client.connect(server, Arc::<SetupLog>::default()) => refused,
        };
        assert!(refused.is_err());
        assert_eq!(control.refused_count(), 1);
        assert_eq!(listener.flights.count(), 0);
    }
}
