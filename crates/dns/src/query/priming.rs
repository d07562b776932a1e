//! Fetches session tickets and TCP Fast Open cookies before a measured query, outside every clock.
//! The process keeps the tickets; the kernel keeps the cookies.

use super::pending::PendingQuery;
use crate::client::DnsClient;
use crate::question::Question;
use resolab_record::{QueryPurpose, QueryRecord};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Tickets may follow the response by this much more than a round trip.
pub const TICKET_SLACK: Duration = Duration::from_millis(250);

impl DnsClient {
    /// Asks once on a separate connection when a ticket or a Fast Open cookie is missing. A ticket
    /// is missing when the requested handshake needs tickets and the store is empty. A cookie is
    /// missing until a connection has asked for a cookie. Waits for a ticket for at least a round
    /// trip. Without a ticket from the server the measured handshake is full, and the query's
    /// record says this.
    pub async fn prime(
        &self,
        question: &Question,
        sequence: u64,
        deadline: Duration,
    ) -> Option<QueryRecord> {
        let tickets = self.tickets.as_ref();
        let tickets = tickets.filter(|tickets| tickets.count() == 0);
        let needs_cookie =
            self.tcp.fast_open && !self.fast_open_is_primed.swap(true, Ordering::Relaxed);
        if tickets.is_none() && !needs_cookie {
            return None;
        }
        let mut slot = None;
        let pending = PendingQuery::begin(self, question);
        let outcome = pending.ask(&mut slot, deadline).await;
        let record = pending.record(&outcome, QueryPurpose::Priming, sequence, None);
        if needs_cookie && record.failure.is_some() {
            self.fast_open_is_primed.store(false, Ordering::Relaxed);
        }
        if let Some(tickets) = tickets.filter(|_| record.failure.is_none()) {
            let times = record
                .query_exchange_end_ns
                .zip(record.query_exchange_start_ns);
            let round_trip = Duration::from_nanos(times.map_or(0, |(end, start)| end - start));
            tokio::time::sleep(round_trip).await;
            tickets.wait(round_trip + TICKET_SLACK).await;
        }
        if let Some((session, _)) = slot {
            session.close().await;
        }
        Some(record)
    }
}
