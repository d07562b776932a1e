//! HTTP/1.1 (RFC 9112) over TLS: DoH and pages, the exchanges in sequence.
//!
//! For: clients without a newer version. Not for: upgrades, or plain TCP.

use super::exchange;
use super::h1_body::ReplyBody;
use super::h1_stream::{StreamActivity, WatchedStream};
use super::request_body::RequestBodyReader;
use crate::config::limits::Limits;
use crate::connections::OpenConnection;
use crate::connections::ending::ConnectionEnding;
use crate::http_message::HttpRequest;
use crate::state::EdgeState;
use bytes::Bytes;
use http::header::{CONNECTION, HOST};
use http::{HeaderValue, Request, Response, StatusCode, Version};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use resolab_record::{Failure, HttpVersion};
use resolab_transport::clock::monotonic_ns;
use resolab_transport::server::TlsStream;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

/// The maximum number of fields in a head; above, the status is 431.
const FIELDS_COUNT: usize = 100;
/// The maximum of bytes read ahead, and of a reply's bytes waiting for the client.
const BUFFER_BYTES: usize = 64 * 1_024;

/// Serves a connection until the client, the idle timeout or a command ends the connection.
pub async fn serve(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    stream: TlsStream,
) -> ConnectionEnding {
    let limits = &connection.limits;
    let activity = Arc::new(StreamActivity::default());
    let service = service_fn(|request| answer(state, connection, request));
    let io = TokioIo::new(WatchedStream::new(stream, Arc::clone(&activity)));
    let mut http = builder(limits).serve_connection(io, service);
    let ending = tokio::select! {
        () = connection.close_wanted() => ConnectionEnding::from_note("closed by command"),
        () = activity.wait_for_silence(limits.idle_timeout) => ConnectionEnding::from_note("idle"),
        served = &mut http => ending_of(served),
    };
    let mut stream = http.into_parts().io.into_inner();
    // The peer may be gone already; what matters was said in `ending`.
    let _ = timeout(limits.message_timeout, stream.shutdown()).await;
    ending
}

fn builder(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle_timeout)
        .max_headers(FIELDS_COUNT)
        .max_header_size(limits.header_bytes as usize)
        .max_buf_size(BUFFER_BYTES)
        // As on the other versions.
        .auto_date_header(false)
        // A client that has said all it wanted still gets its answer.
        .half_close(true);
    builder
}

/// The answer is withheld on purpose; this error ends the connection.
#[derive(Debug, thiserror::Error)]
#[error("the answer is withheld")]
struct WithheldReply;

async fn answer(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    request: Request<Incoming>,
) -> Result<Response<ReplyBody>, WithheldReply> {
    let received_ns = monotonic_ns();
    let in_early_data = connection.is_in_early_data() == Some(true);
    let (parts, body) = request.into_parts();
    let head = Request::from_parts(parts, ());
    let intake = RequestBodyReader::new(state, connection, &head);
    let body = match host_fault(&head) {
        Some(status) => Err(status),
        None => timeout(connection.limits.message_timeout, read_body(intake, body))
            .await
            .unwrap_or(Err(StatusCode::REQUEST_TIMEOUT)),
    };
    let refused = body.is_err();
    let request = HttpRequest {
        head: &head,
        body,
        version: HttpVersion::H1,
        connection,
        in_early_data,
        received_ns,
    };
    let decided = exchange::decide(state, &request).await;
    let (reply, pending) = exchange::hold(decided, connection, std::future::pending())
        .await
        .ok_or(WithheldReply)?;
    let (mut head, ()) = reply.head.into_parts();
    if refused {
        // What is left of the request is not read.
        head.headers
            .insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(Response::from_parts(
        head,
        ReplyBody::new(reply.body, pending),
    ))
}

/// Returns the status for a wrong number of `host` fields. RFC 9112 section 3.2 requires exactly
/// one `host`; HTTP/1.0 had no `host`.
fn host_fault(head: &Request<()>) -> Option<StatusCode> {
    let hosts = head.headers().get_all(HOST).iter().count();
    let right = hosts == 1 || (hosts == 0 && head.version() == Version::HTTP_10);
    (!right).then_some(StatusCode::BAD_REQUEST)
}

/// Reads the whole body. Errors with the status of the refusal.
async fn read_body(
    mut intake: RequestBodyReader<'_>,
    mut body: Incoming,
) -> Result<Bytes, StatusCode> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    intake.admit(body.size_hint().lower())?;
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(|_| StatusCode::BAD_REQUEST)?;
        // Trailers say nothing here.
        let Ok(chunk) = frame.into_data() else {
            continue;
        };
        intake.take(chunk)?;
    }
    Ok(intake.finish())
}

fn ending_of(served: hyper::Result<()>) -> ConnectionEnding {
    let Err(error) = served else {
        return ConnectionEnding::orderly();
    };
    let text = chain(&error);
    if error.is_timeout() {
        return ConnectionEnding::from_note("idle");
    }
    if error.is_user() {
        return ConnectionEnding::from_note("a request is left without an answer");
    }
    if error.is_parse() {
        return ConnectionEnding::from_failure(Failure::HttpProtocol, text);
    }
    if error.is_incomplete_message() || is_eof(&error) {
        return ConnectionEnding::from_note("ended without close_notify").ended_by_client(true);
    }
    ConnectionEnding::from_failure(Failure::Other, text)
}

fn chain(error: &hyper::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn is_eof(error: &hyper::Error) -> bool {
    let source = std::error::Error::source(error);
    let io = source.and_then(|source| source.downcast_ref::<std::io::Error>());
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::UnexpectedEof)
}
