//! The kernel's stamps of an exchange, brought to the clock of the record when that is written:
//! nothing is read inside the clock but what comes with the response anyway.
//!
//! DoUDP has the stamps of its query's and its response's own datagrams. On a connection there is
//! that of the last segment or datagram read from it before the response was complete: it carried
//! the response's end or, where others wait for theirs too, came after it; never after completion.

use resolab_transport::clock::{monotonic_ns, wall_minus_monotonic_ns};
use resolab_transport::stamped_udp::{StampedUdpSocket, Transmitted};
use std::sync::{Arc, Mutex, PoisonError};

/// What the kernel stamped; `CLOCK_MONOTONIC` nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KernelInstants {
    /// The query was handed to the device: the last try before the response, or the last of all;
    /// DoUDP only.
    pub(crate) transmit_ns: Option<u64>,
    /// The response came.
    pub(crate) receive_ns: Option<u64>,
}

/// Where the stamps of the current exchange are.
#[derive(Debug, Default)]
pub(crate) struct KernelStamps(Mutex<Stamps>);

#[derive(Debug, Default)]
struct Stamps {
    socket: Option<Arc<StampedUdpSocket>>,
    transmitted: Vec<Transmitted>,
    received_wall_ns: Option<i64>,
}

impl KernelStamps {
    /// The query goes out again: what came for the time before is no response to it. DoUDP's tries
    /// are one exchange until `begin`.
    pub(crate) fn forget_connection(&self) {
        let mut stamps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if stamps.socket.is_none() {
            stamps.received_wall_ns = None;
        }
    }

    /// The response is complete; what its connection brought last came with this stamp. After a
    /// truncated response the stamps stay those of UDP.
    pub(crate) fn received_on_connection(&self, wall_ns: Option<i64>) {
        let mut stamps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if stamps.socket.is_none() {
            stamps.received_wall_ns = wall_ns;
        }
    }

    /// An exchange on a socket of its own has begun; one before it is forgotten.
    pub(crate) fn begin(&self, socket: Arc<StampedUdpSocket>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Stamps {
            socket: Some(socket),
            ..Stamps::default()
        };
    }

    /// The response came by UDP with this stamp.
    pub(crate) fn received(&self, wall_ns: Option<i64>) {
        let mut stamps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stamps.received_wall_ns = wall_ns;
    }

    /// What was stamped since `origin_ns`. Takes system calls: not for inside a clock.
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

/// All tries carry the same message, so that a late answer to an earlier one looks the same.
fn last_before(transmitted: &[Transmitted], received_wall_ns: Option<i64>) -> Option<i64> {
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
            .map(|(index, wall_ns)| Transmitted { index, wall_ns })
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
        stamps.received_on_connection(Some(wall_ns()));
        let instants = stamps.read(began_ns - 1_000);
        assert!(instants.receive_ns.is_some() && instants.transmit_ns.is_none());
        // Before the query was wanted: the wall clock was set.
        stamps.received_on_connection(Some(wall_ns() - 1_000_000_000));
        assert_eq!(stamps.read(began_ns).receive_ns, None);
        stamps.received_on_connection(Some(wall_ns()));
        stamps.forget_connection();
        assert_eq!(stamps.read(0), KernelInstants::default());
        stamps.received_on_connection(None);
        assert_eq!(stamps.read(0), KernelInstants::default());
    }

    #[test]
    fn without_an_exchange_there_are_none() {
        let stamps = KernelStamps::default();
        assert_eq!(stamps.read(0), KernelInstants::default());
    }
}
