//! Facts about a connection's path from the kernel (`TCP_INFO`) and from QUIC: round trip times and
//! retransmissions. They are read on demand and add no cost to measured times.
//! Not for: the parameters negotiated by the handshake, see `setup`.

use super::tcp_end::{TcpEnd, tcp_info};
use super::tcp_options::TcpOptions;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;

/// The round trip time assumed by QUIC before the first sample (RFC 9002 section 6.2.2).
pub(super) const QUIC_INITIAL_RTT: Duration = Duration::from_millis(333);
/// The flag in `tcpi_options` for data acknowledged together with the SYN (linux/tcp.h).
const TCPI_OPT_SYN_DATA: u8 = 32;
/// The value of `tcpi_min_rtt` without a sample.
const NO_MIN_RTT: u32 = u32::MAX;
/// The value of `tcpi_state` after a SYN without an answer (net/tcp_states.h).
const TCP_SYN_SENT: u8 = 2;

/// A connection's path as seen from this end, since the start of the connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PathFacts {
    /// The smoothed round trip time, in ns.
    pub rtt_ns: Option<u64>,
    /// The smallest round trip time, in ns.
    pub min_rtt_ns: Option<u64>,
    /// The number of retransmitted TCP segments, or of QUIC packets declared lost.
    pub retransmitted_count: u32,
    /// TCP Fast Open: true when the SYN carried data and the peer acknowledged the data with the
    /// SYN. `None` when Fast Open was not requested.
    pub fast_open_accepted: Option<bool>,
    /// The payload of a full TCP segment, in bytes.
    pub segment_bytes: Option<u32>,
}

/// The source of the facts.
#[derive(Debug)]
pub(super) enum PathProbe {
    Tcp(Arc<TcpProbe>),
    Quic(quinn::Connection),
}

impl PathProbe {
    pub fn facts(&self) -> Option<PathFacts> {
        match self {
            Self::Tcp(probe) => probe.observe().map(|seen| seen.facts),
            Self::Quic(connection) => Some(read_quic_stats(&connection.stats())),
        }
    }

    /// Returns the socket's end. `None` with QUIC, and for a closed socket.
    pub fn tcp_end(&self) -> Option<TcpEnd> {
        match self {
            Self::Tcp(probe) => probe.end_of_socket(),
            Self::Quic(_) => None,
        }
    }

    /// Returns true while the SYN has no answer.
    pub fn is_connecting(&self) -> bool {
        match self {
            Self::Tcp(probe) => probe.observe().is_some_and(|seen| seen.is_connecting),
            Self::Quic(_) => false,
        }
    }
}

fn read_tcp_info(info: &libc::tcp_info, options: TcpOptions) -> PathObservations {
    let syn_data_acknowledged = info.tcpi_options & TCPI_OPT_SYN_DATA != 0;
    let ns = |us: u32| u64::from(us) * 1000;
    let facts = PathFacts {
        rtt_ns: (info.tcpi_rtt > 0).then(|| ns(info.tcpi_rtt)),
        min_rtt_ns: (info.tcpi_min_rtt != NO_MIN_RTT).then(|| ns(info.tcpi_min_rtt)),
        retransmitted_count: info.tcpi_total_retrans,
        fast_open_accepted: options.fast_open.then_some(syn_data_acknowledged),
        segment_bytes: Some(info.tcpi_snd_mss),
    };
    PathObservations {
        facts,
        is_connecting: info.tcpi_state == TCP_SYN_SENT,
    }
}

fn read_quic_stats(stats: &quinn::ConnectionStats) -> PathFacts {
    let path = &stats.path;
    let is_sampled = (path.rtt, path.min_rtt) != (QUIC_INITIAL_RTT, QUIC_INITIAL_RTT);
    let ns = |rtt: Duration| is_sampled.then_some(rtt.as_nanos() as u64);
    PathFacts {
        rtt_ns: ns(path.rtt),
        min_rtt_ns: ns(path.min_rtt),
        retransmitted_count: path.lost_packets as u32,
        fast_open_accepted: None,
        segment_bytes: None,
    }
}

/// Reads the kernel's facts about a TCP socket with another owner, and keeps the last facts read.
#[derive(Debug)]
pub(super) struct TcpProbe {
    socket: Mutex<ProbedSocket>,
    options: TcpOptions,
}

#[derive(Debug)]
enum ProbedSocket {
    Open(RawFd),
    Closed(Option<PathObservations>),
}

#[derive(Debug, Clone, Copy)]
struct PathObservations {
    facts: PathFacts,
    is_connecting: bool,
}

impl TcpProbe {
    /// Makes a probe for `stream`. The owner of `stream` must call `end` before closing the stream.
    pub fn new(stream: &TcpStream, options: TcpOptions) -> Self {
        Self {
            socket: Mutex::new(ProbedSocket::Open(stream.as_raw_fd())),
            options,
        }
    }

    /// Reads the facts a last time, before the owner closes the socket.
    pub fn end(&self) {
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        if let ProbedSocket::Open(descriptor) = *socket {
            *socket = ProbedSocket::Closed(self.ask(descriptor));
        }
    }

    fn end_of_socket(&self) -> Option<TcpEnd> {
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        let ProbedSocket::Open(descriptor) = *socket else {
            return None;
        };
        // SAFETY: `end` comes before the owner closes it, and waits for the lock.
        let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
        TcpEnd::from_socket(borrowed).ok()
    }

    fn observe(&self) -> Option<PathObservations> {
        // Locked while the descriptor is used: `end` waits, so it stays this socket's.
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        match *socket {
            ProbedSocket::Open(descriptor) => self.ask(descriptor),
            ProbedSocket::Closed(seen) => seen,
        }
    }

    fn ask(&self, descriptor: RawFd) -> Option<PathObservations> {
        // SAFETY: as above: who asks holds the lock.
        let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
        tcp_info(borrowed).map(|info| read_tcp_info(&info, self.options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn tells_of_an_open_socket_and_remembers_it() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        let probe = Arc::new(TcpProbe::new(&stream, TcpOptions::default()));
        let path = PathProbe::Tcp(Arc::clone(&probe));
        let open = path.facts().unwrap();
        assert!(open.min_rtt_ns.unwrap() > 0 && open.min_rtt_ns <= open.rtt_ns);
        assert_eq!(
            (open.retransmitted_count, open.fast_open_accepted),
            (0, None)
        );
        assert!(!path.is_connecting());
        probe.end();
        drop(stream);
        assert_eq!(path.facts(), Some(open));
    }

    #[test]
    fn quic_without_a_sample_has_no_round_trip_time() {
        let mut stats = quinn::ConnectionStats::default();
        stats.path.rtt = QUIC_INITIAL_RTT;
        stats.path.min_rtt = QUIC_INITIAL_RTT;
        assert_eq!(read_quic_stats(&stats), PathFacts::default());
        stats.path.min_rtt = Duration::from_millis(20);
        stats.path.lost_packets = 2;
        let facts = read_quic_stats(&stats);
        assert_eq!(
            (facts.min_rtt_ns, facts.retransmitted_count),
            (Some(20_000_000), 2)
        );
    }
}
