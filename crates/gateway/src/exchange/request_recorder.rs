//! The record of one request, filled in during the exchange and written when dropped. A request cut
//! off also has a record with the steps it reached. Not for: passing the request.

use super::SentUpstreamRequest;
use crate::downstream::{DownstreamConnection, IncomingRequest};
use http::StatusCode;
use resolab_http::streaming::BrokenMessage;
use resolab_record::{Failure, GatewayRequestRecord, Record, Speculation};
use resolab_transport::client::MeasuredFailure;
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;

/// A record being filled in.
pub(super) struct RequestRecorder {
    downstream: Arc<DownstreamConnection>,
    record: Box<GatewayRequestRecord>,
}

impl RequestRecorder {
    pub fn new(downstream: &Arc<DownstreamConnection>, incoming: &IncomingRequest) -> Self {
        let (head, uri) = (&incoming.head, incoming.head.uri());
        let priority = head.headers().get("priority");
        let priority = priority.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let record = GatewayRequestRecord {
            load: downstream.load,
            request_id: downstream.gateway_state.next_request(),
            leg_id: downstream.id,
            leg_http_version: incoming.version,
            connection_id: None,
            connection_reason: None,
            sent_early: None,
            method: head.method().to_string(),
            authority: uri.authority().map(ToString::to_string).unwrap_or_default(),
            path: uri
                .path_and_query()
                .map(ToString::to_string)
                .unwrap_or_default(),
            priority,
            priority_updates_count: 0,
            received_ns: incoming.received_ns,
            sent_ns: None,
            interim_responses_count: 0,
            head_ns: None,
            head_passed_ns: None,
            last_ns: None,
            last_passed_ns: None,
            status: None,
            request_body_bytes: 0,
            response_body_bytes: 0,
            speculation: None,
            sent_again_count: 0,
            cancelled: false,
            failure: None,
            failure_detail: None,
        };
        Self {
            downstream: Arc::clone(downstream),
            record: Box::new(record),
        }
    }

    /// Notes the outcome of the request sent before its name was known.
    pub fn speculation(&mut self, speculation: Speculation) {
        self.record.speculation = Some(speculation);
    }

    /// Notes the request's connection, and the instant of the first sending only.
    pub fn note_sent(&mut self, sent: &SentUpstreamRequest) {
        self.record.connection_id = Some(sent.connection.identity.id);
        self.record.connection_reason = Some(sent.reason);
        self.record.sent_early = Some(sent.is_early());
        self.record.sent_ns.get_or_insert_with(monotonic_ns);
    }

    /// Notes a repeat, on another connection or the same.
    pub fn note_repeat(&mut self, sent: &SentUpstreamRequest) {
        self.record.sent_again_count += 1;
        self.note_sent(sent);
    }

    /// Notes a priority update passed on.
    pub fn note_priority(&mut self) {
        self.record.priority_updates_count += 1;
    }

    /// Notes an interim response passed on.
    pub fn interim(&mut self) {
        self.record.interim_responses_count += 1;
    }

    /// Notes the arrival of the response's head.
    pub fn head(&mut self, status: StatusCode) {
        self.record.head_ns = Some(monotonic_ns());
        self.record.status = Some(status.as_u16());
    }

    /// Notes the head's passing to the browser.
    pub fn note_head(&mut self) {
        self.record.head_passed_ns = Some(monotonic_ns());
    }

    /// Counts a piece of the response's body passed to the browser.
    pub fn note_piece(&mut self, bytes: usize) {
        self.record.response_body_bytes += bytes as u64;
    }

    /// Notes the arrival of the response's end.
    pub fn last(&mut self) {
        self.record.last_ns = Some(monotonic_ns());
    }

    /// Notes the end's passing to the browser.
    pub fn last_passed(&mut self) {
        self.record.last_passed_ns = Some(monotonic_ns());
    }

    /// Notes the bytes of the request's body passed upstream.
    pub fn request_body(&mut self, bytes: u64) {
        self.record.request_body_bytes = bytes;
    }

    /// Notes the browser's cancellation.
    pub fn note_cancellation(&mut self) {
        self.record.cancelled = true;
    }

    /// Notes a failure upstream.
    pub fn note_failure(&mut self, failure: MeasuredFailure) {
        self.record.failure = Some(failure.failure);
        self.record.failure_detail = Some(failure.detail);
    }

    /// Notes a broken stream, possibly with its connection closed.
    pub fn note_broken(&mut self, broken: &BrokenMessage, connection_closed: bool) {
        let failure = if connection_closed {
            Failure::QueryConnectionClosed
        } else {
            Failure::HttpProtocol
        };
        self.note_failure(MeasuredFailure::new(failure, broken));
    }
}

impl Drop for RequestRecorder {
    fn drop(&mut self) {
        let ended = self.record.last_passed_ns.is_some() || self.record.failure.is_some();
        // Cut off with its downstream connection or its load, which the browser ends.
        self.record.cancelled |= !ended;
        let record = Record::GatewayRequest(self.record.clone());
        self.downstream.gateway_state.record(record);
    }
}
