//! The kernel's stamps of an exchange, converted to the record's clock when the record is written.
//! Inside the clock, only the stamps arriving with the response are read.
//!
//! DoUDP has the stamps of the datagrams of its query and its response. A connection has the stamp
//! of the last segment or datagram read before the response was complete. This segment carried the
//! end of the response. When other queries wait too, the segment may also have come later, but
//! never after completion.

use resolab_transport::clock::{monotonic_ns, wall_minus_monotonic_ns};
use resolab_transport::stamped_udp::{StampedUdpSocket, TransmitStamp};
use std::sync::{Arc, Mutex, PoisonError};

/// The kernel's stamps of one exchange, in `CLOCK_MONOTONIC` nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KernelInstants {
    /// The query's hand-over to the device: the last attempt before the response, or the last
    /// attempt of all; DoUDP only.
    pub(crate) transmit_ns: Option<u64>,
    /// The arrival of the response.
    pub(crate) receive_ns: Option<u64>,
}

/// The stamps of the current exchange, or the socket still holding them.
#[derive(Debug, Default)]
pub(crate) struct KernelStamps(Mutex<StampState>);

#[derive(Debug, Default)]
struct StampState {
    socket: Option<Arc<StampedUdpSocket>>,
    transmitted: Vec<TransmitStamp>,
    received_wall_ns: Option<i64>,
}

impl KernelStamps {
    /// Forgets the stamp of a connection before the query goes out again: earlier arrivals are no
    /// response to the new attempt. DoUDP's attempts are one exchange until `begin`.
    pub(crate) fn forget_connection(&self) {
        let mut stamps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if stamps.socket.is_none() {
            stamps.received_wall_ns = None;
        }
    }

    /// Keeps the stamp of the connection's last arrival, after the response is complete. After a
    /// truncated response by UDP, the UDP stamps stay.
    pub(crate) fn note_connection_arrival(&self, wall_ns: Option<i64>) {
        let mut stamps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if stamps.socket.is_none() {
            stamps.received_wall_ns = wall_ns;
        }
    }

    /// Begins an exchange on a separate socket, and forgets the previous exchange.
    pub(crate) fn begin(&self, socket: Arc<StampedUdpSocket>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = StampState {
            socket: Some(socket),
            ..StampState::default()
        };
    }

    /// Keeps the stamp of a response by UDP.
    pub(crate) fn note_received(&self, wall_ns: Option<i64>) {
        let mut stamps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stamps.received_wall_ns = wall_ns;
    }

    /// Returns the stamps since `origin_ns`. Makes system calls: not for use inside a clock.
    pub(crate) fn read(&self, origin_ns: u64) -> KernelInstants {
        let mut stamps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(socket) = stamps.socket.clone() {
            stamps.transmitted.extend(socket.take_transmitted());
        }
        let transmitted_wall_ns = last_before(&stamps.transmitted, stamps.received_wall_ns);
        if transmitted_wall_ns.or(stamps.received_wall_ns).is_none() {
            return KernelInstants::default();
        }
        let ahead_ns = wall_minus_monotonic_ns();
        let period = origin_ns..=monotonic_ns();
        // Outside the period if the wall clock was set in between.
        let convert = |wall_ns: i64| {
            let ns = u64::try_from(wall_ns - ahead_ns).ok()?;
            period.contains(&ns).then_some(ns)
        };
        KernelInstants {
            transmit_ns: transmitted_wall_ns.and_then(convert),
            receive_ns: stamps.received_wall_ns.and_then(convert),
        }
    }
}

/// Returns the last transmit stamp before the arrival. All attempts carry the same message, so a
/// late response to an earlier attempt looks the same.
fn last_before(transmitted: &[TransmitStamp], received_wall_ns: Option<i64>) -> Option<i64> {
    transmitted
        .iter()
        .map(|stamp| stamp.wall_ns)
        .rfind(|wall_ns| received_wall_ns.is_none_or(|received| *wall_ns <= received))
}

#[cfg(test)]
mod tests {
    use super::*;
    use resolab_transport::clock::wall_ns;

    #[test]
    fn the_last_try_before_the_response_counts() {
        let tries: Vec<_> = [(0, 100), (1, 200), (2, 300)]
            .map(|(index, wall_ns)| TransmitStamp { index, wall_ns })
            .into();
        assert_eq!(last_before(&tries, Some(250)), Some(200));
        assert_eq!(last_before(&tries, Some(99)), None);
        assert_eq!(last_before(&tries, None), Some(300));
        assert_eq!(last_before(&[], None), None);
    }

    #[test]
    fn a_connections_stamp_is_of_the_query_asked_last() {
        let stamps = KernelStamps::default();
        let began_ns = monotonic_ns();
        stamps.note_connection_arrival(Some(wall_ns()));
        let instants = stamps.read(began_ns - 1_000);
        assert!(instants.receive_ns.is_some() && instants.transmit_ns.is_none());
        // Before the query was wanted: the wall clock was set.
        stamps.note_connection_arrival(Some(wall_ns() - 1_000_000_000));
        assert_eq!(stamps.read(began_ns).receive_ns, None);
        stamps.note_connection_arrival(Some(wall_ns()));
        stamps.forget_connection();
        assert_eq!(stamps.read(0), KernelInstants::default());
        stamps.note_connection_arrival(None);
        assert_eq!(stamps.read(0), KernelInstants::default());
    }

    #[test]
    fn without_an_exchange_there_are_none() {
        let stamps = KernelStamps::default();
        assert_eq!(stamps.read(0), KernelInstants::default());
    }
}
