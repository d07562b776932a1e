//! HTTP/3 (RFC 9114): pages and DoH3.

use super::quic::Served;
use super::{IDLE_TIMEOUT, MESSAGE_LIMIT_BYTES, http_record};
use crate::connections::OpenConnection;
use crate::http::{HttpRequest, reply};
use crate::world::World;
use bytes::{Buf, Bytes, BytesMut};
use h3::server::{RequestResolver, RequestStream};
use quinn::Connection;
use resolab_http::server_quic::{EarlyStreams, Exchange, ServerQuic};
use resolab_record::HttpVersion;
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;

/// H3_NO_ERROR (RFC 9114 section 8.1).
pub const NO_ERROR: u32 = 0x100;

type Stream = RequestStream<Exchange<Bytes>, Bytes>;

/// Serve until the connection ends.
pub async fn serve(
    world: &Arc<World>,
    connection: &Arc<OpenConnection>,
    quic: &Connection,
) -> Served {
    let (transport, early) = ServerQuic::new(quic.clone());
    let mut builder = h3::server::builder();
    // Reserved frames would be bytes of random length in every exchange.
    builder.send_grease(false);
    let Ok(mut http) = builder.build::<_, Bytes>(transport).await else {
        return Served::Closed(quic.closed().await);
    };
    let end = loop {
        let resolver = match http.accept().await {
            Ok(Some(resolver)) => resolver,
            Ok(None) => break Served::Done,
            Err(error) => break Served::Violated(error.to_string()),
        };
        let (world, connection) = (Arc::clone(world), Arc::clone(connection));
        let early = early.clone();
        tokio::spawn(async move {
            // A client that breaks off leaves nothing to answer or record.
            let _ = exchange(&world, &connection, &early, resolver).await;
        });
    };
    // Asked before `http` goes: in going it closes the connection and hides how it ended.
    quic.close_reason().map_or(end, Served::Closed)
}

async fn exchange(
    world: &World,
    connection: &OpenConnection,
    early: &EarlyStreams,
    resolver: RequestResolver<ServerQuic, Bytes>,
) -> Option<()> {
    let (head, mut stream) = resolver.resolve_request().await.ok()?;
    let received_ns = monotonic_ns();
    let in_early_data = early.contains(stream.id()) && connection.in_early_data() == Some(true);
    let request = HttpRequest {
        body: read_body(&mut stream).await?,
        head: &head,
        version: HttpVersion::H3,
        connection,
        in_early_data,
        received_ns,
    };
    let reply = reply(world, &request).await;
    if reply.is_withheld {
        http_record::write(world, &request, reply, false);
        // h3 does not tell when a client gives up a request: as long as any would wait.
        tokio::time::sleep(IDLE_TIMEOUT).await;
        return None;
    }
    let sent = send(&mut stream, &reply.head, reply.body.clone()).await;
    http_record::write(world, &request, reply, sent.is_some());
    Some(())
}

async fn read_body(stream: &mut Stream) -> Option<Bytes> {
    let mut whole = BytesMut::new();
    while let Some(mut chunk) = stream.recv_data().await.ok()? {
        if whole.len() + chunk.remaining() > MESSAGE_LIMIT_BYTES {
            return None;
        }
        whole.extend_from_slice(&chunk.copy_to_bytes(chunk.remaining()));
    }
    Some(whole.freeze())
}

async fn send(stream: &mut Stream, head: &http::Response<()>, body: Bytes) -> Option<()> {
    stream.send_response(head.clone()).await.ok()?;
    if !body.is_empty() {
        stream.send_data(body).await.ok()?;
    }
    stream.finish().await.ok()
}
