//! HTTP/3 (RFC 9114): pages and DoH3.

use super::ahead;
use super::exchange::{self, ReplySink};
use super::request_body::Intake;
use super::served::Served;
use crate::connections::OpenConnection;
use crate::http_message::HttpRequest;
use crate::world::World;
use bytes::{Buf, Bytes};
use h3::error::Code;
use h3::server::{RequestResolver, RequestStream};
use http::StatusCode;
use quinn::Connection;
use resolab_http::ContentLength;
use resolab_http::quic_streams::{EarlyStreams, Exchange, Http3Quic};
use resolab_record::HttpVersion;
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use tokio::time::timeout;

/// The error code H3_NO_ERROR (RFC 9114 section 8.1).
pub const NO_ERROR: u32 = 0x100;

type Stream = RequestStream<Exchange<Bytes>, Bytes>;

/// Serves a connection until the end of the connection.
pub async fn serve(
    world: &Arc<World>,
    connection: &Arc<OpenConnection>,
    quic: &Connection,
) -> Served {
    serve_over(world, connection, quic, Http3Quic::server(quic.clone())).await
}

/// Serves HTTP/3 over `transport`; the transport may omit streams of other protocols.
pub async fn serve_over(
    world: &Arc<World>,
    connection: &Arc<OpenConnection>,
    quic: &Connection,
    transport: Http3Quic,
) -> Served {
    let early = transport.early_streams();
    let transport = transport.with_control_frames(world.control_frames(connection));
    let mut builder = h3::server::builder();
    // Reserved frames would be bytes of random length in every exchange.
    builder.send_grease(false);
    builder.max_field_section_size(u64::from(connection.limits.header_bytes));
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
    world: &Arc<World>,
    connection: &Arc<OpenConnection>,
    early: &EarlyStreams,
    resolver: RequestResolver<Http3Quic, Bytes>,
) -> Option<()> {
    let resolving = timeout(
        connection.limits.message_timeout,
        resolver.resolve_request(),
    );
    let (head, mut stream) = resolving.await.ok()?.ok()?;
    let answered = answer(world, connection, early, &head, &mut stream).await;
    if answered.is_none() {
        // Else the stream would end in being dropped, as if all of the response were there.
        stream.stop_stream(Code::H3_REQUEST_CANCELLED);
    }
    answered
}

/// Answers a request; `None` when the response is incomplete or missing.
async fn answer(
    world: &Arc<World>,
    connection: &Arc<OpenConnection>,
    early: &EarlyStreams,
    head: &http::Request<()>,
    stream: &mut Stream,
) -> Option<()> {
    let received_ns = monotonic_ns();
    let in_early_data = early.contains(stream.id()) && connection.in_early_data() == Some(true);
    let intake = Intake::new(world, connection, head);
    let length = ContentLength::of_request(head.headers());
    let reading = read_body(intake, length, stream);
    let reading = timeout(connection.limits.message_timeout, reading);
    let request = HttpRequest {
        body: reading.await.ok()??,
        head,
        version: HttpVersion::H3,
        connection,
        in_early_data,
        received_ns,
    };
    let decided = exchange::decide(world, &request).await;
    if let Some(interim) = decided.ahead().and_then(ahead::interim) {
        stream.send_response(interim).await.ok()?;
    }
    let held = exchange::hold(decided, connection, std::future::pending()).await;
    let (reply, pending) = held?;
    exchange::write(pending, reply, stream).await
}

/// Reads the whole body. `Err` for a body too large. `None` when the client broke off, or the
/// length differs from the head's value.
async fn read_body(
    mut intake: Intake<'_>,
    mut length: ContentLength,
    stream: &mut Stream,
) -> Option<Result<Bytes, StatusCode>> {
    while let Some(chunk) = stream.recv_data().await.ok()? {
        if length.take(chunk.remaining()).is_err() {
            stream.stop_sending(Code::H3_MESSAGE_ERROR);
            return None;
        }
        if let Err(status) = intake.take(chunk) {
            stream.stop_sending(Code::H3_NO_ERROR);
            return Some(Err(status));
        }
    }
    length.end().ok()?;
    Some(Ok(intake.finish()))
}

impl ReplySink for Stream {
    async fn head(&mut self, head: http::Response<()>, end: bool) -> Option<()> {
        self.send_response(head).await.ok()?;
        if end {
            self.finish().await.ok()?;
        }
        Some(())
    }

    /// Grants all bytes: sending waits for the client's windows itself.
    async fn room(&mut self, wanted_bytes: usize) -> Option<usize> {
        Some(wanted_bytes)
    }

    async fn piece(&mut self, bytes: Bytes, end: bool) -> Option<()> {
        self.send_data(bytes).await.ok()?;
        if end {
            self.finish().await.ok()?;
        }
        Some(())
    }
}
