//! What is known of one handshake, filled in while it goes on and readable by whoever serves the
//! connection.
//!
//! For: records that say what happened, as the TLS stack saw it, not as anyone hoped.
//! Not for: deciding anything.

use super::ClientHello;
use crate::client::iana_name;
use crate::clock::monotonic_ns;
use crate::hellos::Hellos;
use resolab_record::{AddressProof, HandshakeMode};
use rustls::{CipherSuite, ProtocolVersion};
use std::sync::OnceLock;

/// Facts of one handshake; each is set once.
#[derive(Debug, Default)]
pub struct HandshakeFacts {
    client_hello: OnceLock<ClientHello>,
    alpn: OnceLock<String>,
    resumed: OnceLock<bool>,
    early_data_accepted: OnceLock<bool>,
    complete_ns: OnceLock<u64>,
    client_hello_ns: OnceLock<u64>,
    server_flight_ns: OnceLock<u64>,
    tls_version: OnceLock<&'static str>,
    cipher_suite: OnceLock<CipherSuite>,
    quic_version: OnceLock<u32>,
    address_proof: OnceLock<AddressProof>,
    /// What the hellos were.
    pub hellos: Hellos,
}

impl HandshakeFacts {
    /// Server name the client asked for, lower case.
    pub fn server_name(&self) -> Option<&str> {
        self.client_hello.get()?.server_name.as_deref()
    }

    /// Whether the ClientHello offered early data; `None` before it was read.
    pub fn early_data_offered(&self) -> Option<bool> {
        Some(self.client_hello.get()?.early_data_offered)
    }

    /// Negotiated ALPN, verbatim.
    pub fn alpn(&self) -> Option<&str> {
        self.alpn.get().map(String::as_str)
    }

    /// Whether a ticket was used; `None` while undecided.
    pub fn session_resumed(&self) -> Option<bool> {
        self.resumed.get().copied()
    }

    /// Whether offered early data was accepted; `None` when none was offered or it is undecided.
    pub fn early_data_accepted(&self) -> Option<bool> {
        let offered = self.client_hello.get()?.early_data_offered;
        offered
            .then(|| self.early_data_accepted.get().copied())
            .flatten()
    }

    /// `CLOCK_MONOTONIC` when the client's Finished was seen.
    pub fn complete_ns(&self) -> Option<u64> {
        self.complete_ns.get().copied()
    }

    /// `CLOCK_MONOTONIC` when the ClientHello's first bytes were here.
    pub fn client_hello_ns(&self) -> Option<u64> {
        self.client_hello_ns.get().copied()
    }

    /// `CLOCK_MONOTONIC` when the server's flight was ready for the socket.
    pub fn server_flight_ns(&self) -> Option<u64> {
        self.server_flight_ns.get().copied()
    }

    /// Version of TLS, as `1.3`.
    pub fn tls_version(&self) -> Option<&'static str> {
        self.tls_version.get().copied()
    }

    /// IANA name of the cipher suite.
    pub fn cipher_suite(&self) -> Option<String> {
        self.cipher_suite.get().copied().map(iana_name)
    }

    /// Version of QUIC as a number; `None` over TCP.
    pub fn quic_version(&self) -> Option<u32> {
        self.quic_version.get().copied()
    }

    /// What showed that the client owns its address; `None` over TCP.
    pub fn address_proof(&self) -> Option<AddressProof> {
        self.address_proof.get().copied()
    }

    /// What a request is whose bytes are here now: early data is the only application data there
    /// can be before the client's Finished.
    pub fn in_early_data(&self) -> bool {
        self.early_data_accepted() == Some(true) && self.complete_ns().is_none()
    }

    /// What happened; `None` until the handshake is complete.
    pub fn handshake_mode(&self) -> Option<HandshakeMode> {
        self.complete_ns()?;
        Some(
            match (self.session_resumed()?, self.early_data_accepted()) {
                (true, Some(true)) => HandshakeMode::ZeroRtt,
                (true, _) => HandshakeMode::Resumed,
                (false, _) => HandshakeMode::Full,
            },
        )
    }

    pub(super) fn set_client_hello(&self, hello: ClientHello) {
        if hello.message_bytes > 0 {
            self.hellos.set_client_hello(hello.message_bytes);
        }
        let _ = self.client_hello.set(hello);
    }

    pub(super) fn set_alpn(&self, alpn: Option<&[u8]>) {
        if let Some(alpn) = alpn {
            let _ = self.alpn.set(String::from_utf8_lossy(alpn).into_owned());
        }
    }

    pub(super) fn set_server_flight(&self, resumed: bool, early_data_accepted: bool) {
        let _ = self.resumed.set(resumed);
        let _ = self.early_data_accepted.set(early_data_accepted);
    }

    pub(super) fn set_client_hello_now(&self) {
        self.client_hello_ns.get_or_init(monotonic_ns);
    }

    pub(super) fn set_server_flight_now(&self) {
        self.server_flight_ns.get_or_init(monotonic_ns);
    }

    pub(super) fn set_tls(&self, version: ProtocolVersion, suite: CipherSuite) {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "rustls can speak no other version"
        )]
        let version = match version {
            ProtocolVersion::TLSv1_3 => "1.3",
            ProtocolVersion::TLSv1_2 => "1.2",
            _ => return,
        };
        let _ = self.tls_version.set(version);
        let _ = self.cipher_suite.set(suite);
    }

    pub(super) fn set_quic_version(&self, version: u32) {
        let _ = self.quic_version.set(version);
    }

    pub(super) fn set_address_proof(&self, proof: AddressProof) {
        let _ = self.address_proof.set(proof);
    }

    pub(super) fn set_complete_now(&self) {
        self.complete_ns.get_or_init(monotonic_ns);
    }
}
