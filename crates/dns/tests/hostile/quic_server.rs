//! QUIC of a peer that can be silenced, and the raw UDP peer that does not speak it.

use crate::hostile::pki::Pki;
use crate::hostile::tls_server;
use quinn::crypto::rustls::QuicServerConfig;
use quinn::udp::{RecvMeta, Transmit};
use quinn::{
    AsyncUdpSocket, Endpoint, EndpointConfig, Runtime, ServerConfig, TokioRuntime, UdpPoller,
};
use rustls::sign::CertifiedKey;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

/// A QUIC server on loopback.
pub fn endpoint(certificate: &Arc<CertifiedKey>, alpn: &str) -> Endpoint {
    let config = server_config(certificate, alpn);
    Endpoint::server(config, "127.0.0.1:0".parse().unwrap()).unwrap()
}

pub fn good_endpoint(alpn: &str) -> Endpoint {
    endpoint(&Pki::shared().good, alpn)
}

pub fn server_config(certificate: &Arc<CertifiedKey>, alpn: &str) -> ServerConfig {
    let mut tls = tls_server::config(certificate, alpn);
    tls.max_early_data_size = u32::MAX;
    ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).unwrap()))
}

/// A socket that stops sending when told to.
#[derive(Debug)]
pub struct MutableSocket {
    inner: Arc<dyn AsyncUdpSocket>,
    pub is_muted: AtomicBool,
}

impl MutableSocket {
    pub fn new(socket: std::net::UdpSocket) -> Arc<Self> {
        Arc::new(Self {
            inner: TokioRuntime.wrap_udp_socket(socket).unwrap(),
            is_muted: AtomicBool::new(false),
        })
    }
}

/// A server on such a socket; the same `reset_key` makes the same stateless reset tokens.
pub fn endpoint_on(socket: Arc<MutableSocket>, alpn: &str, config: EndpointConfig) -> Endpoint {
    let server = server_config(&Pki::shared().good, alpn);
    let runtime = Arc::new(TokioRuntime);
    Endpoint::new_with_abstract_socket(config, Some(server), socket, runtime).unwrap()
}

impl AsyncUdpSocket for MutableSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Arc::clone(&self.inner).create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        if self.is_muted.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.inner.try_send(transmit)
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        self.inner.poll_recv(cx, buffers, meta)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }
}
