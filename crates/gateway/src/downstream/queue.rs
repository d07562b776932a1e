//! The requests of one downstream connection. Requests begin one after another, in order of
//! arrival, then run in parallel. Not for: reading the requests.

use super::{DownstreamConnection, IncomingRequest};
use crate::exchange;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The sender of requests. The connection's maximum number of streams limits the queue's length.
pub(super) struct RequestQueue(mpsc::UnboundedSender<IncomingRequest>);

impl RequestQueue {
    /// Starts the queue of a connection. Pending requests end with the load.
    pub fn start(downstream: &Arc<DownstreamConnection>) -> Self {
        let (sender, incoming) = mpsc::unbounded_channel();
        let downstream = Arc::clone(downstream);
        tokio::spawn(async move {
            tokio::select! {
                () = begin_all(&downstream, incoming) => (),
                () = downstream.wait_for_load_end() => (),
            }
        });
        Self(sender)
    }

    pub fn push_now(&self, incoming: IncomingRequest) {
        let _ = self.0.send(incoming);
    }

    #[expect(clippy::unused_async, reason = "hyper's service is a future")]
    pub async fn push(&self, incoming: IncomingRequest) {
        self.push_now(incoming);
    }
}

/// Begins all requests, until the connection is gone and its requests have ended.
async fn begin_all(
    downstream: &Arc<DownstreamConnection>,
    mut incoming: mpsc::UnboundedReceiver<IncomingRequest>,
) {
    let mut exchanges = JoinSet::new();
    loop {
        tokio::select! {
            next = incoming.recv() => {
                let Some(next) = next else {
                    break;
                };
                downstream.count_request();
                if let Some(exchange) = exchange::begin(downstream, next).await {
                    exchanges.spawn(exchange.run());
                }
            }
            Some(_) = exchanges.join_next() => (),
        }
    }
    while exchanges.join_next().await.is_some() {}
}
