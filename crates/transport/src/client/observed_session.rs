//! A QUIC crypto session that logs the end of the handshake and what was negotiated, read from the
//! handshake itself: quinn tells neither whether a ticket was taken nor the cipher suite.
//! Not for: cryptography; every call goes on to rustls.

use super::server_hello::ServerHelloReader;
use super::setup::{Handshake, SetupLog};
use super::tls_config::iana_name;
use crate::session_forwarding::forward_to_inner_session;
use quinn::crypto::rustls::HandshakeData;
use quinn::crypto::{self, HeaderKey, Keys, PacketKey, Session};
use quinn::{ConnectError, ConnectionId};
use quinn_proto::TransportError;
use quinn_proto::transport_parameters::TransportParameters;
use rustls::CipherSuite;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// Configuration of one connection: the shared one, and where to log.
pub(super) struct ObservedConfig {
    pub inner: Arc<dyn crypto::ClientConfig>,
    /// Weak, for the log knows the connection this becomes a part of.
    pub log: Weak<SetupLog>,
}

impl crypto::ClientConfig for ObservedConfig {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        if let Some(log) = self.log.upgrade() {
            log.set_quic_version(version);
        }
        Ok(Box::new(ObservedSession {
            inner: Arc::clone(&self.inner).start_session(version, server_name, parameters)?,
            log: Weak::clone(&self.log),
            server_hello: ServerHelloReader::default(),
            early_data_offered: AtomicBool::new(false),
        }))
    }
}

struct ObservedSession {
    inner: Box<dyn Session>,
    log: Weak<SetupLog>,
    server_hello: ServerHelloReader,
    early_data_offered: AtomicBool,
}

impl ObservedSession {
    fn describe(&self) -> Handshake {
        let alpn = self
            .inner
            .handshake_data()
            .and_then(|data| data.downcast::<HandshakeData>().ok())
            .and_then(|data| data.protocol)
            .map(|alpn| String::from_utf8_lossy(&alpn).into_owned());
        let hello = self.server_hello.found();
        let early_data_accepted = if self.early_data_offered.load(Ordering::Relaxed) {
            self.inner.early_data_accepted()
        } else {
            None
        };
        Handshake {
            alpn,
            // RFC 9001 section 4.2: QUIC version 1 has no other.
            tls_version: Some("TLSv1_3".to_owned()),
            cipher_suite: hello.map(|hello| iana_name(CipherSuite::from(hello.cipher_suite))),
            resumed: hello.is_some_and(|hello| hello.resumed),
            early_data_accepted,
        }
    }
}

impl Session for ObservedSession {
    forward_to_inner_session!();

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        let was_handshaking = self.inner.is_handshaking();
        if was_handshaking {
            self.server_hello.feed(bytes);
        }
        let result = self.inner.read_handshake(bytes);
        if was_handshaking
            && result.is_ok()
            && !self.inner.is_handshaking()
            && let Some(log) = self.log.upgrade()
        {
            log.quic_handshake.finish();
            log.set_handshake(|| self.describe());
        }
        result
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        let keys = self.inner.early_crypto();
        self.early_data_offered
            .fetch_or(keys.is_some(), Ordering::Relaxed);
        keys
    }

    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        self.inner.write_handshake(buffer)
    }

    fn is_valid_retry(&self, connection_id: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        let is_valid = self.inner.is_valid_retry(connection_id, header, payload);
        if is_valid && let Some(log) = self.log.upgrade() {
            log.set_quic_retry();
        }
        is_valid
    }
}
