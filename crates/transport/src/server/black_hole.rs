//! Which names, or everything, get no packet through at the moment: connections stay open and
//! nothing comes or goes on them, as on a path that died.
//!
//! For: TCP streams, which stop reading and writing (the kernel below goes on acknowledging), and
//! UDP sockets of QUIC, which swallow whole datagrams. With none in force it costs one load.
//! Not for: losing some packets: that is the link's.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// What is swallowed now.
#[derive(Debug, Default)]
pub struct BlackHole {
    active: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    everything: bool,
    names: HashSet<String>,
    /// QUIC clients by the name they asked for: a datagram does not say it.
    peers: HashMap<SocketAddr, String>,
    waiting: Vec<Waker>,
}

impl State {
    fn swallows(&self, name: Option<&str>) -> bool {
        self.everything || name.is_some_and(|name| self.names.contains(name))
    }
}

impl BlackHole {
    /// Swallow a name (lower case) and the QUIC clients that are connected to it, or everything.
    pub fn begin(&self, name: Option<&str>, peers: impl IntoIterator<Item = SocketAddr>) {
        let mut state = self.lock();
        match name {
            None => state.everything = true,
            Some(name) => {
                let peers = peers.into_iter().map(|peer| (peer, name.to_owned()));
                state.peers.extend(peers);
                state.names.insert(name.to_owned());
            }
        }
        self.active.store(true, Ordering::Release);
    }

    /// Let a name through again, or everything, names too.
    pub fn end(&self, name: Option<&str>) {
        let mut state = self.lock();
        if let Some(name) = name {
            state.names.remove(name);
            state.peers.retain(|_, own| own != name);
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

    /// Whether connections to a name are swallowed.
    pub fn swallows(&self, name: Option<&str>) -> bool {
        self.active.load(Ordering::Acquire) && self.lock().swallows(name)
    }

    /// Whether a datagram from or to a client is swallowed.
    pub(super) fn swallows_datagram(&self, peer: SocketAddr) -> bool {
        if !self.active.load(Ordering::Acquire) {
            return false;
        }
        let state = self.lock();
        state.everything || state.peers.contains_key(&peer)
    }

    /// A QUIC client said which name it wants.
    pub(super) fn note_peer(&self, peer: SocketAddr, name: Option<&str>) {
        if let Some(name) = name.filter(|name| self.swallows(Some(name))) {
            self.lock().peers.insert(peer, name.to_owned());
        }
    }

    /// Ready when bytes of a connection to `name` may pass.
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

    #[test]
    fn names_and_everything_begin_and_end_by_themselves() {
        let hole = BlackHole::default();
        let (one, other): (SocketAddr, SocketAddr) = (
            "127.0.0.1:1".parse().unwrap(),
            "127.0.0.1:2".parse().unwrap(),
        );
        assert!(!hole.swallows(Some("a.test")) && !hole.swallows_datagram(one));
        hole.begin(Some("a.test"), [one]);
        hole.note_peer(other, Some("b.test"));
        assert!(hole.swallows(Some("a.test")) && hole.swallows_datagram(one));
        assert!(!hole.swallows(Some("b.test")) && !hole.swallows_datagram(other));
        assert!(!hole.swallows(None));
        hole.begin(None, []);
        assert!(hole.swallows(None) && hole.swallows_datagram(other));
        hole.end(Some("a.test"));
        assert!(hole.swallows(Some("a.test")));
        hole.end(None);
        assert!(!hole.swallows(Some("a.test")) && !hole.swallows_datagram(one));
    }

    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn whoever_waits_is_woken_at_the_end() {
        let hole = BlackHole::default();
        let woken = Arc::new(Woken(AtomicBool::new(false)));
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
