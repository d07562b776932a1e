//! Session tickets of one server name and ALPN, kept in memory. Tickets are single-use. A
//! measurement must be able to wait for a ticket and to forget all tickets.
//! Not for: TLS 1.2 sessions, or keeping tickets across processes.

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// The maximum of stored tickets: more than any server sends in a handshake.
const TICKETS_MAX: usize = 16;

/// The tickets of one TLS configuration.
#[derive(Debug, Default)]
pub struct ClientTicketStore {
    tickets: Mutex<VecDeque<Tls13ClientSessionValue>>,
    arrived: Notify,
}

impl ClientTicketStore {
    /// Returns the number of stored tickets.
    pub fn count(&self) -> usize {
        self.locked().len()
    }

    /// Drops all tickets: the next handshake is full.
    pub fn forget(&self) {
        self.locked().clear();
    }

    /// Waits at most `at_most` for a ticket. Returns true when a ticket is stored.
    pub async fn wait(&self, at_most: Duration) -> bool {
        let arrival = async {
            while self.count() == 0 {
                self.arrived.notified().await;
            }
        };
        tokio::time::timeout(at_most, arrival).await.is_ok()
    }

    fn locked(&self) -> MutexGuard<'_, VecDeque<Tls13ClientSessionValue>> {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientSessionStore for ClientTicketStore {
    fn set_kx_hint(&self, _: ServerName<'static>, _: NamedGroup) {}

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        None
    }

    fn set_tls12_session(&self, _: ServerName<'static>, _: Tls12ClientSessionValue) {}

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        None
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {}

    fn insert_tls13_ticket(&self, _: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        let mut tickets = self.locked();
        if tickets.len() == TICKETS_MAX {
            tickets.pop_front();
        }
        tickets.push_back(ticket);
        self.arrived.notify_one();
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.locked().pop_back()
    }
}
