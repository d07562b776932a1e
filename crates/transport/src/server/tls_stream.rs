//! A TLS 1.3 server stream over TCP with early data and 0.5-RTT answers before the client's
//! Finished. A stream completing the handshake first supports neither.
//!
//! For: DoT and HTTP of the edge; TLS 1.2 if allowed. Not for: clients.

use super::client_hello::{ClientHello, HelloProgress, RecordReader};
use super::hello_watch::ServerFlightWatch;
use super::{BlackHole, ByteCounts, HandshakeFacts, ServerPolicies};
use rustls::server::ResolvesServerCert;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{Error, HandshakeKind, PeerIncompatible, ServerConnection};
use std::future::poll_fn;
use std::io::{self, IoSlice, Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// TLS over an accepted TCP connection.
pub struct TlsStream {
    tcp: TcpStream,
    tls: ServerConnection,
    facts: Arc<HandshakeFacts>,
    bytes: Arc<ByteCounts>,
    black_hole: Arc<BlackHole>,
    close_notify_sent: bool,
    watch: ServerFlightWatch,
}

impl TlsStream {
    /// Reads the ClientHello, chooses the policy of its name and sends the server's flight. The
    /// stream is then usable; reading from the stream completes the handshake.
    pub async fn accept(
        mut tcp: TcpStream,
        policies: &ServerPolicies,
        alpn: &[Vec<u8>],
        facts: Arc<HandshakeFacts>,
        bytes: Arc<ByteCounts>,
    ) -> io::Result<Self> {
        let (hello, received) = read_client_hello(&mut tcp, &facts, &bytes).await?;
        let (certificate, terms) = policies.choose(hello.server_name.as_deref());
        let alpn = policies.offer(hello.server_name.as_deref(), alpn);
        facts.set_client_hello(hello);
        let watch = ServerFlightWatch::new(&tcp, &facts, certificate.clone());
        let black_hole = Arc::clone(&policies.black_hole);
        poll_fn(|cx| black_hole.poll_passable(facts.server_name(), cx)).await;
        let config = policies
            .tcp_config(terms, &alpn, certificate_resolver(certificate))
            .map_err(io::Error::other)?;
        let mut tls = ServerConnection::new(Arc::new(config)).map_err(io::Error::other)?;
        tls.set_buffer_limit(None);
        let mut stream = Self {
            tcp,
            tls,
            facts,
            bytes,
            black_hole,
            close_notify_sent: false,
            watch,
        };
        stream.feed(&received).await?;
        // Until the second ClientHello is there, nothing is negotiated that anybody could go by.
        while stream.watch.awaits_second_hello() {
            let mut received = Vec::with_capacity(4_096);
            if stream.tcp.read_buf(&mut received).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            stream.bytes.add_received(received.len());
            stream.feed(&received).await?;
        }
        Ok(stream)
    }

    /// Takes received bytes, and sends the answers of TLS.
    async fn feed(&mut self, mut unread: &[u8]) -> io::Result<()> {
        while !unread.is_empty() {
            self.tls.read_tls(&mut unread)?;
            let processed = self.process();
            poll_fn(|cx| self.poll_flush_tls(cx)).await?;
            processed?;
        }
        Ok(())
    }

    /// Returns the facts of the handshake; the handshake adds further facts.
    pub fn facts(&self) -> &Arc<HandshakeFacts> {
        &self.facts
    }

    /// Returns true when a handshake failed because the client has no allowed TLS version.
    pub fn is_version_refusal(error: &io::Error) -> bool {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
        matches!(
            inner,
            Some(Error::PeerIncompatible(
                PeerIncompatible::Tls12NotOfferedOrEnabled
                    | PeerIncompatible::Tls13RequiredForQuic
                    | PeerIncompatible::SupportedVersionsExtensionRequired
            ))
        )
    }

    fn process(&mut self) -> io::Result<()> {
        let result = self.tls.process_new_packets();
        self.note_facts();
        result
            .map(|_| ())
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    fn note_facts(&mut self) {
        if self.facts.complete_ns().is_some() {
            return;
        }
        self.facts.set_alpn(self.tls.alpn_protocol());
        let group = self.tls.negotiated_key_exchange_group();
        let kind = self.tls.handshake_kind();
        if kind == Some(HandshakeKind::FullWithHelloRetryRequest) && group.is_none() {
            // What the second ClientHello brings is not known yet.
            return;
        }
        if let (Some(version), Some(suite)) = (
            self.tls.protocol_version(),
            self.tls.negotiated_cipher_suite(),
        ) {
            self.facts.set_tls(version, suite.suite());
            self.facts.set_server_flight_now();
        }
        if let Some(kind) = kind {
            let early_data_accepted = self.tls.early_data().is_some();
            let is_resumed = kind == HandshakeKind::Resumed;
            self.facts
                .set_server_flight(is_resumed, early_data_accepted);
            self.watch.note_kind(&self.facts.hellos, is_resumed);
        }
        if !self.tls.is_handshaking() {
            if let Some(group) = group {
                self.facts.hellos.set_group(u16::from(group.name()));
            }
            self.facts.set_complete_now();
        }
    }

    /// Passes all encrypted bytes to the kernel.
    fn poll_flush_tls(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.tls.wants_write() {
            ready!(self.poll_passable(cx));
        }
        while self.tls.wants_write() {
            let mut writer = PollingIo {
                tcp: &mut self.tcp,
                cx,
                watch: Some(&mut self.watch),
            };
            match self.tls.write_tls(&mut writer) {
                Ok(count) => self.bytes.add_sent(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        self.watch.note_flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_passable(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.black_hole.poll_passable(self.facts.server_name(), cx)
    }

    /// Reads the available decrypted bytes, early data first by order of arrival.
    fn read_decrypted(&mut self, buffer: &mut ReadBuf<'_>) -> io::Result<Option<usize>> {
        let free = buffer.initialize_unfilled();
        if let Some(mut early) = self.tls.early_data() {
            let count = early.read(free)?;
            if count > 0 {
                buffer.advance(count);
                return Ok(Some(count));
            }
        }
        match self.tls.reader().read(free) {
            Ok(count) => {
                buffer.advance(count);
                Ok(Some(count))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl AsyncRead for TlsStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        // What a full socket or a black hole kept back leaves now, whoever is asked.
        if let Poll::Ready(Err(error)) = this.poll_flush_tls(cx) {
            return Poll::Ready(Err(error));
        }
        ready!(this.poll_passable(cx));
        loop {
            if buffer.remaining() == 0 || this.read_decrypted(buffer)?.is_some() {
                return Poll::Ready(Ok(()));
            }
            let mut reader = PollingIo {
                tcp: &mut this.tcp,
                cx,
                watch: None,
            };
            match this.tls.read_tls(&mut reader) {
                Ok(count) => this.bytes.add_received(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(Err(error)),
            }
            let processed = this.process();
            // Tickets and alerts leave at once; a full socket buffer only delays them.
            if let Poll::Ready(Err(error)) = this.poll_flush_tls(cx) {
                return Poll::Ready(Err(error));
            }
            processed?;
        }
    }
}

impl AsyncWrite for TlsStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_flush_tls(cx))?;
        let count = this.tls.writer().write(bytes)?;
        match this.poll_flush_tls(cx) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) | Poll::Pending => Poll::Ready(Ok(count)),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_flush_tls(cx))?;
        let count = this.tls.writer().write_vectored(slices)?;
        match this.poll_flush_tls(cx) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) | Poll::Pending => Poll::Ready(Ok(count)),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_flush_tls(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.close_notify_sent {
            this.tls.send_close_notify();
            this.close_notify_sent = true;
        }
        ready!(this.poll_flush_tls(cx))?;
        Pin::new(&mut this.tcp).poll_shutdown(cx)
    }
}

async fn read_client_hello(
    tcp: &mut TcpStream,
    facts: &HandshakeFacts,
    bytes: &ByteCounts,
) -> io::Result<(ClientHello, Vec<u8>)> {
    let mut received = Vec::with_capacity(4_096);
    let mut reader = RecordReader::default();
    loop {
        let count = tcp.read_buf(&mut received).await?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        facts.set_client_hello_now();
        bytes.add_received(count);
        if let HelloProgress::Complete(hello) = reader.read(&received) {
            let wire_bytes = reader.wire_bytes() as u32;
            facts.hellos.set_client_hello_on_wire(wire_bytes);
            return Ok((hello, received));
        }
    }
}

fn certificate_resolver(certificate: Option<Arc<CertifiedKey>>) -> Arc<dyn ResolvesServerCert> {
    match certificate {
        Some(certificate) => Arc::new(SingleCertAndKey::from(certificate)),
        None => Arc::new(rustls::server::ResolvesServerCertUsingSni::new()),
    }
}

/// Blocking-style I/O for rustls on a polled socket.
struct PollingIo<'a, 'b> {
    tcp: &'a mut TcpStream,
    cx: &'a mut Context<'b>,
    watch: Option<&'a mut ServerFlightWatch>,
}

impl Read for PollingIo<'_, '_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(into);
        match Pin::new(&mut *self.tcp).poll_read(self.cx, &mut buffer) {
            Poll::Ready(result) => result.map(|()| buffer.filled().len()),
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

impl Write for PollingIo<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match Pin::new(&mut *self.tcp).poll_write_vectored(self.cx, slices) {
            Poll::Ready(result) => {
                if let (Ok(count), Some(watch)) = (&result, &mut self.watch) {
                    watch.note_sent(slices, *count);
                }
                result
            }
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
