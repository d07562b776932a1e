//! A QUIC crypto session logging the end of the handshake and the negotiated parameters. The
//! session reads them from the handshake: quinn reports neither the use of a ticket nor the cipher
//! suite.
//! Not for: cryptography; every call goes on to rustls.

use super::server_hello::ServerHelloReader;
use super::setup::{Handshake, SetupLog};
use super::tls_config::iana_name;
use crate::plain_handshake::message_bytes;
use crate::session_forwarding::forward_to_inner_session;
use quinn::crypto::rustls::HandshakeData;
use quinn::crypto::{self, HeaderKey, Keys, PacketKey, Session};
use quinn::{ConnectError, ConnectionId};
use quinn_proto::TransportError;
use quinn_proto::transport_parameters::TransportParameters;
use rustls::CipherSuite;
use rustls::pki_types::CertificateDer;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// Returns the configuration for a connection opened without this crate. The connection's hellos
/// and negotiated parameters are logged. The log must outlive the handshake.
pub fn observed(
    config: Arc<dyn crypto::ClientConfig>,
    log: &Arc<SetupLog>,
) -> Arc<dyn crypto::ClientConfig> {
    Arc::new(ObservedConfig {
        inner: config,
        log: Arc::downgrade(log),
    })
}

/// The configuration of one connection: the shared configuration and the log.
pub(super) struct ObservedConfig {
    pub inner: Arc<dyn crypto::ClientConfig>,
    /// A weak reference, because the log refers to the connection.
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
            wrote_hello: false,
        }))
    }
}

struct ObservedSession {
    inner: Box<dyn Session>,
    log: Weak<SetupLog>,
    server_hello: ServerHelloReader,
    early_data_offered: AtomicBool,
    wrote_hello: bool,
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

impl ObservedSession {
    /// Notes the ServerHello after reading handshake bytes.
    fn note_server_hello(&self, log: &SetupLog, was_retried: bool) {
        if let Some(hello) = self.server_hello.found() {
            log.hellos.set_server_hello(&hello);
        } else if self.server_hello.retry_was_requested() && !was_retried {
            log.hellos.set_retry_requested();
            if let Some(flights) = log.hellos.flights() {
                flights.retry_was_requested();
            }
        }
    }

    /// Notes the end of the handshake.
    fn note_end(&self, log: &SetupLog) {
        log.quic_handshake.finish();
        if let Some(flights) = log.hellos.flights() {
            flights.are_over();
        }
        let handshake = self.describe();
        let identity = self.inner.peer_identity();
        let chain =
            identity.and_then(|chain| chain.downcast::<Vec<CertificateDer<'static>>>().ok());
        if let (false, Some(chain)) = (handshake.resumed, chain) {
            log.hellos.set_certificates(&chain);
        }
        log.set_handshake(|| handshake);
    }
}

impl Session for ObservedSession {
    forward_to_inner_session!();

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        let was_handshaking = self.inner.is_handshaking();
        let was_retried = self.server_hello.retry_was_requested();
        if was_handshaking {
            self.server_hello.feed(bytes);
        }
        let result = self.inner.read_handshake(bytes);
        if was_handshaking && let Some(log) = self.log.upgrade() {
            self.note_server_hello(&log, was_retried);
            if result.is_ok() && !self.inner.is_handshaking() {
                self.note_end(&log);
            }
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
        let before = buffer.len();
        let keys = self.inner.write_handshake(buffer);
        if !self.wrote_hello
            && let Some(bytes) = message_bytes(&buffer[before..])
        {
            self.wrote_hello = true;
            if let Some(log) = self.log.upgrade() {
                log.hellos.set_client_hello(bytes);
            }
        }
        keys
    }

    fn is_valid_retry(&self, connection_id: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        let is_valid = self.inner.is_valid_retry(connection_id, header, payload);
        if is_valid && let Some(log) = self.log.upgrade() {
            log.set_quic_retry();
        }
        is_valid
    }
}
