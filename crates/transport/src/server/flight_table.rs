//! Whose datagrams a QUIC listener's socket sees: the counts of the first flights by client address,
//! from a client's first Initial packet to the end of its handshake.
//! Not for: what is counted; that is in `flights`.

use crate::flights::{FirstPacket, Flights};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Handshakes under way at once whose datagrams are counted; with more, all lose their counts.
const CLIENTS_COUNT: usize = 8_192;

/// The clients whose handshakes are under way.
#[derive(Debug, Default)]
pub(super) struct FlightTable(Mutex<HashMap<SocketAddr, Arc<Flights>>>);

impl FlightTable {
    /// A datagram came.
    pub(super) fn receives(&self, from: SocketAddr, datagram: &[u8]) {
        let packet = FirstPacket::of(datagram);
        match packet {
            FirstPacket::Initial => {
                let mut clients = self.clients();
                if clients.len() >= CLIENTS_COUNT {
                    clients.drain().for_each(|(_, flights)| flights.are_lost());
                }
                clients.entry(from).or_default().server_receives(packet);
            }
            FirstPacket::Handshake => {
                if let Some(flights) = self.clients().get(&from) {
                    flights.server_receives(packet);
                }
            }
            FirstPacket::Restart | FirstPacket::Other => {}
        }
    }

    /// A datagram goes.
    pub(super) fn sends(&self, to: SocketAddr, datagram: &[u8]) {
        let packet = FirstPacket::of(datagram);
        match packet {
            FirstPacket::Initial | FirstPacket::Handshake => {
                if let Some(flights) = self.clients().get(&to) {
                    flights.server_sends(packet);
                }
            }
            FirstPacket::Restart => drop(self.clients().remove(&to)),
            FirstPacket::Other => {}
        }
    }

    /// The counts of a client whose first packet was taken.
    pub(super) fn of(&self, client: SocketAddr) -> Arc<Flights> {
        self.clients().get(&client).map_or_else(
            || {
                let unknown = Arc::<Flights>::default();
                unknown.are_lost();
                unknown
            },
            Arc::clone,
        )
    }

    /// Count no more of this client's handshake, which may not be its last.
    pub(super) fn forget(&self, client: SocketAddr, flights: &Arc<Flights>) {
        let mut clients = self.clients();
        if clients
            .get(&client)
            .is_some_and(|known| Arc::ptr_eq(known, flights))
        {
            clients.remove(&client);
        }
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<SocketAddr, Arc<Flights>>> {
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
        table.receives(client(1), &INITIAL);
        table.sends(client(1), &RETRY);
        table.receives(client(1), &INITIAL);
        table.receives(client(1), &INITIAL);
        let flights = table.of(client(1));
        assert_eq!(flights.packets_counts(), (Some(2), None));
        table.forget(client(1), &Arc::default());
        assert_eq!(table.of(client(1)).packets_counts(), (Some(2), None));
        table.forget(client(1), &flights);
        assert_eq!(table.of(client(1)).packets_counts(), (None, None));
    }

    #[test]
    fn a_flood_takes_bounded_room_and_leaves_no_wrong_count() {
        let table = FlightTable::default();
        table.receives(client(1), &INITIAL);
        let early = table.of(client(1));
        for number in 2..=u16::try_from(CLIENTS_COUNT + 1).unwrap() {
            table.receives(client(number), &INITIAL);
        }
        assert_eq!(table.clients().len(), 1);
        assert_eq!(early.packets_counts(), (None, None));
    }
}
