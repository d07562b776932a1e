//! HTTP/3 towards the browser. Not for: what becomes of requests.

use super::queue::Queue;
use super::{Arrived, Down, HEAD_MAX_BYTES, Leg, Up};
use bytes::Bytes;
use h3::server::RequestResolver;
use quinn::Connection;
use resolab_http::PriorityUpdates;
use resolab_http::quic_streams::{Http3Quic, TakenBackStreams};
use resolab_http::streaming::BodyReader;
use resolab_record::HttpVersion;
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Serve until the connection ends.
pub(super) async fn serve(leg: &Arc<Leg>, quic: &Connection) {
    let mut transport = Http3Quic::server(quic.clone()).with_heads_of_at_most(HEAD_MAX_BYTES);
    let told = Told {
        taken_back: transport.taken_back_streams(),
        priorities: transport.priority_updates(),
    };
    let mut builder = h3::server::builder();
    builder.send_grease(false);
    builder.max_field_section_size(u64::from(HEAD_MAX_BYTES));
    let Ok(mut http) = builder.build::<_, Bytes>(transport).await else {
        return;
    };
    // The transport's limit on streams bounds it.
    let (begun, streams) = mpsc::unbounded_channel();
    let deadline = leg.world.options.deadline;
    let heads = read_heads(streams, told, Queue::start(leg), deadline);
    let accepting = async {
        while let Ok(Some(resolver)) = http.accept().await {
            if begun.send(resolver).is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = heads => (),
        () = accepting => (),
    }
}

/// What the browser says of requests after it sent them.
struct Told {
    taken_back: TakenBackStreams,
    priorities: PriorityUpdates,
}

/// One after the other, so that requests stay in order.
async fn read_heads(
    mut streams: mpsc::UnboundedReceiver<RequestResolver<Http3Quic, Bytes>>,
    told: Told,
    queue: Queue,
    deadline: Duration,
) {
    while let Some(resolver) = streams.recv().await {
        // A stream without a whole head is no request; h3 has reset it.
        let Ok(Ok((head, stream))) = timeout(deadline, resolver.resolve_request()).await else {
            continue;
        };
        let Some(taken_back) = told.taken_back.take(stream.id()) else {
            continue;
        };
        let priority = told.priorities.of(stream.id());
        let (send, receive) = stream.split();
        let body = BodyReader::h3_request(receive, head.headers());
        queue.push_now(Arrived {
            head,
            up: Up::Streamed(Box::new(body)),
            down: Down::H3(Box::new(send), taken_back),
            version: HttpVersion::H3,
            priority: Some(priority),
            received_ns: monotonic_ns(),
        });
    }
}
