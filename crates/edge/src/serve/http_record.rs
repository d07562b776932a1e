//! The record of an HTTP exchange, the same for every version. The record begins with the request
//! and is written once, for every end of the exchange.

use crate::connections::session_resumed;
use crate::http_message::{HttpReply, HttpRequest};
use crate::state::{EdgeState, QueryRecordDraft};
use resolab_record::{EdgeRequestRecord, Record};
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use std::time::Duration;

/// A record in progress. When dropped before [`PendingRecord::finish`], the record states an unsent
/// reply.
pub struct PendingRecord {
    state: Arc<EdgeState>,
    record: Option<RecordKind>,
}

enum RecordKind {
    Query(QueryRecordDraft),
    Request(Box<EdgeRequestRecord>),
}

impl PendingRecord {
    /// Begins the record of a decided reply, before any byte is sent.
    pub fn new(state: &Arc<EdgeState>, request: &HttpRequest<'_>, reply: &mut HttpReply) -> Self {
        let record = match reply.query.take() {
            Some(query) => Some(RecordKind::Query(query)),
            // Of which each question has its own.
            None if reply.parts.is_some() => None,
            None => Some(RecordKind::Request(Box::new(request_record(
                request, reply,
            )))),
        };
        Self {
            state: Arc::clone(state),
            record,
        }
    }

    /// Notes the server's own time after the wait.
    pub fn note_wait(&mut self, waited_ns: u64) {
        if let Some(RecordKind::Request(record)) = &mut self.record {
            record.server_time_ns = Some(waited_ns);
        }
    }

    /// Notes the time of the body's first byte.
    pub fn first_body_byte(&mut self) {
        if let Some(RecordKind::Request(record)) = &mut self.record {
            record.first_body_byte_ns.get_or_insert_with(monotonic_ns);
        }
    }

    /// Returns the longest wait for a client taking no bytes.
    pub fn patience(&self) -> Duration {
        self.state.connections.limits().idle_timeout
    }

    /// Writes the record after the last byte.
    pub fn finish(&mut self) {
        self.write(true);
    }

    fn write(&mut self, sent: bool) {
        match self.record.take() {
            Some(RecordKind::Query(query)) => self.state.write_query(query, sent),
            Some(RecordKind::Request(mut record)) => {
                record.response_sent_ns = sent.then(monotonic_ns);
                (self.state.sink)(Record::EdgeRequest(*record));
            }
            None => {}
        }
    }
}

impl Drop for PendingRecord {
    fn drop(&mut self) {
        self.write(false);
    }
}

fn request_record(request: &HttpRequest<'_>, reply: &HttpReply) -> EdgeRequestRecord {
    request.connection.count_request();
    let facts = request.connection.facts.as_ref();
    EdgeRequestRecord {
        connection_id: request.connection.id,
        http_version: request.version,
        peer_address: request.connection.peer,
        received_ns: request.received_ns,
        in_early_data: request.in_early_data,
        handshake_complete_ns: facts.and_then(|facts| facts.complete_ns()),
        session_resumed: session_resumed(request.connection),
        method: request.head.method().to_string(),
        authority: request.authority().to_owned(),
        path: request.target().to_owned(),
        status: reply.head.status().as_u16(),
        body_bytes: reply.body.len(),
        content_encoding: reply.content_encoding.map(str::to_owned),
        content_range: reply.content_range.clone(),
        resource_bytes: reply.resource_bytes,
        server_time_ns: None,
        first_body_byte_ns: None,
        response_sent_ns: None,
    }
}
