//! TLS over TCP with its two instants. With a ticket for early data, the caller gets the stream
//! before the handshake. The first write leaves as early data, and the handshake ends inside a
//! later flush.
//! Not for: QUIC with its own TLS.

use super::failure::MeasuredFailure;
use super::handshake_failure::{AlpnMismatch, handshake_failure};
use super::setup::{Handshake, SetupLog};
use super::tcp::ClientTcpStream;
use super::tls_config::{TlsClient, iana_name};
use super::watched_tcp::{WatchedTcp, WriteGathering};
use resolab_record::{Failure, HandshakeMode};
use rustls::{ClientConnection, HandshakeKind};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A TLS stream logging the end of its handshake at any time.
pub struct ClientTlsStream {
    inner: TlsStream<WatchedTcp>,
    log: Arc<SetupLog>,
    early_data_offered: bool,
    observed: bool,
    /// The server's ALPN choice required at the end of the handshake.
    required_alpn: Option<&'static str>,
}

/// The ALPN identifier of HTTP/2 over TLS (RFC 9113 section 3.1).
const H2: &str = "h2";
/// The buffer for a stream of messages: at most 16 KiB leave together.
const MESSAGES: WriteGathering = WriteGathering {
    written_bytes: 16 << 10,
    read_bytes: 0,
};
/// The buffer for large bodies: at most 64 KiB are read at once.
const BODIES: WriteGathering = WriteGathering {
    written_bytes: 0,
    read_bytes: 64 << 10,
};

/// Makes the handshake over `tcp`, or prepares for early data.
pub async fn connect(
    tcp: ClientTcpStream,
    client: &TlsClient,
    log: Arc<SetupLog>,
) -> Result<ClientTlsStream, MeasuredFailure> {
    connect_by(tcp, WriteGathering::default(), client, log).await
}

/// Connects as [`connect`] does, for a stream of messages. Each write is a TLS record, and the
/// records before a flush leave together.
pub async fn connect_for_messages(
    tcp: ClientTcpStream,
    client: &TlsClient,
    log: Arc<SetupLog>,
) -> Result<ClientTlsStream, MeasuredFailure> {
    connect_by(tcp, MESSAGES, client, log).await
}

/// Connects as [`connect`] does, for a stream of large bodies with read-ahead. The arrival time is
/// known only for all bytes read together.
pub async fn connect_for_bodies(
    tcp: ClientTcpStream,
    client: &TlsClient,
    log: Arc<SetupLog>,
) -> Result<ClientTlsStream, MeasuredFailure> {
    connect_by(tcp, BODIES, client, log).await
}

async fn connect_by(
    tcp: ClientTcpStream,
    gathering: WriteGathering,
    client: &TlsClient,
    log: Arc<SetupLog>,
) -> Result<ClientTlsStream, MeasuredFailure> {
    log.tls_handshake.begin();
    let connector = TlsConnector::from(Arc::clone(&client.config))
        .early_data(client.handshake_mode == HandshakeMode::ZeroRtt);
    let mut inner = connector
        .connect(
            client.server_name.clone(),
            WatchedTcp::new(tcp, gathering, Arc::clone(&log)),
        )
        .await
        .map_err(|error| stream_failure(&error, &log))?;
    let session = inner.get_mut().1;
    let early_data_offered = session.is_handshaking() && session.early_data().is_some();
    let mut stream = ClientTlsStream {
        inner,
        log,
        early_data_offered,
        observed: false,
        required_alpn: required_alpn(client),
    };
    stream
        .observe()
        .map_err(|error| handshake_failure(&error))?;
    Ok(stream)
}

/// Returns the protocol required from the server. HTTP/2 requires the server's choice (RFC 9113
/// section 3.2). DNS over TLS has no ALPN (RFC 7858 section 3.1), so a server without a choice is
/// accepted.
fn required_alpn(client: &TlsClient) -> Option<&'static str> {
    let offered = &client.config.alpn_protocols;
    matches!(&offered[..], [only] if only == H2.as_bytes()).then_some(H2)
}

impl ClientTlsStream {
    /// Checks for the end of the handshake. Errors when the server did not choose the required
    /// protocol.
    fn observe(&mut self) -> io::Result<()> {
        let (tcp, session) = self.inner.get_mut();
        if self.observed || session.is_handshaking() {
            return self.check_alpn();
        }
        self.observed = true;
        self.log.tls_handshake.finish();
        let handshake = describe(session, self.early_data_offered);
        if let Some(watch) = tcp.end_watch() {
            let is_early = handshake.early_data_accepted == Some(true);
            watch.note_end(&self.log.hellos, session, is_early);
        }
        if let Some(leaf) = session.peer_certificates().and_then(<[_]>::first) {
            self.log.set_peer_leaf(leaf.clone());
        }
        self.log.set_handshake(|| handshake);
        self.check_alpn()
    }

    fn check_alpn(&self) -> io::Result<()> {
        let (Some(required), Some(handshake)) = (self.required_alpn, self.log.handshake()) else {
            return Ok(());
        };
        if handshake.alpn.as_deref() == Some(required) {
            return Ok(());
        }
        let mismatch = AlpnMismatch {
            offered: required.to_owned(),
            chosen: handshake.alpn.clone(),
        };
        self.log.set_alpn_mismatch(mismatch.clone());
        Err(io::Error::other(mismatch))
    }
}

fn describe(session: &ClientConnection, early_data_offered: bool) -> Handshake {
    Handshake {
        alpn: session
            .alpn_protocol()
            .map(|alpn| String::from_utf8_lossy(alpn).into_owned()),
        tls_version: session
            .protocol_version()
            .map(|version| format!("{version:?}")),
        cipher_suite: session
            .negotiated_cipher_suite()
            .map(|suite| iana_name(suite.suite())),
        resumed: session.handshake_kind() == Some(HandshakeKind::Resumed),
        early_data_accepted: early_data_offered.then(|| session.is_early_data_accepted()),
    }
}

/// Classifies an error of the stream: a failed handshake before the handshake's end, a lost
/// connection after.
pub fn stream_failure(error: &io::Error, log: &SetupLog) -> MeasuredFailure {
    // What HTTP/2 hands on of an error is its text.
    if let Some(mismatch) = log.alpn_mismatch() {
        return MeasuredFailure::new(Failure::TlsAlpnMismatch, mismatch);
    }
    let tls = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let is_certificate = matches!(tls, Some(rustls::Error::InvalidCertificate(_)));
    // With TCP Fast Open the first write connects.
    if tls.is_none() && error.kind() == io::ErrorKind::ConnectionRefused {
        MeasuredFailure::new(Failure::TcpConnectRefused, error)
    } else if is_certificate || log.tls_handshake.is_under_way() {
        handshake_failure(error)
    } else {
        MeasuredFailure::new(Failure::QueryConnectionClosed, error)
    }
}

impl AsyncRead for ClientTlsStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.inner).poll_read(cx, buffer);
        self.observe()?;
        result
    }
}

impl AsyncWrite for ClientTlsStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.observe()?;
        result
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.inner).poll_flush(cx);
        self.observe()?;
        result
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.observe()?;
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.observe()?;
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
