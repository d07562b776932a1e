//! TLS of a peer that stops being polite: rustls driven by hand, so that it can be stopped at each
//! step and made to send an alert.

use crate::hostile::pki::Pki;
use rustls::ServerConnection;
use rustls::server::ServerConfig;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// A stream whose handshake is done.
pub struct TlsPeer(TlsStream<TcpStream>);

pub fn config(certificate: &Arc<CertifiedKey>, alpn: &str) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let resolver = SingleCertAndKey::from(Arc::clone(certificate));
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(resolver));
    config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    config
}

impl TlsPeer {
    pub async fn accept(tcp: TcpStream, alpn: &str) -> io::Result<Self> {
        tcp.set_nodelay(true)?;
        let config = Arc::new(config(&Pki::shared().good, alpn));
        let stream = tokio_rustls::TlsAcceptor::from(config).accept(tcp).await?;
        Ok(Self(stream))
    }

    /// Send a fatal alert: what a TLS stack answers to a record it cannot decrypt.
    pub async fn send_alert(self) -> io::Result<TcpStream> {
        let (mut tcp, mut tls) = self.0.into_inner();
        let mut flight = Vec::new();
        make_alert(&mut tls, &mut flight);
        tcp.write_all(&flight).await?;
        Ok(tcp)
    }

    /// The connection underneath, as it is.
    pub fn into_tcp(self) -> TcpStream {
        self.0.into_inner().0
    }
}

fn make_alert(tls: &mut ServerConnection, flight: &mut Vec<u8>) {
    let mut nonsense = &[&[0x17, 3, 3, 0, 32][..], &[0; 32]].concat()[..];
    tls.read_tls(&mut nonsense).unwrap();
    tls.process_new_packets().unwrap_err();
    while tls.wants_write() {
        tls.write_tls(flight).unwrap();
    }
}

/// The server's side of a handshake, in flights.
pub struct HandshakePeer {
    pub tcp: TcpStream,
    tls: ServerConnection,
}

impl HandshakePeer {
    pub fn new(tcp: TcpStream, config: ServerConfig) -> Self {
        let tls = ServerConnection::new(Arc::new(config)).unwrap();
        Self { tcp, tls }
    }

    /// Take what the client sends until there is something to answer; the answer.
    pub async fn flight(&mut self) -> io::Result<Vec<u8>> {
        let mut flight = Vec::new();
        while flight.is_empty() {
            let mut bytes = vec![0; 4096];
            let count = self.tcp.read(&mut bytes).await?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut rest = &bytes[..count];
            while !rest.is_empty() {
                self.tls.read_tls(&mut rest)?;
                // An error makes an alert, which is a flight, too.
                let _ = self.tls.process_new_packets();
            }
            while self.tls.wants_write() {
                self.tls.write_tls(&mut flight)?;
            }
        }
        Ok(flight)
    }
}

impl AsyncRead for TlsPeer {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for TlsPeer {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
