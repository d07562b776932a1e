//! HTTP/2 (RFC 9113) over TLS: DoH and pages.

use super::early_messages;
use super::exchange::{self, ReplySink};
use super::request_body::RequestBodyReader;
use crate::config::limits::Limits;
use crate::connections::OpenConnection;
use crate::connections::ending::ConnectionEnding;
use crate::http_message::HttpRequest;
use crate::state::EdgeState;
use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::{Request, Response, StatusCode};
use resolab_record::{Failure, HttpVersion};
use resolab_transport::clock::monotonic_ns;
use resolab_transport::server::TlsStream;
use std::future::poll_fn;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep_until, timeout};

/// The maximum of a reply's body bytes waiting for the client's window.
const SEND_BUFFER_BYTES: usize = 256 * 1_024;
/// The maximum of streams reset before the edge saw them (CVE-2023-44487), and of client errors
/// answered by a reset. Above either maximum the connection ends with ENHANCE_YOUR_CALM.
const PENDING_RESETS_COUNT: usize = 20;
const OWN_RESETS_COUNT: usize = 256;
/// The reason for ending a connection with too many exchanges. A reset stream frees its slot while
/// the exchange still waits.
const TOO_MANY: &str = "too many requests taken back and begun anew";

/// Serves a connection until the client, the idle timeout or a command ends the connection.
pub async fn serve(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    stream: TlsStream,
) -> ConnectionEnding {
    let limits = &connection.limits;
    // Browsers keep connections that lost a race, and say nothing on them before they need them.
    let handshake = tokio::select! {
        () = connection.close_wanted() => return ConnectionEnding::from_note("closed by command"),
        handshake = timeout(limits.idle_timeout, builder(limits).handshake(stream)) => handshake,
    };
    let mut http = match handshake {
        Ok(Ok(http)) => http,
        Ok(Err(error)) => return ending_of(&error),
        Err(_) => {
            return ConnectionEnding::from_failure(Failure::HttpProtocol, "no HTTP/2 preface")
                .ended_by_client(false);
        }
    };
    let mut ending = ConnectionEnding::orderly();
    let mut deadline = Instant::now() + limits.idle_timeout;
    loop {
        tokio::select! {
            () = connection.close_wanted() => {
                // GOAWAY with NO_ERROR, then close_notify and FIN.
                http.abrupt_shutdown(Reason::NO_ERROR);
                ending = ConnectionEnding::from_note("closed by command");
            }
            () = sleep_until(deadline) => {
                if !http.has_streams() {
                    if ending.detail.is_some() {
                        // It was told and did not go.
                        return ending;
                    }
                    http.graceful_shutdown();
                    ending = ConnectionEnding::from_note("idle");
                }
                deadline = Instant::now() + limits.idle_timeout;
            }
            accepted = http.accept() => match accepted {
                Some(Err(error)) if ending == ConnectionEnding::orderly() => return ending_of(&error),
                None | Some(Err(_)) => return ending,
                Some(Ok((request, respond))) => {
                    deadline = Instant::now() + limits.idle_timeout;
                    if let Some(place) = connection.begin_exchange() {
                        spawn_exchange(state, connection, place, request, respond);
                    } else {
                        http.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
                        ending = ConnectionEnding::from_failure(Failure::HttpProtocol, TOO_MANY).ended_by_client(false);
                    }
                }
            },
        }
    }
}

fn builder(limits: &Limits) -> h2::server::Builder {
    let mut builder = h2::server::Builder::new();
    builder
        .max_concurrent_streams(limits.streams_count)
        .max_header_list_size(limits.header_bytes)
        .max_send_buffer_size(SEND_BUFFER_BYTES)
        .max_pending_accept_reset_streams(PENDING_RESETS_COUNT)
        .max_local_error_reset_streams(Some(OWN_RESETS_COUNT));
    builder
}

fn spawn_exchange(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    place: OwnedSemaphorePermit,
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) {
    let received_ns = monotonic_ns();
    let in_early_data = connection.is_in_early_data() == Some(true);
    let (state, connection) = (Arc::clone(state), Arc::clone(connection));
    tokio::spawn(async move {
        let _place = place;
        let (parts, body) = request.into_parts();
        let head = Request::from_parts(parts, ());
        let intake = RequestBodyReader::new(&state, &connection, &head);
        let reading = timeout(connection.limits.message_timeout, read_body(intake, body));
        let Ok(Some(body)) = reading.await else {
            return;
        };
        let request = HttpRequest {
            head: &head,
            body,
            version: HttpVersion::H2,
            connection: &connection,
            in_early_data,
            received_ns,
        };
        let decided = exchange::decide(&state, &request).await;
        if let Some(early_messages) = decided.early_messages() {
            early_messages::send(&state, &request, early_messages, &mut respond);
        }
        let given_up = async {
            let _ = poll_fn(|cx| respond.poll_reset(cx)).await;
        };
        let prepared = exchange::hold(decided, &connection, given_up).await;
        let Some((reply, pending)) = prepared else {
            return;
        };
        let mut sink = H2ReplySink::Waiting(respond);
        // A reply that breaks off resets its stream in being dropped.
        let _ = exchange::write(pending, reply, &mut sink).await;
    });
}

/// Reads the whole body. `Err` for a body too large, `None` when the client broke off.
async fn read_body(
    mut intake: RequestBodyReader<'_>,
    mut body: RecvStream,
) -> Option<Result<Bytes, StatusCode>> {
    if body.is_end_stream() {
        return Some(Ok(Bytes::new()));
    }
    while let Some(chunk) = body.data().await {
        let chunk = chunk.ok()?;
        let length_bytes = chunk.len();
        if let Err(status) = intake.take(chunk) {
            return Some(Err(status));
        }
        body.flow_control().release_capacity(length_bytes).ok()?;
    }
    Some(Ok(intake.finish()))
}

/// The destination of a reply: first the head, then the body.
enum H2ReplySink {
    Waiting(SendResponse<Bytes>),
    Sending(SendStream<Bytes>),
}

impl ReplySink for H2ReplySink {
    async fn head(&mut self, head: Response<()>, end: bool) -> Option<()> {
        let Self::Waiting(respond) = self else {
            return None;
        };
        *self = Self::Sending(respond.send_response(head, end).ok()?);
        Some(())
    }

    async fn wait_for_capacity(&mut self, wanted_bytes: usize) -> Option<usize> {
        let Self::Sending(stream) = self else {
            return None;
        };
        stream.reserve_capacity(wanted_bytes);
        poll_fn(|cx| stream.poll_capacity(cx)).await?.ok()
    }

    async fn send_piece(&mut self, bytes: Bytes, end: bool) -> Option<()> {
        let Self::Sending(stream) = self else {
            return None;
        };
        stream.send_data(bytes, end).ok()
    }
}

fn ending_of(error: &h2::Error) -> ConnectionEnding {
    let gone = error.get_io().map(std::io::Error::kind);
    match gone {
        Some(std::io::ErrorKind::UnexpectedEof) => {
            ConnectionEnding::from_note("ended without close_notify").ended_by_client(true)
        }
        Some(_) => ConnectionEnding::from_failure(Failure::Other, error.to_string()),
        None if error.reason() == Some(Reason::NO_ERROR) => ConnectionEnding::orderly(),
        None => ConnectionEnding::from_failure(Failure::HttpProtocol, error.to_string())
            .ended_by_client(error.is_remote()),
    }
}
