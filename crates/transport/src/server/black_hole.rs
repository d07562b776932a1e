//! Black holes for names, or for everything: connections stay open and pass no packets, as on a
//! broken path.
//!
//! For: TCP streams and UDP sockets of QUIC. TCP streams stop reading and writing, while the kernel
//! continues to acknowledge. UDP sockets discard whole datagrams. Without an active black hole the
//! cost is one atomic load.
//! Not for: losing some packets; the link does random loss.

use crate::flights::FirstPacket;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The number of client addresses above which clients without a connection are forgotten.
const PEERS_COUNT: usize = 16_384;

/// The currently discarded names, or everything.
#[derive(Debug, Default)]
pub struct BlackHole {
    active: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    everything: bool,
    names: HashSet<String>,
    /// QUIC clients, with the number of connections to each name, because a datagram has no name.
    /// After the last connection, the client's datagrams are still discarded: an answer would
    /// report the connection's loss. The client's next Initial packet ends the discarding, because
    /// the packet's name is still unknown.
    peers: HashMap<SocketAddr, BTreeMap<String, usize>>,
    waiting: Vec<Waker>,
}

impl State {
    fn swallows(&self, name: Option<&str>) -> bool {
        self.everything || name.is_some_and(|name| self.names.contains(name))
    }

    fn add_connection(&mut self, peer: SocketAddr, name: &str) {
        let names = self.peers.entry(peer).or_default();
        *names.entry(name.to_owned()).or_default() += 1;
    }
}

/// Returns true when a client has a connection to a discarded name.
fn is_connected(names: &BTreeMap<String, usize>) -> bool {
    names.values().any(|count| *count > 0)
}

impl BlackHole {
    /// Begins to discard packets of a name (lower case) and of the QUIC clients connected to the
    /// name. `peers` has an address for each connection. Without a name, everything is discarded.
    pub fn begin(&self, name: Option<&str>, peers: impl IntoIterator<Item = SocketAddr>) {
        let mut state = self.lock();
        match name {
            None => state.everything = true,
            Some(name) => {
                // Where it is swallowed already, they said so themselves.
                if state.names.insert(name.to_owned()) {
                    for peer in peers {
                        state.add_connection(peer, name);
                    }
                }
            }
        }
        self.active.store(true, Ordering::Release);
    }

    /// Ends the black hole of a name. Without a name, all black holes end.
    pub fn end(&self, name: Option<&str>) {
        let mut state = self.lock();
        if let Some(name) = name {
            state.names.remove(name);
            state.peers.retain(|_, names| {
                names.remove(name);
                !names.is_empty()
            });
        } else {
            state.everything = false;
            state.names.clear();
            state.peers.clear();
        }
        let active = state.everything || !state.names.is_empty();
        self.active.store(active, Ordering::Release);
        // Those still swallowed ask again and wait again.
        state.waiting.drain(..).for_each(Waker::wake);
    }

    /// Returns true when connections to a name are in a black hole.
    pub fn swallows(&self, name: Option<&str>) -> bool {
        self.active.load(Ordering::Acquire) && self.lock().swallows(name)
    }

    /// Returns true when a datagram to a client is discarded.
    pub(super) fn swallows_sent(&self, peer: SocketAddr) -> bool {
        if !self.active.load(Ordering::Acquire) {
            return false;
        }
        let state = self.lock();
        state.everything || state.peers.contains_key(&peer)
    }

    /// Returns true when a datagram from a client is discarded.
    pub(super) fn swallows_received(&self, peer: SocketAddr, datagram: &[u8]) -> bool {
        if !self.active.load(Ordering::Acquire) {
            return false;
        }
        let mut state = self.lock();
        if state.everything {
            return true;
        }
        let Some(names) = state.peers.get(&peer) else {
            return false;
        };
        let begins_anew =
            !is_connected(names) && FirstPacket::from_datagram(datagram) == FirstPacket::Initial;
        if begins_anew {
            state.peers.remove(&peer);
        }
        !begins_anew
    }

    /// Notes the server name requested by a QUIC client.
    pub(super) fn begin_connection(&self, peer: SocketAddr, name: Option<&str>) {
        if !self.active.load(Ordering::Acquire) {
            return;
        }
        let mut state = self.lock();
        if let Some(name) = name.filter(|name| state.names.contains(*name)) {
            state.add_connection(peer, name);
        }
    }

    /// Notes the end of a QUIC client's connection to a name.
    pub(super) fn end_connection(&self, peer: SocketAddr, name: Option<&str>) {
        if !self.active.load(Ordering::Acquire) {
            return;
        }
        let mut state = self.lock();
        let names = state.peers.get_mut(&peer);
        if let Some(count) = names
            .zip(name)
            .and_then(|(names, name)| names.get_mut(name))
        {
            *count = count.saturating_sub(1);
            if state.peers.len() > PEERS_COUNT {
                state.peers.retain(|_, names| is_connected(names));
            }
        }
    }

    /// Polls for permission to pass bytes of a connection to `name`.
    pub(super) fn poll_passable(&self, name: Option<&str>, cx: &mut Context<'_>) -> Poll<()> {
        if !self.active.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        let mut state = self.lock();
        if !state.swallows(name) {
            return Poll::Ready(());
        }
        if !state
            .waiting
            .iter()
            .any(|waker| waker.will_wake(cx.waker()))
        {
            state.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::task::Wake;

    const SHORT: [u8; 40] = [0x40; 40];
    const INITIAL: [u8; 1_200] = {
        let mut datagram = [0; 1_200];
        (datagram[0], datagram[4]) = (0xC0, 1);
        datagram
    };

    fn peer(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    /// Returns true when any datagram of a client is discarded, in both directions.
    fn swallows(hole: &BlackHole, peer: SocketAddr) -> bool {
        let received = [&SHORT[..], &INITIAL].map(|bytes| hole.swallows_received(peer, bytes));
        assert_eq!(received, [hole.swallows_sent(peer); 2]);
        received[0]
    }

    #[test]
    fn names_and_everything_begin_and_end_by_themselves() {
        let hole = BlackHole::default();
        let (first, other) = (peer(1), peer(2));
        assert!(!hole.swallows(Some("a.test")) && !swallows(&hole, first));
        hole.begin(Some("a.test"), [first]);
        hole.begin_connection(other, Some("b.test"));
        assert!(hole.swallows(Some("a.test")) && swallows(&hole, first));
        assert!(!hole.swallows(Some("b.test")) && !swallows(&hole, other));
        assert!(!hole.swallows(None));
        hole.begin(None, []);
        assert!(hole.swallows(None) && swallows(&hole, other));
        hole.end(Some("a.test"));
        assert!(hole.swallows(Some("a.test")));
        hole.end(None);
        assert!(!hole.swallows(Some("a.test")) && !swallows(&hole, first));
    }

    #[test]
    fn whose_connections_have_ended_is_swallowed_until_it_begins_another() {
        let hole = BlackHole::default();
        let first = peer(1);
        hole.begin(Some("a.test"), [first]);
        hole.begin_connection(first, Some("a.test"));
        // Said twice, it counts no connection twice.
        hole.begin(Some("a.test"), [first, first]);
        hole.end_connection(first, Some("a.test"));
        hole.end_connection(first, Some("b.test"));
        assert!(swallows(&hole, first), "one of two is left");
        hole.end_connection(first, Some("a.test"));
        assert!(hole.swallows_sent(first) && hole.swallows_received(first, &SHORT));
        assert!(!hole.swallows_received(first, &INITIAL));
        assert!(!swallows(&hole, first));
        hole.begin_connection(first, Some("a.test"));
        assert!(swallows(&hole, first));
    }

    #[test]
    fn clients_that_come_and_go_take_bounded_room() {
        let hole = BlackHole::default();
        let count = u16::try_from(PEERS_COUNT).unwrap();
        hole.begin(Some("a.test"), [peer(0)]);
        for port in 1..=count + 1 {
            hole.begin_connection(peer(port), Some("a.test"));
            hole.end_connection(peer(port), Some("a.test"));
        }
        assert!(hole.lock().peers.len() <= PEERS_COUNT);
        assert!(swallows(&hole, peer(0)), "it is still connected");
    }

    struct WakeFlag(AtomicBool);

    impl Wake for WakeFlag {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn whoever_waits_is_woken_at_the_end() {
        let hole = BlackHole::default();
        let woken = Arc::new(WakeFlag(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut cx = Context::from_waker(&waker);
        assert!(hole.poll_passable(None, &mut cx).is_ready());
        hole.begin(Some("a.test"), []);
        assert!(hole.poll_passable(Some("b.test"), &mut cx).is_ready());
        assert!(hole.poll_passable(Some("a.test"), &mut cx).is_pending());
        assert!(hole.poll_passable(Some("a.test"), &mut cx).is_pending());
        assert_eq!(hole.lock().waiting.len(), 1);
        hole.end(Some("a.test"));
        assert!(hole.lock().waiting.is_empty() && woken.0.load(Ordering::Relaxed));
        assert!(hole.poll_passable(Some("a.test"), &mut cx).is_ready());
    }
}
