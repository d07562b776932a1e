//! Reads the unencrypted beginning of a TLS connection over TCP as the bytes pass. rustls tells a
//! client neither the length of the ClientHello nor the content of the ServerHello.
//! Not for: anything after the hellos, or QUIC, whose session sees its handshake bytes.

use super::server_hello::ServerHelloReader;
use crate::hellos::Hellos;
use crate::plain_handshake::PlainHandshake;
use rustls::{ClientConnection, HandshakeKind};

/// The reading state of one connection's hellos.
#[derive(Debug, Default)]
pub struct HelloWatch {
    sent: PlainHandshake,
    has_sent_hello: bool,
    received: PlainHandshake,
    server_hello: ServerHelloReader,
    received_bytes: u32,
    retry_request_bytes: u32,
}

impl HelloWatch {
    /// Returns true while sent bytes are still of interest: the ClientHello is incomplete.
    pub fn wants_sent(&self) -> bool {
        !self.has_sent_hello
    }

    /// Notes bytes sent by the client.
    pub fn note_sent(&mut self, hellos: &Hellos, bytes: &[u8]) {
        if self.has_sent_hello {
            return;
        }
        self.sent.feed(bytes);
        if let Some((message_bytes, wire_bytes)) = self.sent.first_message() {
            self.has_sent_hello = true;
            hellos.set_client_hello(message_bytes);
            hellos.set_client_hello_on_wire(wire_bytes);
        }
    }

    /// Notes bytes received from the server.
    pub fn note_received(&mut self, hellos: &Hellos, bytes: &[u8]) {
        self.received_bytes = self.received_bytes.saturating_add(bytes.len() as u32);
        if self.server_hello.found().is_some() {
            return;
        }
        self.received.feed(bytes);
        self.received.hand_to(&mut self.server_hello);
        if let Some(hello) = self.server_hello.found() {
            hellos.set_server_hello(&hello);
        } else if self.server_hello.retry_was_requested() {
            hellos.set_retry_requested();
            self.retry_request_bytes = self.received_bytes;
        }
    }

    /// Notes the end of the handshake. After accepted early data, the received bytes may include an
    /// answer, so the size of the server's flight is unknown.
    pub fn note_end(&self, hellos: &Hellos, tls: &ClientConnection, early_data_accepted: bool) {
        if !early_data_accepted {
            hellos.set_server_flight_on_wire(self.received_bytes - self.retry_request_bytes);
        }
        let is_resumed = tls.handshake_kind() == Some(HandshakeKind::Resumed);
        if let (false, Some(chain)) = (is_resumed, tls.peer_certificates()) {
            hellos.set_certificates(chain);
        }
    }
}
