//! The datagram counts of the first flights at a QUIC listener's socket, by client address. A
//! client's counts last from the first Initial packet to the end of the handshake. The counts of a
//! client without an accepted connection are forgotten after a time. Not for: the counting rules,
//! see `flights`.

use crate::flights::{FirstPacket, Flights};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of concurrent handshakes with counts; above the maximum, all lose their
/// counts.
const CLIENTS_COUNT: usize = 8_192;
/// The maximum time a first packet may wait for acceptance: 5 s, against milliseconds on an idle
/// machine. After this time, QUIC dropped or refused the packet, or the packet belongs to an ended
/// handshake.
const UNTAKEN_NS: u64 = 5_000_000_000;

/// The clients with a handshake under way.
#[derive(Debug, Default)]
pub(super) struct FlightTable(Mutex<FlightsByClient>);

#[derive(Debug, Default)]
struct FlightsByClient {
    by_address: HashMap<SocketAddr, ClientFlights>,
    /// The time of the last search for clients not accepted, in ns.
    cleared_ns: u64,
}

/// A client with a handshake under way.
#[derive(Debug, Default)]
struct ClientFlights {
    flights: Arc<Flights>,
    came_ns: u64,
    /// True when the connection is accepted; its server code reports the end of the handshake.
    is_taken: bool,
}

impl ClientFlights {
    fn is_nobodys(&self, now_ns: u64) -> bool {
        !self.is_taken && now_ns.saturating_sub(self.came_ns) >= UNTAKEN_NS
    }
}

impl FlightsByClient {
    /// Returns the counts for a client's new Initial packet.
    fn begin(&mut self, from: SocketAddr, now_ns: u64) -> &Flights {
        if now_ns.saturating_sub(self.cleared_ns) >= UNTAKEN_NS {
            self.cleared_ns = now_ns;
            self.by_address
                .retain(|_, client| !client.is_nobodys(now_ns));
        }
        if self.by_address.len() >= CLIENTS_COUNT {
            for (_, client) in self.by_address.drain() {
                client.flights.are_lost();
            }
        }
        let fresh = || ClientFlights {
            came_ns: now_ns,
            ..ClientFlights::default()
        };
        let client = self.by_address.entry(from).or_insert_with(fresh);
        if client.is_nobodys(now_ns) {
            *client = fresh();
        }
        &client.flights
    }
}

impl FlightTable {
    /// Notes a datagram received at `now_ns`, `CLOCK_MONOTONIC`.
    pub(super) fn receives(&self, from: SocketAddr, datagram: &[u8], now_ns: u64) {
        let packet = FirstPacket::from_datagram(datagram);
        match packet {
            FirstPacket::Initial => self.clients().begin(from, now_ns).server_receives(packet),
            FirstPacket::Handshake => {
                if let Some(client) = self.clients().by_address.get(&from) {
                    client.flights.server_receives(packet);
                }
            }
            FirstPacket::Restart | FirstPacket::Other => {}
        }
    }

    /// Notes a datagram sent to a client.
    pub(super) fn sends(&self, to: SocketAddr, datagram: &[u8]) {
        let packet = FirstPacket::from_datagram(datagram);
        match packet {
            FirstPacket::Initial | FirstPacket::Handshake => {
                if let Some(client) = self.clients().by_address.get(&to) {
                    client.flights.server_sends(packet);
                }
            }
            FirstPacket::Restart => drop(self.clients().by_address.remove(&to)),
            FirstPacket::Other => {}
        }
    }

    /// Returns the counts of a client on acceptance of the first packet. The counts are kept until
    /// the client is forgotten.
    pub(super) fn take(&self, client: SocketAddr) -> Arc<Flights> {
        let mut clients = self.clients();
        let Some(client) = clients.by_address.get_mut(&client) else {
            let unknown = Arc::<Flights>::default();
            unknown.are_lost();
            return unknown;
        };
        client.is_taken = true;
        Arc::clone(&client.flights)
    }

    /// Removes a refused client, unless a connection was accepted.
    pub(super) fn refuse(&self, client: SocketAddr) {
        self.forget_if(client, |known| !known.is_taken);
    }

    /// Stops counting this handshake of the client. The client may begin further handshakes.
    pub(super) fn forget(&self, client: SocketAddr, flights: &Arc<Flights>) {
        self.forget_if(client, |known| Arc::ptr_eq(&known.flights, flights));
    }

    fn forget_if(&self, client: SocketAddr, is_it: impl FnOnce(&ClientFlights) -> bool) {
        let by_address = &mut self.clients().by_address;
        if by_address.get(&client).is_some_and(is_it) {
            by_address.remove(&client);
        }
    }

    /// Returns the number of known clients.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.clients().by_address.len()
    }

    fn clients(&self) -> MutexGuard<'_, FlightsByClient> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INITIAL: [u8; 1_200] = {
        let mut datagram = [0; 1_200];
        (datagram[0], datagram[4]) = (0xC0, 1);
        datagram
    };
    const RETRY: [u8; 6] = [0xF0, 0, 0, 0, 1, 8];

    fn client(number: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], number))
    }

    #[test]
    fn a_hello_before_a_retry_does_not_count() {
        let table = FlightTable::default();
        table.receives(client(1), &INITIAL, 0);
        table.sends(client(1), &RETRY);
        table.receives(client(1), &INITIAL, 1);
        table.receives(client(1), &INITIAL, 2);
        let flights = table.take(client(1));
        assert_eq!(flights.packets_counts(), (Some(2), None));
        table.forget(client(1), &Arc::default());
        assert_eq!(table.take(client(1)).packets_counts(), (Some(2), None));
        table.forget(client(1), &flights);
        assert_eq!(table.take(client(1)).packets_counts(), (None, None));
    }

    #[test]
    fn a_flood_takes_bounded_room_and_leaves_no_wrong_count() {
        let table = FlightTable::default();
        table.receives(client(1), &INITIAL, 0);
        let early = table.take(client(1));
        for number in 2..=u16::try_from(CLIENTS_COUNT + 1).unwrap() {
            table.receives(client(number), &INITIAL, 0);
        }
        assert_eq!(table.count(), 1);
        assert_eq!(early.packets_counts(), (None, None));
    }

    #[test]
    fn who_is_taken_by_nobody_is_forgotten_in_time() {
        let table = FlightTable::default();
        for number in 1..=100 {
            table.receives(client(number), &INITIAL, 0);
        }
        let slow = table.take(client(1));
        table.receives(client(101), &INITIAL, UNTAKEN_NS - 1);
        assert_eq!(table.count(), 101);
        table.receives(client(102), &INITIAL, UNTAKEN_NS);
        assert_eq!(table.count(), 3, "the one taken and the two new ones");
        table.receives(client(1), &INITIAL, 9 * UNTAKEN_NS);
        assert_eq!(slow.packets_counts(), (Some(2), None));
    }

    #[test]
    fn what_nobody_took_adds_nothing_to_a_later_handshake() {
        let table = FlightTable::default();
        for (number, at_ns) in [
            (1, UNTAKEN_NS),
            (2, UNTAKEN_NS + 1),
            // The last time before its end that anybody looks for such.
            (3, 2 * UNTAKEN_NS),
            (2, 2 * UNTAKEN_NS + 1),
        ] {
            table.receives(client(number), &INITIAL, at_ns);
        }
        let flights = table.take(client(2));
        assert_eq!(flights.packets_counts(), (Some(1), None));
    }

    #[test]
    fn who_is_refused_is_forgotten_unless_served_already() {
        let table = FlightTable::default();
        table.receives(client(1), &INITIAL, 0);
        table.refuse(client(1));
        assert_eq!(table.count(), 0);
        table.receives(client(1), &INITIAL, 0);
        let flights = table.take(client(1));
        table.refuse(client(1));
        assert_eq!(table.count(), 1);
        assert_eq!(flights.packets_counts(), (Some(1), None));
    }
}
