//! HTTP/3 towards the browser. Not for: the exchange of a request.

use super::queue::RequestQueue;
use super::{DownstreamConnection, IncomingRequest, RequestBody, ResponseSink};
use bytes::Bytes;
use h3::server::RequestResolver;
use http::header::CONTENT_LENGTH;
use http::{Method, Request};
use quinn::Connection;
use resolab_http::quic_streams::{CancelledStreams, Http3Quic};
use resolab_http::streaming::BodyReader;
use resolab_http::{HEAD_MAX_BYTES, PriorityUpdates};
use resolab_record::HttpVersion;
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Serves the connection until its end.
pub(super) async fn serve(downstream: &Arc<DownstreamConnection>, quic: &Connection) {
    let mut transport = Http3Quic::server(quic.clone()).with_heads_of_at_most(HEAD_MAX_BYTES);
    let later_messages = LaterMessages {
        taken_back: transport.taken_back_streams(),
        priorities: transport.priority_updates(),
    };
    let mut builder = h3::server::builder();
    builder.send_grease(false);
    builder.max_field_section_size(u64::from(HEAD_MAX_BYTES));
    let Ok(mut http) = builder.build::<_, Bytes>(transport).await else {
        return;
    };
    let reading = Arc::new(HeadReader {
        later_messages,
        queue: RequestQueue::start(downstream),
        deadline: downstream.gateway_state.options.deadline,
    });
    // The transport's limit on streams bounds it. Ends with the downstream connection.
    let mut heads = JoinSet::new();
    while let Ok(Some(resolver)) = http.accept().await {
        heads.spawn(Arc::clone(&reading).read_head(resolver));
        while heads.try_join_next().is_some() {}
    }
}

/// The browser's later messages about its requests: cancellations and priority updates.
struct LaterMessages {
    taken_back: CancelledStreams,
    priorities: PriorityUpdates,
}

/// Reads each request's head while its packets arrive. A stalled head delays no other request, and
/// requests leave in the order of their complete heads.
struct HeadReader {
    later_messages: LaterMessages,
    queue: RequestQueue,
    deadline: Duration,
}

impl HeadReader {
    async fn read_head(self: Arc<Self>, resolver: RequestResolver<Http3Quic, Bytes>) {
        // A stream without a whole head is no request; h3 has reset it.
        let read = timeout(self.deadline, resolver.resolve_request()).await;
        let Ok(Ok((head, stream))) = read else {
            return;
        };
        let Some(taken_back) = self.later_messages.taken_back.take(stream.id()) else {
            return;
        };
        let received_ns = monotonic_ns();
        let priority = self.later_messages.priorities.subscribe(stream.id());
        let (send, receive) = stream.split();
        let mut body = BodyReader::h3_request(receive, head.headers());
        if is_without_body(&head) {
            // Its end may come in a packet behind it.
            let _ = timeout(self.deadline, body.has_begun()).await;
        }
        self.queue.push_now(IncomingRequest {
            head,
            request_body: RequestBody::Streamed(Box::new(body)),
            response_sink: ResponseSink::H3(Box::new(send), taken_back),
            version: HttpVersion::H3,
            priority: Some(priority),
            received_ns,
        });
    }
}

/// Returns true when no body is expected: methods without a body by definition (RFC 9110 section
/// 9.3).
fn is_without_body(head: &Request<()>) -> bool {
    let method = head.method();
    let is_told = head.headers().contains_key(CONTENT_LENGTH);
    !is_told && [Method::GET, Method::HEAD, Method::OPTIONS].contains(method)
}
