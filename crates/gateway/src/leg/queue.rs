//! The requests of one leg on their way upstream: begun one after the other, in the order in which
//! they came, then each on its own. Not for: reading them.

use super::{Arrived, Leg};
use crate::exchange;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The way in. How many wait is bounded by the streams a leg may have at once.
pub(super) struct Queue(mpsc::UnboundedSender<Arrived>);

impl Queue {
    /// For a leg's requests; what is under way ends with the load.
    pub fn start(leg: &Arc<Leg>) -> Self {
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

    pub fn push_now(&self, arrived: Arrived) {
        let _ = self.0.send(arrived);
    }

    #[expect(clippy::unused_async, reason = "hyper's service is a future")]
    pub async fn push(&self, arrived: Arrived) {
        self.push_now(arrived);
    }
}

/// Until the leg is gone and what came on it has ended.
async fn begin_all(leg: &Arc<Leg>, mut arrived: mpsc::UnboundedReceiver<Arrived>) {
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
