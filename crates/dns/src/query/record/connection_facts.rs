//! The connection's facts in a query's record. Read after the response: nothing here may run inside
//! the query's clock.

use super::super::attempt::QueryOutcome;
use super::super::pending::PendingQuery;
use resolab_record::{ConnectionFacts, QueryRecord};
use resolab_transport::client::SetupLog;

impl PendingQuery<'_> {
    /// Returns the facts for a record with its handshake and times already written.
    pub(super) fn connection_facts(
        &self,
        record: &QueryRecord,
        outcome: &QueryOutcome,
    ) -> ConnectionFacts {
        if self.client.is_connectionless() {
            return ConnectionFacts::default();
        }
        let setup = &outcome.setup;
        let path = setup.path_facts();
        let min_rtt_ns = path.and_then(|path| path.min_rtt_ns);
        let position = self.exchange.position();
        ConnectionFacts {
            quic_version: setup.quic_version(),
            quic_retry: setup.quic_retry(),
            connection_rtt_ns: path.and_then(|path| path.rtt_ns),
            connection_min_rtt_ns: min_rtt_ns,
            retransmitted_count: path.map(|path| path.retransmitted_count),
            round_trip_count: round_trip_count(record.query_response_time_ns, min_rtt_ns),
            answered_early: self.answered_early(record, setup, min_rtt_ns),
            tcp_fast_open_accepted: path.and_then(|path| path.fast_open_accepted),
            connection_query_index: position.map(|position| position.query_index),
            outstanding_count: position.map(|position| position.outstanding_count),
            previous_connection_end: None,
            repeat_count: Some(self.exchange.repeat_count()).filter(|count| *count > 0),
        }
    }

    /// Returns true when the server answered early data before the end of the handshake. A server
    /// holding the query until then answers a round trip later; a server answering early data
    /// answers together with the handshake.
    fn answered_early(
        &self,
        record: &QueryRecord,
        setup: &SetupLog,
        min_rtt_ns: Option<u64>,
    ) -> Option<bool> {
        if record.early_data_accepted != Some(true) {
            return None;
        }
        let response_ns = self.exchange.query_exchange.end_ns()?;
        let later_ns = response_ns.saturating_sub(setup.handshake_end_ns()?);
        Some(later_ns < min_rtt_ns? / 2)
    }
}

fn round_trip_count(response_time_ns: Option<u64>, min_rtt_ns: Option<u64>) -> Option<f64> {
    let min_rtt_ns = min_rtt_ns.filter(|&rtt| rtt > 0)?;
    Some(response_time_ns? as f64 / min_rtt_ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_are_counted_where_both_times_are_known() {
        assert_eq!(round_trip_count(Some(61), Some(20)), Some(3.05));
        assert_eq!(round_trip_count(None, Some(20)), None);
        assert_eq!(round_trip_count(Some(61), None), None);
        assert_eq!(round_trip_count(Some(61), Some(0)), None);
    }
}
