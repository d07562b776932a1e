//! Facts about the hellos of one connection, in either role. They are gathered during the handshake
//! and readable at any time.
//! Not for: reading hellos; the readers store their findings here.

use crate::client::ServerHello;
use crate::flights::Flights;
use resolab_record::{HelloFacts, KeyExchangeGroup};
use rustls::pki_types::CertificateDer;
use std::sync::{Arc, OnceLock};

/// Facts about the hellos, each set once.
#[derive(Debug, Default)]
pub struct Hellos {
    client_hello_bytes: OnceLock<u32>,
    /// The length of the ClientHello's TLS records over TCP.
    client_hello_wire_bytes: OnceLock<u32>,
    retry_requested: OnceLock<()>,
    server_hello_bytes: OnceLock<u32>,
    group_code: OnceLock<u16>,
    certificate_bytes: OnceLock<u32>,
    /// The length of the TLS records of the server's flight, over TCP.
    server_flight_wire_bytes: OnceLock<u32>,
    /// The payload of a full TCP segment.
    segment_bytes: OnceLock<u32>,
    flights: OnceLock<Arc<Flights>>,
}

impl Hellos {
    /// Returns the facts for the connection's record.
    pub fn facts(&self) -> HelloFacts {
        let flights = self.flights.get().map(|flights| flights.packets_counts());
        let (datagrams, flight_datagrams) = flights.unwrap_or_default();
        let group = self.group_code.get().copied();
        let was_retried = self.retry_requested.get().is_some();
        let is_decided = was_retried || self.server_hello_bytes.get().is_some();
        HelloFacts {
            key_exchange_group: group.and_then(KeyExchangeGroup::from_code),
            hello_retry_request: is_decided.then_some(was_retried),
            client_hello_bytes: self.client_hello_bytes.get().copied(),
            client_hello_packets_count: datagrams
                .or_else(|| self.segments(&self.client_hello_wire_bytes)),
            server_hello_bytes: self.server_hello_bytes.get().copied(),
            certificate_bytes: self.certificate_bytes.get().copied(),
            server_flight_packets_count: flight_datagrams
                .or_else(|| self.segments(&self.server_flight_wire_bytes)),
        }
    }

    /// Returns the number of segments for these bytes.
    fn segments(&self, wire_bytes: &OnceLock<u32>) -> Option<u32> {
        let segment_bytes = self.segment_bytes.get().filter(|bytes| **bytes > 0)?;
        Some(wire_bytes.get()?.div_ceil(*segment_bytes))
    }

    pub(crate) fn set_client_hello(&self, message_bytes: u32) {
        let _ = self.client_hello_bytes.set(message_bytes);
    }

    pub(crate) fn set_client_hello_on_wire(&self, wire_bytes: u32) {
        let _ = self.client_hello_wire_bytes.set(wire_bytes);
    }

    pub(crate) fn set_retry_requested(&self) {
        let _ = self.retry_requested.set(());
    }

    pub(crate) fn set_server_hello(&self, hello: &ServerHello) {
        let _ = self.server_hello_bytes.set(hello.message_bytes);
        if let Some(code) = hello.group_code {
            self.set_group(code);
        }
    }

    pub(crate) fn has_server_hello(&self) -> bool {
        self.server_hello_bytes.get().is_some()
    }

    pub(crate) fn set_group(&self, code: u16) {
        let _ = self.group_code.set(code);
    }

    pub(crate) fn set_certificates(&self, chain: &[CertificateDer<'_>]) {
        let bytes = chain
            .iter()
            .map(|certificate| certificate.len() as u32)
            .sum();
        let _ = self.certificate_bytes.set(bytes);
    }

    pub(crate) fn set_server_flight_on_wire(&self, wire_bytes: u32) {
        let _ = self.server_flight_wire_bytes.set(wire_bytes);
    }

    /// Sets the payload of a full TCP segment.
    pub fn set_segment_bytes(&self, bytes: u32) {
        let _ = self.segment_bytes.set(bytes);
    }

    pub(crate) fn set_flights(&self, flights: Arc<Flights>) {
        let _ = self.flights.set(flights);
    }

    pub(crate) fn flights(&self) -> Option<&Arc<Flights>> {
        self.flights.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_need_segments_and_nothing_seen_is_null() {
        let hellos = Hellos::default();
        assert_eq!(hellos.facts(), HelloFacts::default());
        hellos.set_client_hello(1_923);
        hellos.set_client_hello_on_wire(1_928);
        assert_eq!(hellos.facts().client_hello_packets_count, None);
        hellos.set_segment_bytes(1_448);
        assert_eq!(hellos.facts().client_hello_packets_count, Some(2));
        assert_eq!(hellos.facts().hello_retry_request, None);
        hellos.set_retry_requested();
        assert_eq!(hellos.facts().hello_retry_request, Some(true));
    }
}
