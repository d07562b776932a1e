//! Fetches before a measured fetch that depends on earlier fetches: on tickets, address tokens and
//! the server's origins. Runs outside every clock, in the same process.

use super::client::{FetchClient, QuicServer};
use resolab_dns::TICKET_SLACK;
use resolab_record::{FetchRecord, QueryPurpose};
use resolab_transport::client::SetupLog;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl FetchClient {
    /// Fetches once, and returns the record.
    pub async fn fetch_once(&self, sequence: u64, deadline: Duration) -> FetchRecord {
        let (progress, result) = self.run(self.options.is_speculative, deadline).await;
        let record = self.record(
            &progress,
            &result,
            QueryPurpose::Measured,
            sequence,
            deadline,
        );
        progress.close().await;
        record
    }

    /// Fetches once, name before page, when a connection of the next fetch lacks a ticket. Then
    /// waits for tickets for a round trip and a little more.
    pub async fn prime(&self, sequence: u64, deadline: Duration) -> Option<FetchRecord> {
        if !self.dns.lacks_tickets() && !self.lacks_web_tickets() {
            return None;
        }
        let (progress, result) = self.run(false, deadline).await;
        let record = self.record(
            &progress,
            &result,
            QueryPurpose::Priming,
            sequence,
            deadline,
        );
        if result.is_ok() {
            let logs: Vec<_> = {
                let opened = progress
                    .opened
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                opened
                    .iter()
                    .map(|connection| connection.log.clone())
                    .collect()
            };
            let round_trip = logs.iter().filter_map(|log| round_trip(log)).max();
            let round_trip = round_trip.unwrap_or_default();
            tokio::time::sleep(round_trip).await;
            for server in [Some(&self.dns), Some(&self.web).filter(|_| logs.len() > 1)] {
                if let Some(tickets) = server.and_then(|server| server.tickets.as_ref()) {
                    tickets.wait(round_trip + TICKET_SLACK).await;
                }
            }
        }
        progress.close().await;
        Some(record)
    }

    fn lacks_web_tickets(&self) -> bool {
        self.web_was_used.load(Ordering::Relaxed) && self.web.lacks_tickets()
    }
}

impl QuicServer {
    fn lacks_tickets(&self) -> bool {
        let tickets = self.tickets.as_ref();
        tickets.is_some_and(|tickets| tickets.count() == 0)
    }
}

fn round_trip(log: &SetupLog) -> Option<Duration> {
    log.path_facts()?.rtt_ns.map(Duration::from_nanos)
}
