//! Reads the bytes sent by a TLS server over TCP until the first flight has left. rustls tells
//! neither the length of the ServerHello nor the size of the flight.
//! Not for: QUIC, whose session sees its handshake bytes.

use super::HandshakeFacts;
use crate::client::ServerHelloReader;
use crate::hellos::Hellos;
use crate::plain_handshake::PlainHandshake;
use rustls::sign::CertifiedKey;
use std::io::IoSlice;
use std::sync::Arc;
use tokio::net::TcpStream;

/// The reading state of one connection's server flight.
pub(super) struct ServerFlightWatch {
    facts: Arc<HandshakeFacts>,
    certificate: Option<Arc<CertifiedKey>>,
    hello: Option<(PlainHandshake, ServerHelloReader)>,
    sent_bytes: u32,
    retry_request_bytes: u32,
}

impl ServerFlightWatch {
    /// Begins a watch before the first byte sent on `tcp`.
    pub(super) fn new(
        tcp: &TcpStream,
        facts: &Arc<HandshakeFacts>,
        certificate: Option<Arc<CertifiedKey>>,
    ) -> Self {
        if let Ok(bytes) = socket2::SockRef::from(tcp).tcp_mss() {
            facts.hellos.set_segment_bytes(bytes);
        }
        Self {
            facts: Arc::clone(facts),
            certificate,
            hello: Some(Default::default()),
            sent_bytes: 0,
            retry_request_bytes: 0,
        }
    }

    /// Notes the first `count` bytes of `slices` as sent.
    pub(super) fn note_sent(&mut self, slices: &[IoSlice<'_>], count: usize) {
        if self.facts.complete_ns().is_some() {
            return;
        }
        self.sent_bytes = self.sent_bytes.saturating_add(count as u32);
        let Some((records, reader)) = &mut self.hello else {
            return;
        };
        let mut left = count;
        for slice in slices {
            let taken = left.min(slice.len());
            records.feed(&slice[..taken]);
            left -= taken;
        }
        records.hand_to(reader);
        let hellos = &self.facts.hellos;
        if let Some(hello) = reader.found() {
            hellos.set_server_hello(&hello);
            self.hello = None;
        } else if reader.retry_was_requested() {
            hellos.set_retry_requested();
        }
    }

    /// Returns true while a HelloRetryRequest has no answer.
    pub(super) fn awaits_second_hello(&self) -> bool {
        let retried = self.hello.as_ref();
        retried.is_some_and(|(_, reader)| reader.retry_was_requested())
    }

    /// Notes an empty send buffer: all bytes have left.
    pub(super) fn note_flushed(&mut self) {
        if self.facts.complete_ns().is_some() {
            return;
        }
        let hellos = &self.facts.hellos;
        if hellos.has_server_hello() {
            let flight_bytes = self.sent_bytes - self.retry_request_bytes;
            hellos.set_server_flight_on_wire(flight_bytes);
        } else {
            self.retry_request_bytes = self.sent_bytes;
        }
    }

    /// Notes the use of a ticket. Without a ticket, the server sends the certificate.
    pub(super) fn note_kind(&self, hellos: &Hellos, is_resumed: bool) {
        if let (false, Some(certificate)) = (is_resumed, &self.certificate) {
            hellos.set_certificates(&certificate.cert);
        }
    }
}
