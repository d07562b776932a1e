//! Writes the record of a fetch, after its clock. Not for: deciding anything.

use super::client::FetchClient;
use super::run::{FetchProgress, FetchedConnection};
use resolab_record::{FetchConnection, FetchRecord, QueryPurpose};
use resolab_transport::client::{Handshake, MeasuredFailure};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

impl FetchClient {
    pub(super) fn record(
        &self,
        progress: &FetchProgress,
        result: &Result<(), MeasuredFailure>,
        purpose: QueryPurpose,
        sequence: u64,
        deadline: Duration,
    ) -> FetchRecord {
        let since = |at: Option<u64>| at.map(|at| at.saturating_sub(progress.time_origin_ns));
        let connections = progress.connections();
        let response = progress.response.get();
        let name_complete_ns = response.and(since(progress.query.query_exchange.end_ns()));
        let page = {
            let page = progress.page.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(&page)
        };
        // What came before the name was known is a page once it is.
        let with_name = |at: Option<u64>| Some(since(at)?.max(name_complete_ns?));
        let page_first_byte_ns = with_name(page.response.end_ns());
        let page_complete_ns = with_name(page.exchange.end_ns()).filter(|_| result.is_ok());
        let rtts = connections
            .iter()
            .filter_map(|facts| facts.connection_min_rtt_ns);
        let rtt_ns = rtts.min().filter(|&rtt| rtt > 0);
        let round_trips = |ns: Option<u64>| Some(ns? as f64 / rtt_ns? as f64);
        let failure = result.as_ref().err();
        FetchRecord {
            coalescing_mode: self.options.mode,
            speculative: self.options.is_speculative && purpose == QueryPurpose::Measured,
            url: self.page.url.clone(),
            resolver: self.resolver.url.clone(),
            purpose,
            sequence,
            time_origin_ns: progress.time_origin_ns,
            limit_ns: u64::try_from(deadline.as_nanos()).ok(),
            requested_handshake_mode: self.options.handshake_mode,
            connections,
            query_start_ns: since(progress.query.query_exchange.start_ns()),
            name_complete_ns,
            rcode: response.map(|response| response.rcode.clone()),
            addresses: response.map_or(Vec::new(), |response| response.addresses.clone()),
            speculation: progress.speculation.get().copied(),
            coverage_source: progress.coverage.get().copied(),
            shared_because: progress.shared_because.get().copied(),
            page_request_ns: since(page.exchange.start_ns()),
            page_head_ns: since(page.response.start_ns()),
            page_first_byte_ns,
            page_complete_ns,
            status: progress.status.get().map(http::StatusCode::as_u16),
            page_bytes: progress.page_bytes.get().copied(),
            name_round_trip_count: round_trips(name_complete_ns),
            first_byte_round_trip_count: round_trips(page_first_byte_ns),
            page_round_trip_count: round_trips(page_complete_ns),
            failure: failure.map(|failure| failure.failure),
            failure_detail: failure.map(|failure| failure.detail.clone()),
        }
    }
}

impl FetchProgress {
    fn connections(&self) -> Vec<FetchConnection> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let facts = |opened: &FetchedConnection| connection(opened, self.time_origin_ns);
        opened.iter().map(facts).collect()
    }
}

fn connection(opened: &FetchedConnection, time_origin_ns: u64) -> FetchConnection {
    let since = |at: Option<u64>| at.map(|at| at.saturating_sub(time_origin_ns));
    let log = &opened.log;
    let handshake = log.handshake();
    let path = log.path_facts();
    let stats = opened.quic.as_ref().map(|quic| quic.connection.stats());
    FetchConnection {
        address: opened.address,
        server_name: opened.server_name.clone(),
        alpn: handshake.and_then(|handshake| handshake.alpn.clone()),
        handshake_mode: handshake.map(Handshake::mode),
        early_data_accepted: handshake.and_then(|handshake| handshake.early_data_accepted),
        address_token_used: opened.address_token_used,
        quic_retry: log.quic_retry(),
        quic_handshake_start_ns: since(log.quic_handshake.start_ns()),
        quic_handshake_end_ns: since(log.quic_handshake.end_ns()),
        connection_min_rtt_ns: path.and_then(|path| path.min_rtt_ns),
        retransmitted_count: path.map(|path| path.retransmitted_count),
        sent_bytes: stats.as_ref().map(|stats| stats.udp_tx.bytes),
        received_bytes: stats.as_ref().map(|stats| stats.udp_rx.bytes),
        hello_facts: log.hello_facts(),
    }
}
