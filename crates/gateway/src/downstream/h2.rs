//! HTTP/2 towards the browser. Not for: the exchange of a request.

use super::queue::RequestQueue;
use super::{DownstreamConnection, IncomingRequest, RequestBody, ResponseSink};
use crate::name_sockets::{CONNECTION_WINDOW_BYTES, STREAM_WINDOW_BYTES, STREAMS_MAX_COUNT};
use h2::Reason;
use http::Request;
use resolab_http::HEAD_MAX_BYTES;
use resolab_http::streaming::BodyReader;
use resolab_record::HttpVersion;
use resolab_transport::clock::monotonic_ns;
use resolab_transport::server::TlsStream;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The maximum number of a response's body bytes waiting for the browser's window.
const SEND_BUFFER_BYTES: usize = 512 * 1_024;

/// The maximum time for sending a close. A browser reading nothing must not delay the next load.
const CLOSE_LEAVES_WITHIN: Duration = Duration::from_secs(1);

/// Serves the connection until the browser or the end of the load ends it.
pub(super) async fn serve(downstream: &Arc<DownstreamConnection>, stream: TlsStream) {
    let mut builder = h2::server::Builder::new();
    builder
        .max_concurrent_streams(STREAMS_MAX_COUNT)
        .initial_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_header_list_size(HEAD_MAX_BYTES)
        .max_send_buffer_size(SEND_BUFFER_BYTES);
    // Browsers keep connections that lost a race, and say nothing on them before they need them.
    let handshake = tokio::select! {
        handshake = builder.handshake(stream) => handshake,
        () = downstream.wait_for_load_end() => return,
    };
    let Ok(mut http) = handshake else {
        return;
    };
    let queue = RequestQueue::start(downstream);
    let mut load_ended = std::pin::pin!(downstream.wait_for_load_end());
    loop {
        let accepted = tokio::select! {
            () = &mut load_ended => {
                // GOAWAY with NO_ERROR, then close_notify and FIN.
                http.abrupt_shutdown(Reason::NO_ERROR);
                let leaving = async { while let Some(Ok(_)) = http.accept().await {} };
                let _ = timeout(CLOSE_LEAVES_WITHIN, leaving).await;
                return;
            }
            accepted = http.accept() => accepted,
        };
        let Some(Ok((request, respond))) = accepted else {
            return;
        };
        let (head, body) = request.into_parts();
        queue.push_now(IncomingRequest {
            head: Request::from_parts(head, ()),
            request_body: RequestBody::Streamed(Box::new(BodyReader::h2(body))),
            response_sink: ResponseSink::H2(respond),
            version: HttpVersion::H2,
            priority: None,
            received_ns: monotonic_ns(),
        });
    }
}
