//! What is known of one handshake, filled in while it goes on and readable by whoever serves the
//! connection.
//!
//! For: records that say what happened, as the TLS stack saw it, not as anyone hoped.
//! Not for: deciding anything.

use super::ClientHello;
use crate::clock::monotonic_ns;
use resolab_record::HandshakeMode;
use std::sync::OnceLock;

/// Facts of one handshake; each is set once.
#[derive(Debug, Default)]
pub struct HandshakeFacts {
    client_hello: OnceLock<ClientHello>,
    alpn: OnceLock<String>,
    resumed: OnceLock<bool>,
    early_data_accepted: OnceLock<bool>,
    complete_ns: OnceLock<u64>,
}

impl HandshakeFacts {
    /// Server name the client asked for, lower case.
    pub fn server_name(&self) -> Option<&str> {
        self.client_hello.get()?.server_name.as_deref()
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

    pub(super) fn set_complete_now(&self) {
        self.complete_ns.get_or_init(monotonic_ns);
    }
}
