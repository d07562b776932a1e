//! Facts of one handshake, gathered during the handshake and readable by the connection's server
//! code.
//!
//! For: records of actual events as seen by the TLS stack.
//! Not for: deciding anything.

use super::ClientHello;
use crate::client::iana_name;
use crate::clock::monotonic_ns;
use crate::hellos::Hellos;
use resolab_record::{AddressProof, HandshakeMode};
use rustls::{CipherSuite, ProtocolVersion};
use std::sync::OnceLock;

/// The facts of one handshake; each fact is set once.
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
    /// The facts about the hellos.
    pub hellos: Hellos,
}

impl HandshakeFacts {
    /// Returns the server name requested by the client, in lower case.
    pub fn server_name(&self) -> Option<&str> {
        self.client_hello.get()?.server_name.as_deref()
    }

    /// Returns true when the ClientHello offered early data; `None` before the ClientHello is read.
    pub fn early_data_offered(&self) -> Option<bool> {
        Some(self.client_hello.get()?.early_data_offered)
    }

    /// Returns the negotiated ALPN identifier, verbatim.
    pub fn alpn(&self) -> Option<&str> {
        self.alpn.get().map(String::as_str)
    }

    /// Returns true when a ticket was used; `None` while undecided.
    pub fn session_resumed(&self) -> Option<bool> {
        self.resumed.get().copied()
    }

    /// Returns true when offered early data was accepted; `None` without an offer or while
    /// undecided.
    pub fn early_data_accepted(&self) -> Option<bool> {
        let offered = self.client_hello.get()?.early_data_offered;
        offered
            .then(|| self.early_data_accepted.get().copied())
            .flatten()
    }

    /// Returns the `CLOCK_MONOTONIC` time of the client's Finished, in ns.
    pub fn complete_ns(&self) -> Option<u64> {
        self.complete_ns.get().copied()
    }

    /// Returns the `CLOCK_MONOTONIC` time of the ClientHello's first bytes, in ns.
    pub fn client_hello_ns(&self) -> Option<u64> {
        self.client_hello_ns.get().copied()
    }

    /// Returns the `CLOCK_MONOTONIC` time when the server's flight was ready for the socket, in ns.
    pub fn server_flight_ns(&self) -> Option<u64> {
        self.server_flight_ns.get().copied()
    }

    /// Returns the TLS version in the form `1.3`.
    pub fn tls_version(&self) -> Option<&'static str> {
        self.tls_version.get().copied()
    }

    /// Returns the IANA name of the cipher suite.
    pub fn cipher_suite(&self) -> Option<String> {
        self.cipher_suite.get().copied().map(iana_name)
    }

    /// Returns the QUIC version as a number; `None` over TCP.
    pub fn quic_version(&self) -> Option<u32> {
        self.quic_version.get().copied()
    }

    /// Returns the proof of the client's ownership of its address; `None` over TCP.
    pub fn address_proof(&self) -> Option<AddressProof> {
        self.address_proof.get().copied()
    }

    /// Returns true when a request received now is early data. Before the client's Finished, early
    /// data is the only possible application data.
    pub fn is_in_early_data(&self) -> bool {
        self.early_data_accepted() == Some(true) && self.complete_ns().is_none()
    }

    /// Returns the actual handshake mode; `None` until the handshake is complete.
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
