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
    pub fn start(leg: &Arc<DownstreamConnection>) -> Self {
        let (sender, arrived) = mpsc::unbounded_channel();
        let leg = Arc::clone(leg);
        tokio::spawn(async move {
            tokio::select! {
                () = begin_all(&leg, arrived) => (),
                () = leg.load_ended() => (),
            }
        });
        Self(sender)
    }

    pub fn push_now(&self, arrived: IncomingRequest) {
        let _ = self.0.send(arrived);
    }

    #[expect(clippy::unused_async, reason = "hyper's service is a future")]
    pub async fn push(&self, arrived: IncomingRequest) {
        self.push_now(arrived);
    }
}

/// Begins all requests, until the connection is gone and its requests have ended.
async fn begin_all(
    leg: &Arc<DownstreamConnection>,
    mut arrived: mpsc::UnboundedReceiver<IncomingRequest>,
) {
    let mut under_way = JoinSet::new();
    loop {
        tokio::select! {
            next = arrived.recv() => {
                let Some(next) = next else {
                    break;
                };
                leg.count_request();
                if let Some(exchange) = exchange::begin(leg, next).await {
                    under_way.spawn(exchange.run());
                }
            }
            Some(_) = under_way.join_next() => (),
        }
    }
    while under_way.join_next().await.is_some() {}
}
