//! Turns a query's outcome into its record. The meaning of all times of a query is defined here
//! only. Not for: asking.

mod connection_facts;
mod doudp;

use super::answer::QueryAnswer;
use super::attempt::QueryOutcome;
use super::pending::PendingQuery;
use crate::edns::cookie::{cookie_of, state_of};
use crate::edns::response::{extended_errors, name_server_identifier};
use crate::message::{negative_ttl_s, non_address_answers};
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use resolab_record::{
    ConnectionState, DnsTransport, Failure, ForwardedFor, QueryPurpose, QueryRecord,
};
use resolab_transport::client::{Handshake, MeasuredFailure, SetupLog, TimedPhase};

impl PendingQuery<'_> {
    /// Returns the record of the query.
    pub fn record(
        &self,
        outcome: &QueryOutcome,
        purpose: QueryPurpose,
        sequence: u64,
        forwarded_for: Option<ForwardedFor>,
    ) -> QueryRecord {
        let mut record = self.new_record(purpose, sequence);
        record.forwarded_for = forwarded_for;
        if record.dns_transport != DnsTransport::Doudp {
            record.connection = Some(outcome.connection);
        }
        self.write_edns_sent(&mut record);
        self.write_look_up(&mut record, outcome);
        self.write_doudp(&mut record);
        self.write_kernel_stamps(&mut record);
        if outcome.is_opener {
            self.write_set_up(&mut record, &outcome.setup);
        }
        if let Some(handshake) = outcome.setup.handshake() {
            self.write_handshake(&mut record, handshake, outcome);
        }
        (record.query_exchange_start_ns, record.query_exchange_end_ns) =
            self.times(&self.exchange.query_exchange);
        if let Ok(answer) = &outcome.result {
            write_answer(&mut record, answer);
            self.write_edns_received(&mut record, answer);
        }
        match failure_of(&outcome.result) {
            None => record.query_response_time_ns = self.response_time(outcome),
            Some(failure) => {
                record.failure = Some(failure.failure);
                record.failure_detail = Some(failure.detail);
            }
        }
        record.connection_facts = self.connection_facts(&record, outcome);
        record.hello_facts = outcome.setup.hello_facts();
        record
    }

    /// Returns a record with the question and the options only, without any outcome.
    fn new_record(&self, purpose: QueryPurpose, sequence: u64) -> QueryRecord {
        QueryRecord {
            dns_transport: self.client.resolver.transport,
            resolver: self.client.resolver.url.clone(),
            resolver_address: self.client.location.known(),
            bootstrap: self.client.location.bootstrap(),
            certificate_checked: self.client.certificate_checked,
            qname: self.question.name_text(),
            qtype: self.question.type_text(),
            qclass: self.question.class_text(),
            purpose,
            sequence,
            time_origin_ns: self.time_origin_ns,
            requested_handshake_mode: self.client.requested_handshake_mode,
            query_bytes: self.exchange.query_bytes(),
            attempt_count: self.exchange.attempt_count(),
            dnssec_ok: self.question.dnssec_ok,
            ..QueryRecord::default()
        }
    }

    /// Writes the query's EDNS options, unless the query never left.
    fn write_edns_sent(&self, record: &mut QueryRecord) {
        if record.attempt_count == 0 {
            return;
        }
        let sent = self.client.edns.query_contents(self.question, None);
        record.edns_udp_payload_bytes = Some(sent.udp_payload_bytes);
        record.ecs_sent = sent.client_subnet.map(|subnet| subnet.to_string());
        record.cookie_sent = self.exchange.sent_cookie().map(|cookie| cookie.state());
    }

    fn write_edns_received(&self, record: &mut QueryRecord, answer: &QueryAnswer) {
        let message = &answer.response.message;
        if let Some(edns) = &message.edns {
            record.response_edns_udp_payload_bytes = Some(edns.max_payload());
            if let Some(EdnsOption::Subnet(subnet)) = edns.option(EdnsCode::Subnet) {
                record.ecs_scope_prefix_length = Some(subnet.scope_prefix());
            }
        }
        if self.exchange.sent_cookie().is_some() {
            record.cookie_received = Some(state_of(cookie_of(message)));
        }
    }

    fn write_set_up(&self, record: &mut QueryRecord, setup: &SetupLog) {
        (record.tcp_connect_start_ns, record.tcp_connect_end_ns) = self.times(&setup.tcp_connect);
        (record.tls_handshake_start_ns, record.tls_handshake_end_ns) =
            self.times(&setup.tls_handshake);
        (record.quic_handshake_start_ns, record.quic_handshake_end_ns) =
            self.times(&setup.quic_handshake);
    }

    /// Writes the connection's handshake. Early data counts for this query only when the query left
    /// before the end of the handshake.
    fn write_handshake(
        &self,
        record: &mut QueryRecord,
        handshake: &Handshake,
        outcome: &QueryOutcome,
    ) {
        record.handshake_mode = Some(handshake.mode());
        record.alpn.clone_from(&handshake.alpn);
        record.tls_version.clone_from(&handshake.tls_version);
        record.cipher_suite.clone_from(&handshake.cipher_suite);
        let is_cold = outcome.connection == ConnectionState::Cold;
        if is_cold && self.left_before_handshake_end(&outcome.setup) {
            record.early_data_accepted = handshake.early_data_accepted;
        }
        let transport = record.dns_transport;
        let is_tls = transport.is_encrypted() && !transport.is_over_quic();
        if is_tls && record.early_data_accepted == Some(false) {
            // Over TCP, TLS itself sends rejected early data again.
            record.attempt_count += 1;
        }
    }

    fn left_before_handshake_end(&self, setup: &SetupLog) -> bool {
        self.exchange
            .query_exchange
            .start_ns()
            .is_some_and(|sent| Some(sent) < setup.handshake_end_ns())
    }

    pub(crate) fn times(&self, phase: &TimedPhase) -> (Option<u64>, Option<u64>) {
        let since = |at: Option<u64>| at.map(|at| at.saturating_sub(self.time_origin_ns));
        (since(phase.start_ns()), since(phase.end_ns()))
    }

    fn response_time(&self, outcome: &QueryOutcome) -> Option<u64> {
        let answer = outcome.result.as_ref().ok()?;
        Some(answer.complete_ns.saturating_sub(self.time_origin_ns))
    }
}

fn write_answer(record: &mut QueryRecord, answer: &QueryAnswer) {
    let response = &answer.response;
    record.response_bytes = Some(answer.response_bytes);
    record.rcode = Some(response.rcode.clone());
    record.truncated = Some(response.truncated);
    record.answer_count = Some(response.answer_count);
    record.addresses.clone_from(&response.addresses);
    record.answers = non_address_answers(&response.message);
    record.ttl_s = response.ttl_s;
    record.negative_ttl_s = negative_ttl_s(&response.message);
    record.authentic_data = Some(response.message.metadata.authentic_data);
    record.extended_dns_errors = extended_errors(&response.message);
    record.name_server_identifier = name_server_identifier(&response.message);
}

/// Returns the failure of a query. An error code or a truncated response is a failure with a
/// response.
fn failure_of(result: &Result<QueryAnswer, MeasuredFailure>) -> Option<MeasuredFailure> {
    match result {
        Err(failure) => Some(failure.clone()),
        Ok(answer) if !answer.response.is_answer => Some(MeasuredFailure::new(
            Failure::DnsRcode,
            &answer.response.rcode,
        )),
        Ok(answer) if answer.response.truncated => Some(MeasuredFailure::new(
            Failure::QueryTruncated,
            "the TC bit is set",
        )),
        Ok(_) => None,
    }
}
