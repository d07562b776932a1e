//! A QUIC server handshake with a late choice of the TLS configuration: after reading the
//! ClientHello, as in TCP servers. The session records the facts of the handshake.
//!
//! For: ticket policies by server name, changed live. All cryptography is in the inner session,
//! quinn's own over rustls.
//! Not for: packets, or deciding policies.

use super::client_hello::{ClientHello, HelloProgress};
use super::flight_table::FlightTable;
use super::resumption_detector::WitnessedCertificate;
use super::{HandshakeFacts, ServerPolicies};
use crate::client::ServerHelloReader;
use crate::session_forwarding::forward_to_inner_session;
use quinn::crypto::rustls::QuicServerConfig;
use quinn::crypto::{HeaderKey, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectionId, TransportError, TransportErrorCode};
use rustls::sign::CertifiedKey;
use rustls::{CipherSuite, ProtocolVersion};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The crypto configuration of one incoming connection.
pub(super) struct QuicAdmission {
    /// The keys of Initial and Retry packets, the same for every policy.
    pub(super) base: Arc<QuicServerConfig>,
    pub(super) policies: Arc<ServerPolicies>,
    pub(super) alpn: Arc<Vec<Vec<u8>>>,
    pub(super) facts: Arc<HandshakeFacts>,
    pub(super) peer: SocketAddr,
    /// The table for counting datagrams until the handshake is complete.
    pub(super) flights: Arc<FlightTable>,
}

impl Drop for QuicAdmission {
    fn drop(&mut self) {
        self.stop_counting();
        let black_hole = &self.policies.black_hole;
        black_hole.end_connection(self.peer, self.facts.server_name());
    }
}

impl QuicAdmission {
    fn stop_counting(&self) {
        if let Some(flights) = self.facts.hellos.flights() {
            self.flights.forget(self.peer, flights);
        }
    }
}

impl ServerConfig for QuicAdmission {
    fn initial_keys(
        &self,
        version: u32,
        dst_cid: &ConnectionId,
    ) -> Result<Keys, UnsupportedVersion> {
        self.base.initial_keys(version, dst_cid)
    }

    fn retry_tag(&self, version: u32, orig_dst_cid: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.base.retry_tag(version, orig_dst_cid, packet)
    }

    fn start_session(
        self: Arc<Self>,
        version: u32,
        parameters: &TransportParameters,
    ) -> Box<dyn Session> {
        // Until the ClientHello is whole the base session stands in; no byte reaches it.
        self.facts.set_quic_version(version);
        let stand_in = Arc::clone(&self.base).start_session(version, parameters);
        Box::new(ChoosingSession {
            admission: self,
            version,
            parameters: *parameters,
            received: Some(Vec::new()),
            witness: None,
            certificate: None,
            is_ready: false,
            has_told: false,
            server_hello: Some(ServerHelloReader::default()),
            inner: stand_in,
        })
    }
}

struct ChoosingSession {
    admission: Arc<QuicAdmission>,
    version: u32,
    parameters: TransportParameters,
    /// The handshake bytes until the ClientHello is whole; `None` after the session is chosen.
    received: Option<Vec<u8>>,
    witness: Option<Arc<WitnessedCertificate>>,
    certificate: Option<Arc<CertifiedKey>>,
    /// The reader of the ServerHello, until the cipher suite is read.
    server_hello: Option<ServerHelloReader>,
    /// True when the inner session has reported negotiated parameters.
    is_ready: bool,
    /// True when the report was passed to quinn.
    has_told: bool,
    inner: Box<dyn Session>,
}

impl ChoosingSession {
    /// Gathers handshake bytes, and returns the whole ClientHello after the last byte.
    fn gather(&mut self, bytes: &[u8]) -> Result<Option<Vec<u8>>, TransportError> {
        let Some(mut received) = self.received.take() else {
            return Ok(Some(bytes.to_vec()));
        };
        received.extend_from_slice(bytes);
        match ClientHello::from_handshake(&received) {
            HelloProgress::Incomplete => {
                self.received = Some(received);
                Ok(None)
            }
            HelloProgress::Complete(hello) => {
                self.choose(hello)?;
                Ok(Some(received))
            }
        }
    }

    fn choose(&mut self, hello: ClientHello) -> Result<(), TransportError> {
        let admission = &self.admission;
        let name = hello.server_name.as_deref();
        let (certificate, terms) = admission.policies.choose(name);
        let alpn = admission.policies.offer(name, &admission.alpn);
        let black_hole = &admission.policies.black_hole;
        black_hole.begin_connection(admission.peer, name);
        admission.facts.set_client_hello(hello);
        if let Some(flights) = admission.facts.hellos.flights() {
            flights.hello_is_whole();
        }
        let signed = Arc::new(AtomicBool::new(false));
        let witness = Arc::new(WitnessedCertificate::new(certificate.as_deref(), signed));
        let config = admission
            .policies
            .quic_config(terms, &alpn, Arc::clone(&witness) as _)
            .map_err(|error| internal(&error))?;
        let config = QuicServerConfig::try_from(config).map_err(|error| internal(&error))?;
        self.inner = Arc::new(config).start_session(self.version, &self.parameters);
        self.witness = Some(witness);
        self.certificate = certificate;
        Ok(())
    }

    /// Notes the server's handshake bytes: their content, and the time of the first bytes.
    fn note_flight(&mut self, written: &[u8]) {
        if written.is_empty() {
            return;
        }
        let Some(mut reader) = self.server_hello.take() else {
            return;
        };
        let facts = &self.admission.facts;
        reader.feed(written);
        if let Some(hello) = reader.found() {
            facts.set_server_flight_now();
            let suite = CipherSuite::from(hello.cipher_suite);
            facts.set_tls(ProtocolVersion::TLSv1_3, suite);
            facts.hellos.set_server_hello(&hello);
        } else if reader.retry_was_requested() {
            facts.hellos.set_retry_requested();
        }
        if let Some(flights) = facts.hellos.flights() {
            match reader.found() {
                Some(_) => flights.flight_begins(),
                None if reader.retry_was_requested() => flights.retry_is_requested(),
                None => {}
            }
        }
        if reader.found().is_none() {
            self.server_hello = Some(reader);
        }
    }

    /// Notes the known facts after reading handshake bytes.
    fn note_facts(&self) {
        let facts = &self.admission.facts;
        let data = self.inner.handshake_data();
        let data =
            data.and_then(|data| data.downcast::<quinn::crypto::rustls::HandshakeData>().ok());
        if let Some(protocol) = data.and_then(|data| data.protocol) {
            facts.set_alpn(Some(&protocol));
        }
        if let (Ok(Some(_)), Some(witness)) = (self.inner.transport_parameters(), &self.witness) {
            let early_data_accepted = self.inner.early_crypto().is_some();
            // Without a signature and without a verdict yet (HelloRetryRequest) nothing is known;
            // the client's Finished settles it.
            if witness.signed() || early_data_accepted || !self.inner.is_handshaking() {
                facts.set_server_flight(!witness.signed(), early_data_accepted);
            }
            if let (true, Some(certificate)) = (witness.signed(), &self.certificate) {
                facts.hellos.set_certificates(&certificate.cert);
            }
        }
        if self.received.is_none() && !self.inner.is_handshaking() {
            if facts.complete_ns().is_none() {
                self.admission.stop_counting();
            }
            facts.set_complete_now();
        }
    }
}

impl Session for ChoosingSession {
    forward_to_inner_session!();

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        self.inner.early_crypto()
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.admission.facts.set_client_hello_now();
        let Some(bytes) = self.gather(bytes)? else {
            return Ok(false);
        };
        self.is_ready |= self.inner.read_handshake(&bytes)?;
        self.note_facts();
        // The name alone, which a ClientHello before a HelloRetryRequest has, is not what whoever
        // serves the connection waits for.
        let is_negotiated = self.admission.facts.alpn().is_some() || !self.inner.is_handshaking();
        let is_news = self.is_ready && is_negotiated && !self.has_told;
        self.has_told |= is_news;
        Ok(is_news)
    }

    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        if self.received.is_some() {
            return None;
        }
        let before = buffer.len();
        let keys = self.inner.write_handshake(buffer);
        self.note_flight(&buffer[before..]);
        keys
    }

    fn is_valid_retry(&self, orig_dst_cid: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.inner.is_valid_retry(orig_dst_cid, header, payload)
    }
}

fn internal(error: &impl ToString) -> TransportError {
    TransportError {
        code: TransportErrorCode::INTERNAL_ERROR,
        frame: None,
        reason: error.to_string(),
    }
}
