//! Counts the datagrams of the first flights of one QUIC handshake, in either role. The count reads
//! the long headers of datagrams passing a socket. `HelloFacts` of `resolab-record` defines the
//! count.
//! Not for: TCP, because segments are invisible here, or packets after the handshake.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The least length of a datagram with an Initial packet, in bytes. Only a server's pure
/// acknowledgements may be shorter (RFC 9000 section 14.1).
const INITIAL_LEAST_BYTES: usize = 1_200;

/// The first packet of a datagram (RFC 9000 section 17.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstPacket {
    Initial,
    Handshake,
    /// A Retry or Version Negotiation packet: the handshake begins anew.
    Restart,
    /// Early data, a short header, an Initial packet of acknowledgements alone, or no packet of
    /// QUIC version 1.
    Other,
}

impl FirstPacket {
    pub(crate) fn from_datagram(datagram: &[u8]) -> Self {
        match datagram {
            [first, 0, 0, 0, 0, ..] if first & 0x80 != 0 => Self::Restart,
            [first, 0, 0, 0, 1, ..] if first & 0x80 != 0 => match (first >> 4) & 3 {
                0 if datagram.len() >= INITIAL_LEAST_BYTES => Self::Initial,
                2 => Self::Handshake,
                3 => Self::Restart,
                _ => Self::Other,
            },
            _ => Self::Other,
        }
    }

    fn is_of_handshake(self) -> bool {
        matches!(self, Self::Initial | Self::Handshake)
    }
}

/// The stage of a handshake.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum HandshakeStage {
    /// The ClientHello is under way.
    #[default]
    Hello,
    /// The server's flight is under way.
    Flight,
    /// A HelloRetryRequest is under way; the next server messages are the flight.
    RetryRequest,
    /// ClientHello and flight are complete.
    Over,
}

#[derive(Debug, Default)]
struct FlightCounts {
    stage: HandshakeStage,
    client_count: u32,
    server_count: u32,
    /// True when datagrams passed uncounted.
    is_lost: bool,
}

/// The datagram counts of one connection.
#[derive(Debug, Default)]
pub(crate) struct Flights(Mutex<FlightCounts>);

impl Flights {
    /// Notes a datagram sent by the client.
    pub(crate) fn client_sends(&self, packet: FirstPacket) {
        let mut counts = self.counts();
        if packet == FirstPacket::Initial && counts.stage == HandshakeStage::Hello {
            counts.client_count += 1;
        }
    }

    /// Notes a datagram received by the client.
    pub(crate) fn client_receives(&self, packet: FirstPacket) {
        let mut counts = self.counts();
        if packet == FirstPacket::Restart {
            counts.client_count = 0;
        } else if packet.is_of_handshake() && counts.stage != HandshakeStage::Over {
            counts.stage = HandshakeStage::Flight;
            counts.server_count += 1;
        }
    }

    /// Notes a datagram received by the server.
    pub(crate) fn server_receives(&self, packet: FirstPacket) {
        let mut counts = self.counts();
        match counts.stage {
            HandshakeStage::Hello if packet == FirstPacket::Initial => counts.client_count += 1,
            HandshakeStage::Flight if packet.is_of_handshake() && counts.server_count > 0 => {
                counts.stage = HandshakeStage::Over;
            }
            HandshakeStage::Hello
            | HandshakeStage::Flight
            | HandshakeStage::RetryRequest
            | HandshakeStage::Over => {}
        }
    }

    /// Notes a datagram sent by the server.
    pub(crate) fn server_sends(&self, packet: FirstPacket) {
        let mut counts = self.counts();
        if counts.stage == HandshakeStage::Flight && packet.is_of_handshake() {
            counts.server_count += 1;
        }
    }

    /// Notes at the server: the ClientHello is whole.
    pub(crate) fn hello_is_whole(&self) {
        self.counts().stage = HandshakeStage::Flight;
    }

    /// Notes at the server: the next message is a HelloRetryRequest.
    pub(crate) fn retry_is_requested(&self) {
        self.counts().stage = HandshakeStage::RetryRequest;
    }

    /// Notes at the server: the next message is the ServerHello.
    pub(crate) fn flight_begins(&self) {
        let mut counts = self.counts();
        if counts.stage == HandshakeStage::RetryRequest {
            counts.stage = HandshakeStage::Flight;
        }
    }

    /// Notes at the client: the messages so far were a HelloRetryRequest.
    pub(crate) fn retry_was_requested(&self) {
        self.counts().server_count = 0;
    }

    /// Notes the end of the handshake.
    pub(crate) fn are_over(&self) {
        self.counts().stage = HandshakeStage::Over;
    }

    /// Notes a loss: some datagrams may remain uncounted.
    pub(crate) fn are_lost(&self) {
        self.counts().is_lost = true;
    }

    /// Returns the datagram counts of the ClientHello and of the server's flight.
    pub(crate) fn packets_counts(&self) -> (Option<u32>, Option<u32>) {
        let counts = self.counts();
        let known = |count: u32| (count > 0 && !counts.is_lost).then_some(count);
        (known(counts.client_count), known(counts.server_count))
    }

    fn counts(&self) -> MutexGuard<'_, FlightCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::FirstPacket::{Handshake, Initial, Other, Restart};
    use super::*;

    #[test]
    fn a_datagram_is_what_its_first_header_says() {
        for (first, version, expected) in [
            (0xC3, 1, Initial),
            (0xD3, 1, Other), // 0-RTT
            (0xE3, 1, Handshake),
            (0xF3, 1, Restart),
            (0xC3, 0, Restart),
            (0xC3, 9, Other),
            (0x43, 1, Other),
        ] {
            let mut datagram = [0; INITIAL_LEAST_BYTES];
            (datagram[0], datagram[4]) = (first, version);
            assert_eq!(FirstPacket::from_datagram(&datagram), expected);
        }
        assert_eq!(FirstPacket::from_datagram(&[0xC3, 0, 0, 0, 1, 8]), Other);
        assert_eq!(FirstPacket::from_datagram(&[]), Other);
    }

    #[test]
    fn a_server_counts_a_hello_of_two_and_its_flight_up_to_the_answer() {
        let flights = Flights::default();
        flights.server_receives(Initial);
        flights.server_sends(Initial); // acknowledges half a hello
        flights.server_receives(Initial);
        flights.hello_is_whole();
        flights.flight_begins();
        flights.server_receives(Other); // early data
        flights.server_sends(Initial);
        flights.server_sends(Handshake);
        flights.server_receives(Handshake);
        flights.server_sends(Handshake);
        assert_eq!(flights.packets_counts(), (Some(2), Some(2)));
        flights.are_lost();
        assert_eq!(flights.packets_counts(), (None, None));
    }

    #[test]
    fn a_retry_request_is_no_flight_at_either_end() {
        let (client, server) = (Flights::default(), Flights::default());
        let up = |packet| {
            client.client_sends(packet);
            server.server_receives(packet);
        };
        let down = |packet| {
            server.server_sends(packet);
            client.client_receives(packet);
        };
        up(Initial);
        server.hello_is_whole();
        server.retry_is_requested();
        down(Initial);
        client.retry_was_requested();
        up(Initial);
        server.flight_begins();
        down(Initial);
        up(Initial);
        client.are_over();
        down(Handshake);
        assert_eq!(client.packets_counts(), (Some(1), Some(1)));
        assert_eq!(server.packets_counts(), (Some(1), Some(1)));
    }

    #[test]
    fn a_client_counts_the_hello_that_was_read_and_not_the_one_before_a_retry() {
        let flights = Flights::default();
        flights.client_sends(Initial);
        flights.client_receives(Restart);
        flights.client_sends(Initial);
        flights.client_sends(Initial);
        flights.client_receives(Initial);
        flights.client_sends(Initial);
        assert_eq!(flights.packets_counts(), (Some(2), Some(1)));
    }
}
