//! The record of an HTTP exchange, the same for every version. The record begins with the request
//! and is written once, for every end of the exchange.

use crate::connections::session_resumed;
use crate::http_message::{HttpReply, HttpRequest};
use crate::world::{QueryNote, World};
use resolab_record::{EdgeRequestRecord, Record};
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use std::time::Duration;

/// A record in progress. When dropped before [`Pending::finish`], the record states an unsent
/// reply.
pub struct Pending {
    world: Arc<World>,
    record: Option<Kind>,
}

enum Kind {
    Query(QueryNote),
    Request(Box<EdgeRequestRecord>),
}

impl Pending {
    /// Begins the record of a decided reply, before any byte is sent.
    pub fn new(world: &Arc<World>, request: &HttpRequest<'_>, reply: &mut HttpReply) -> Self {
        let record = match reply.query.take() {
            Some(query) => Some(Kind::Query(query)),
            // Of which each question has its own.
            None if reply.parts.is_some() => None,
            None => Some(Kind::Request(Box::new(request_record(request, reply)))),
        };
        Self {
            world: Arc::clone(world),
            record,
        }
    }

    /// Notes the server's own time after the wait.
    pub fn waited(&mut self, waited_ns: u64) {
        if let Some(Kind::Request(record)) = &mut self.record {
            record.server_time_ns = Some(waited_ns);
        }
    }

    /// Notes the time of the body's first byte.
    pub fn first_body_byte(&mut self) {
        if let Some(Kind::Request(record)) = &mut self.record {
            record.first_body_byte_ns.get_or_insert_with(monotonic_ns);
        }
    }

    /// Returns the longest wait for a client taking no bytes.
    pub fn patience(&self) -> Duration {
        self.world.connections.limits().idle_timeout
    }

    /// Writes the record after the last byte.
    pub fn finish(&mut self) {
        self.write(true);
    }

    fn write(&mut self, sent: bool) {
        match self.record.take() {
            Some(Kind::Query(query)) => self.world.write_query(query, sent),
            Some(Kind::Request(mut record)) => {
                record.response_sent_ns = sent.then(monotonic_ns);
                (self.world.sink)(Record::EdgeRequest(*record));
            }
            None => {}
        }
    }
}

impl Drop for Pending {
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
