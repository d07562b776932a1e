//! HTTP/2 (RFC 9113) over TLS: DoH and pages.

use super::{IDLE_TIMEOUT, MESSAGE_LIMIT_BYTES, http_record};
use crate::connections::{Ending, OpenConnection};
use crate::http::{HttpRequest, reply};
use crate::world::World;
use bytes::{Bytes, BytesMut};
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::Request;
use resolab_record::{Failure, HttpVersion};
use resolab_transport::clock::monotonic_ns;
use resolab_transport::server::TlsStream;
use std::future::poll_fn;
use std::sync::Arc;
use tokio::time::{Instant, sleep_until};

const MAX_STREAMS_COUNT: u32 = 100;

/// Serve until the client, the idle timeout or a command ends it.
pub async fn serve(
    world: &Arc<World>,
    connection: &Arc<OpenConnection>,
    stream: TlsStream,
) -> Ending {
    let mut builder = h2::server::Builder::new();
    builder.max_concurrent_streams(MAX_STREAMS_COUNT);
    let mut http = match builder.handshake(stream).await {
        Ok(http) => http,
        Err(error) => return ending_of(&error),
    };
    let mut ending = Ending::orderly();
    let mut deadline = Instant::now() + IDLE_TIMEOUT;
    loop {
        tokio::select! {
            () = connection.close_wanted() => {
                // GOAWAY with NO_ERROR, then close_notify and FIN.
                http.abrupt_shutdown(Reason::NO_ERROR);
                ending = Ending::noted("closed by command");
            }
            () = sleep_until(deadline) => {
                if !http.has_streams() {
                    http.graceful_shutdown();
                    ending = Ending::noted("idle");
                }
                deadline = Instant::now() + IDLE_TIMEOUT;
            }
            accepted = http.accept() => match accepted {
                Some(Err(error)) if ending == Ending::orderly() => return ending_of(&error),
                None | Some(Err(_)) => return ending,
                Some(Ok((request, respond))) => {
                    deadline = Instant::now() + IDLE_TIMEOUT;
                    spawn_exchange(world, connection, request, respond);
                }
            },
        }
    }
}

fn spawn_exchange(
    world: &Arc<World>,
    connection: &Arc<OpenConnection>,
    request: Request<RecvStream>,
    respond: SendResponse<Bytes>,
) {
    let received_ns = monotonic_ns();
    let in_early_data = connection.in_early_data() == Some(true);
    let (world, connection) = (Arc::clone(world), Arc::clone(connection));
    tokio::spawn(async move {
        let (parts, body) = request.into_parts();
        let Some(body) = read_body(body).await else {
            return;
        };
        let request = HttpRequest {
            head: &Request::from_parts(parts, ()),
            body,
            version: HttpVersion::H2,
            connection: &connection,
            in_early_data,
            received_ns,
        };
        exchange(&world, &request, respond).await;
    });
}

async fn exchange(world: &World, request: &HttpRequest<'_>, mut respond: SendResponse<Bytes>) {
    let reply = reply(world, request).await;
    if reply.is_withheld {
        http_record::write(world, request, reply, false);
        // Until the client gives up or goes.
        let _ = poll_fn(|cx| respond.poll_reset(cx)).await;
        return;
    }
    let head = reply.head.clone();
    let sent = match respond.send_response(head, reply.body.is_empty()) {
        Ok(stream) => {
            reply.body.is_empty() || send_body(stream, reply.body.clone()).await.is_some()
        }
        Err(_) => false,
    };
    http_record::write(world, request, reply, sent);
}

/// The whole body, `None` if the client broke off or sent too much.
async fn read_body(mut body: RecvStream) -> Option<Bytes> {
    if body.is_end_stream() {
        return Some(Bytes::new());
    }
    let mut whole = BytesMut::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.ok()?;
        if whole.len() + chunk.len() > MESSAGE_LIMIT_BYTES {
            return None;
        }
        whole.extend_from_slice(&chunk);
        body.flow_control().release_capacity(chunk.len()).ok()?;
    }
    Some(whole.freeze())
}

/// Send as the client's windows allow, so that the end means what it says.
async fn send_body(mut stream: SendStream<Bytes>, mut body: Bytes) -> Option<()> {
    while !body.is_empty() {
        stream.reserve_capacity(body.len());
        let capacity = poll_fn(|cx| stream.poll_capacity(cx)).await?.ok()?;
        let chunk = body.split_to(capacity.min(body.len()));
        stream.send_data(chunk, body.is_empty()).ok()?;
    }
    Some(())
}

fn ending_of(error: &h2::Error) -> Ending {
    let gone = error.get_io().map(std::io::Error::kind);
    match gone {
        Some(std::io::ErrorKind::UnexpectedEof) => Ending::noted("ended without close_notify"),
        Some(_) => Ending::failed(Failure::Other, error.to_string()),
        None if error.reason() == Some(Reason::NO_ERROR) => Ending::orderly(),
        None => Ending::failed(Failure::HttpProtocol, error.to_string()),
    }
}
