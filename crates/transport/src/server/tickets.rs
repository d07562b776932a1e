//! The sessions for the edge's issued tickets: one store for every policy.
//!
//! For: stateful resumption, required by early data (RFC 8446 section 8.1), each ticket once.
//! Taking a ticket costs the same for any number of tickets. rustls's own store searches a list.
//! After some ten thousand handshakes, the search would delay every resumed handshake.
//! Not for: tickets after the end of the process. A ticket's message always states 24 hours,
//! because rustls permits no other value for stateful tickets. A shorter lifetime thus shows as a
//! full handshake.

use rustls::server::StoresServerSessions;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The sessions by ticket; the oldest are dropped first.
pub(super) struct ServerTicketStore {
    capacity_count: usize,
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    by_ticket: HashMap<Vec<u8>, (Instant, Vec<u8>)>,
    /// The tickets in the order of arrival, including tickets taken since.
    order: VecDeque<Vec<u8>>,
}

impl ServerTicketStore {
    pub(super) fn new(capacity_count: usize) -> Self {
        Self {
            capacity_count,
            sessions: Mutex::default(),
        }
    }

    /// Returns the number of available tickets.
    pub(super) fn count(&self) -> usize {
        self.lock().by_ticket.len()
    }

    fn put(&self, key: Vec<u8>, value: Vec<u8>, now: Instant) {
        let mut sessions = self.lock();
        if sessions
            .by_ticket
            .insert(key.clone(), (now, value))
            .is_none()
        {
            sessions.order.push_back(key);
        }
        if sessions.order.len() > self.capacity_count
            && let Some(oldest) = sessions.order.pop_front()
        {
            sessions.by_ticket.remove(&oldest);
        }
    }

    /// Takes a session not older than `lifetime`; an older session is removed, too.
    fn take(&self, key: &[u8], lifetime: Duration, now: Instant) -> Option<Vec<u8>> {
        let (issued, session) = self.lock().by_ticket.remove(key)?;
        (now.duration_since(issued) < lifetime).then_some(session)
    }

    fn lock(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The view of the store for one connection: the lifetime of the connection's name applies to its
/// tickets.
pub(super) struct TicketShelf {
    pub(super) store: Arc<ServerTicketStore>,
    pub(super) lifetime: Duration,
    /// True when sessions leave the store an hour older than their actual age. Every ticket's age
    /// then differs from the client's value. For this reason RFC 8446 section 8.3 rejects early
    /// data and continues the resumption. Tickets issued meanwhile have their actual age.
    pub(super) makes_older: bool,
}

/// The added age, in s: more than the tolerated clock difference of a minute in rustls.
const OLDER_S: u64 = 3_600;

/// Returns a session with an earlier issue time. rustls writes this time in seconds before the last
/// four bytes. The tests of `policies` fail if rustls changes the format.
fn age_session(mut session: Vec<u8>) -> Vec<u8> {
    let place = session.len().checked_sub(12);
    if let Some(place) = place.and_then(|start| session.get_mut(start..start + 8)) {
        let issued_s = place
            .iter()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        place.copy_from_slice(&issued_s.saturating_sub(OLDER_S).to_be_bytes());
    }
    session
}

impl StoresServerSessions for TicketShelf {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        self.store.put(key, value, Instant::now());
        true
    }

    /// Returns a session without removing the session. Only TLS 1.2 calls this method; TLS 1.2
    /// sessions may serve several times.
    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let sessions = self.store.lock();
        let (issued, session) = sessions.by_ticket.get(key)?;
        (issued.elapsed() < self.lifetime).then(|| session.clone())
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        let session = self.store.take(key, self.lifetime, Instant::now())?;
        Some(if self.makes_older {
            age_session(session)
        } else {
            session
        })
    }

    fn can_cache(&self) -> bool {
        true
    }
}

impl fmt::Debug for TicketShelf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TicketShelf")
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn a_ticket_serves_once_and_the_oldest_make_room() {
        let (store, now) = (ServerTicketStore::new(2), Instant::now());
        for ticket in 1..=3 {
            store.put(vec![ticket], vec![10 * ticket], now);
        }
        assert_eq!(store.take(&[1], DAY, now), None);
        assert_eq!(store.take(&[2], DAY, now), Some(vec![20]));
        assert_eq!(store.take(&[2], DAY, now), None);
        store.put(vec![4], vec![40], now);
        assert_eq!(store.take(&[3], DAY, now), Some(vec![30]));
        assert_eq!(store.take(&[4], DAY, now), Some(vec![40]));
        let sessions = store.lock();
        assert!(sessions.by_ticket.is_empty() && sessions.order.len() <= 2);
    }

    #[test]
    fn a_ticket_older_than_the_lifetime_is_gone() {
        let (store, issued) = (ServerTicketStore::new(9), Instant::now());
        let lifetime = Duration::from_secs(10);
        store.put(vec![1], vec![10], issued);
        store.put(vec![2], vec![20], issued);
        let young = issued + Duration::from_secs(9);
        assert_eq!(store.take(&[1], lifetime, young), Some(vec![10]));
        assert_eq!(store.take(&[2], lifetime, issued + lifetime), None);
        assert_eq!(store.count(), 0);
    }
}
