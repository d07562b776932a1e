//! HTTP/3 (RFC 9114): pages and DoH3.

use super::early_messages;
use super::exchange::{self, ReplySink};
use super::request_body::RequestBodyReader;
use super::service_end::ServiceEnd;
use crate::connections::OpenConnection;
use crate::http_message::HttpRequest;
use crate::state::EdgeState;
use bytes::{Buf, Bytes};
use h3::error::Code;
use h3::server::{RequestResolver, RequestStream};
use http::StatusCode;
use quinn::Connection;
use resolab_http::ContentLength;
use resolab_http::quic_streams::{BidirectionalStream, EarlyStreams, Http3Quic};
use resolab_record::HttpVersion;
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use tokio::time::timeout;

/// The error code H3_NO_ERROR (RFC 9114 section 8.1).
pub const NO_ERROR: u32 = 0x100;

type H3RequestStream = RequestStream<BidirectionalStream<Bytes>, Bytes>;

/// Serves a connection until the end of the connection.
pub async fn serve(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    quic: &Connection,
) -> ServiceEnd {
    serve_over(state, connection, quic, Http3Quic::server(quic.clone())).await
}

/// Serves HTTP/3 over `transport`; the transport may omit streams of other protocols.
pub async fn serve_over(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    quic: &Connection,
    transport: Http3Quic,
) -> ServiceEnd {
    let early = transport.early_streams();
    let transport = transport.with_control_frames(state.control_frames(connection));
    let mut builder = h3::server::builder();
    // Reserved frames would be bytes of random length in every exchange.
    builder.send_grease(false);
    builder.max_field_section_size(u64::from(connection.limits.header_bytes));
    let Ok(mut http) = builder.build::<_, Bytes>(transport).await else {
        return ServiceEnd::Closed(quic.closed().await);
    };
    let end = loop {
        let resolver = match http.accept().await {
            Ok(Some(resolver)) => resolver,
            Ok(None) => break ServiceEnd::Done,
            Err(error) => break ServiceEnd::Violated(error.to_string()),
        };
        let (state, connection) = (Arc::clone(state), Arc::clone(connection));
        let early = early.clone();
        tokio::spawn(async move {
            // A client that breaks off leaves nothing to answer or record.
            let _ = exchange(&state, &connection, &early, resolver).await;
        });
    };
    // Asked before `http` goes: in going it closes the connection and hides how it ended.
    quic.close_reason().map_or(end, ServiceEnd::Closed)
}

async fn exchange(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    early: &EarlyStreams,
    resolver: RequestResolver<Http3Quic, Bytes>,
) -> Option<()> {
    let resolving = timeout(
        connection.limits.message_timeout,
        resolver.resolve_request(),
    );
    let (head, mut stream) = resolving.await.ok()?.ok()?;
    let answered = answer(state, connection, early, &head, &mut stream).await;
    if answered.is_none() {
        // Else the stream would end in being dropped, as if all of the response were there.
        stream.stop_stream(Code::H3_REQUEST_CANCELLED);
    }
    answered
}

/// Answers a request; `None` when the response is incomplete or missing.
async fn answer(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    early: &EarlyStreams,
    head: &http::Request<()>,
    stream: &mut H3RequestStream,
) -> Option<()> {
    let received_ns = monotonic_ns();
    let in_early_data = early.contains(stream.id()) && connection.is_in_early_data() == Some(true);
    let intake = RequestBodyReader::new(state, connection, head);
    let length = ContentLength::from_request(head.headers());
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
    let decided = exchange::decide(state, &request).await;
    if let Some(interim) = decided.early_messages().and_then(early_messages::interim) {
        stream.send_response(interim).await.ok()?;
    }
    let held = exchange::hold(decided, connection, std::future::pending()).await;
    let (reply, pending) = held?;
    exchange::write(pending, reply, stream).await
}

/// Reads the whole body. `Err` for a body too large. `None` when the client broke off, or the
/// length differs from the head's value.
async fn read_body(
    mut intake: RequestBodyReader<'_>,
    mut length: ContentLength,
    stream: &mut H3RequestStream,
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

impl ReplySink for H3RequestStream {
    async fn head(&mut self, head: http::Response<()>, end: bool) -> Option<()> {
        self.send_response(head).await.ok()?;
        if end {
            self.finish().await.ok()?;
        }
        Some(())
    }

    /// Grants all bytes: sending waits for the client's windows itself.
    async fn wait_for_capacity(&mut self, wanted_bytes: usize) -> Option<usize> {
        Some(wanted_bytes)
    }

    async fn send_piece(&mut self, bytes: Bytes, end: bool) -> Option<()> {
        self.send_data(bytes).await.ok()?;
        if end {
            self.finish().await.ok()?;
        }
        Some(())
    }
}
