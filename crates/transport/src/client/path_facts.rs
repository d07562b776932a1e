//! What the kernel (`TCP_INFO`) and QUIC know of a connection's path: round trip times and
//! retransmissions. Read on demand, so that nothing of it stands inside a clock.
//! Not for: what the handshake negotiated; that is `setup`.

use super::tcp_end::TcpEnd;
use super::tcp_options::TcpOptions;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;

/// What QUIC assumes before its first sample (RFC 9002 section 6.2.2).
pub(super) const QUIC_INITIAL_RTT: Duration = Duration::from_millis(333);
/// `tcpi_options`: the SYN's data were acknowledged with it (linux/tcp.h).
const TCPI_OPT_SYN_DATA: u8 = 32;
/// `tcpi_min_rtt` without a sample.
const NO_MIN_RTT: u32 = u32::MAX;
/// `tcpi_state` (net/tcp_states.h).
const TCP_SYN_SENT: u8 = 2;

/// A connection's path as seen from this end, over the connection's life so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PathFacts {
    /// Smoothed round trip time.
    pub rtt_ns: Option<u64>,
    /// Smallest round trip time.
    pub min_rtt_ns: Option<u64>,
    /// TCP segments sent again, QUIC packets held lost.
    pub retransmitted_count: u32,
    /// TCP Fast Open: whether the SYN carried data and they were acknowledged with it; `None` when
    /// not asked for.
    pub fast_open_accepted: Option<bool>,
    /// Payload of a full TCP segment.
    pub segment_bytes: Option<u32>,
}

/// Where to ask.
#[derive(Debug)]
pub(super) enum PathProbe {
    Tcp(Arc<TcpProbe>),
    Quic(quinn::Connection),
}

impl PathProbe {
    pub fn facts(&self) -> Option<PathFacts> {
        match self {
            Self::Tcp(probe) => probe.look().map(|seen| seen.facts),
            Self::Quic(connection) => Some(of_quic(&connection.stats())),
        }
    }

    /// The socket's end; `None` with QUIC, and where it was closed.
    pub fn tcp_end(&self) -> Option<TcpEnd> {
        match self {
            Self::Tcp(probe) => probe.end_of_socket(),
            Self::Quic(_) => None,
        }
    }

    /// Whether the SYN has no answer yet.
    pub fn is_connecting(&self) -> bool {
        match self {
            Self::Tcp(probe) => probe.look().is_some_and(|seen| seen.is_connecting),
            Self::Quic(_) => false,
        }
    }
}

fn of_tcp(info: &libc::tcp_info, options: TcpOptions) -> Seen {
    let syn_data_acknowledged = info.tcpi_options & TCPI_OPT_SYN_DATA != 0;
    let ns = |us: u32| u64::from(us) * 1000;
    let facts = PathFacts {
        rtt_ns: (info.tcpi_rtt > 0).then(|| ns(info.tcpi_rtt)),
        min_rtt_ns: (info.tcpi_min_rtt != NO_MIN_RTT).then(|| ns(info.tcpi_min_rtt)),
        retransmitted_count: info.tcpi_total_retrans,
        fast_open_accepted: options.fast_open.then_some(syn_data_acknowledged),
        segment_bytes: Some(info.tcpi_snd_mss),
    };
    Seen {
        facts,
        is_connecting: info.tcpi_state == TCP_SYN_SENT,
    }
}

fn of_quic(stats: &quinn::ConnectionStats) -> PathFacts {
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

/// Asks the kernel about a TCP socket that somebody else owns, and keeps its last word.
#[derive(Debug)]
pub(super) struct TcpProbe {
    socket: Mutex<Socket>,
    options: TcpOptions,
}

#[derive(Debug)]
enum Socket {
    Open(RawFd),
    Closed(Option<Seen>),
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    facts: PathFacts,
    is_connecting: bool,
}

impl TcpProbe {
    /// The owner of `stream` must call `end` before it closes it.
    pub fn new(stream: &TcpStream, options: TcpOptions) -> Self {
        Self {
            socket: Mutex::new(Socket::Open(stream.as_raw_fd())),
            options,
        }
    }

    /// The socket is about to be closed.
    pub fn end(&self) {
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        if let Socket::Open(descriptor) = *socket {
            *socket = Socket::Closed(self.ask(descriptor));
        }
    }

    fn end_of_socket(&self) -> Option<TcpEnd> {
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        let Socket::Open(descriptor) = *socket else {
            return None;
        };
        // SAFETY: `end` comes before the owner closes it, and waits for the lock.
        let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
        TcpEnd::of(borrowed).ok()
    }

    fn look(&self) -> Option<Seen> {
        // Locked while the descriptor is used: `end` waits, so it stays this socket's.
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        match *socket {
            Socket::Open(descriptor) => self.ask(descriptor),
            Socket::Closed(seen) => seen,
        }
    }

    fn ask(&self, descriptor: RawFd) -> Option<Seen> {
        // SAFETY: as above: who asks holds the lock.
        let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
        tcp_info(borrowed).map(|info| of_tcp(&info, self.options))
    }
}

pub(super) fn tcp_info(socket: impl AsFd) -> Option<libc::tcp_info> {
    let mut length = mem::size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: all zeros is a valid tcp_info, which has integers only.
    let mut info: libc::tcp_info = unsafe { mem::zeroed() };
    // SAFETY: the kernel writes at most `length` bytes into `info`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            ptr::from_mut(&mut info).cast(),
            &raw mut length,
        )
    };
    (result == 0).then_some(info)
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
        assert_eq!(of_quic(&stats), PathFacts::default());
        stats.path.min_rtt = Duration::from_millis(20);
        stats.path.lost_packets = 2;
        let facts = of_quic(&stats);
        assert_eq!(
            (facts.min_rtt_ns, facts.retransmitted_count),
            (Some(20_000_000), 2)
        );
    }
}
