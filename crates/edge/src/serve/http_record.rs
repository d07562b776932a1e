//! The record of one HTTP exchange, the same for every version.

use crate::connections::session_resumed;
use crate::http::{HttpReply, HttpRequest};
use crate::world::World;
use resolab_record::{EdgeRequestRecord, Record};
use resolab_transport::clock::monotonic_ns;

/// Write it once the reply was handed to the connection, or could not be.
pub fn write(world: &World, request: &HttpRequest<'_>, reply: HttpReply, sent: bool) {
    if let Some(query) = reply.query {
        world.write_query(query, sent);
        return;
    }
    request.connection.count_request();
    let facts = request.connection.facts.as_ref();
    (world.sink)(Record::EdgeRequest(EdgeRequestRecord {
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
        body_bytes: reply.body.len() as u64,
        response_sent_ns: sent.then(monotonic_ns),
    }));
}
