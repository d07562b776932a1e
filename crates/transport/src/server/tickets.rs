//! The sessions behind the tickets the edge gave out: one store for every policy.
//!
//! For: the stateful resumption early data needs (RFC 8446 section 8.1), each ticket once. Taking
//! costs the same however many there are; rustls's own store searches a list, which after some
//! ten thousand handshakes would stand inside every resumed one.
//! Not for: tickets that outlive the process.

use rustls::server::StoresServerSessions;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sessions by ticket; the oldest make room.
pub(super) struct TicketStore {
    capacity_count: usize,
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    by_ticket: HashMap<Vec<u8>, Vec<u8>>,
    /// Tickets in the order they came; those taken since are still in it.
    order: VecDeque<Vec<u8>>,
}

impl TicketStore {
    pub(super) fn new(capacity_count: usize) -> Self {
        Self {
            capacity_count,
            sessions: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoresServerSessions for TicketStore {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        let mut sessions = self.lock();
        if sessions.by_ticket.insert(key.clone(), value).is_none() {
            sessions.order.push_back(key);
        }
        if sessions.order.len() > self.capacity_count
            && let Some(oldest) = sessions.order.pop_front()
        {
            sessions.by_ticket.remove(&oldest);
        }
        true
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.lock().by_ticket.get(key).cloned()
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.lock().by_ticket.remove(key)
    }

    fn can_cache(&self) -> bool {
        true
    }
}

impl fmt::Debug for TicketStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TicketStore")
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_serves_once_and_the_oldest_make_room() {
        let store = TicketStore::new(2);
        for ticket in 1..=3 {
            assert!(store.put(vec![ticket], vec![10 * ticket]));
        }
        assert_eq!(store.take(&[1]), None);
        assert_eq!(store.get(&[2]), Some(vec![20]));
        assert_eq!(store.take(&[2]), Some(vec![20]));
        assert_eq!(store.take(&[2]), None);
        store.put(vec![4], vec![40]);
        assert_eq!(store.take(&[3]), Some(vec![30]));
        assert_eq!(store.take(&[4]), Some(vec![40]));
        let sessions = store.lock();
        assert!(sessions.by_ticket.is_empty() && sessions.order.len() <= 2);
    }
}
