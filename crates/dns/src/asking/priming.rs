//! Fetches session tickets and TCP Fast Open cookies before a measured query that needs one,
//! outside every clock. Tickets live in this process only, cookies in the kernel.

use super::wanted::Asking;
use crate::client::DnsClient;
use crate::question::Question;
use resolab_record::{QueryPurpose, QueryRecord};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Tickets may follow the response by this much more than a round trip.
pub(crate) const TICKET_SLACK: Duration = Duration::from_millis(250);

impl DnsClient {
    /// Make sure a ticket is at hand where the handshake asked for needs one, and that the resolver
    /// was asked for a Fast Open cookie where that is wanted: if not, ask once on a connection of
    /// its own, and wait for a ticket at least a round trip. A server that gives no
    /// ticket makes the measured handshake full, which its record then says.
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
        let asking = Asking::begin(self, question);
        let outcome = asking.ask(&mut slot, deadline).await;
        let record = asking.record(&outcome, QueryPurpose::Priming, sequence, None);
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
