//! The document's request, sent in the flight of its name's query on the resolver's connection.
//! `sharing` applies its rule when the name is known (docs/method/coalescing.md). The request is
//! known from an earlier load.
//!
//! Not for: more than one request a load. The first name asked for belongs to the document; all
//! other names are found in the document.

mod fired;

use crate::exchange::SentUpstreamRequest;
use crate::leg::DownstreamConnection;
use crate::names::canonical;
use crate::world::GatewayState;
use fired::SpeculativeRequest;
pub(crate) use fired::coverage_source;
use http::{Method, Request};
use resolab_record::{DiscardedBecause, Speculation};
use resolab_transport::clock::monotonic_ns;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// The maximum length of a remembered head (fields and target), in bytes.
const HEAD_MAX_BYTES: usize = 16_384;

/// The request to send early, and the request sent.
#[derive(Default)]
pub(crate) struct Speculations(Mutex<State>);

#[derive(Default)]
struct State {
    /// The first GET of the latest load, for each name.
    documents: HashMap<String, RememberedDocument>,
    /// The name whose document to request early, until its query comes.
    wanted: Option<String>,
    /// The early request, until the browser's request comes.
    under_way: Option<PendingSpeculation>,
}

struct PendingSpeculation {
    name: String,
    fired: oneshot::Receiver<SpeculativeRequest>,
    /// The task sending the request; ends when dropped.
    sending: JoinSet<()>,
}

struct RememberedDocument {
    load: u64,
    head: Request<()>,
}

impl Speculations {
    /// Remembers a request, when the request is the first for its name in this load.
    pub fn learn(&self, leg: &DownstreamConnection, head: &Request<()>) {
        let is_small = head_bytes(head) <= HEAD_MAX_BYTES;
        if head.method() != Method::GET || !is_small {
            return;
        }
        let mut state = self.state();
        let known = state.documents.get(&*leg.host);
        if known.is_none_or(|known| known.load != leg.load) {
            let document = RememberedDocument {
                load: leg.load,
                head: head.clone(),
            };
            state.documents.insert(leg.host.to_string(), document);
        }
    }

    /// Begins a load, with or without a document to request early.
    pub fn begin_load(&self, wanted: Option<&str>) {
        self.state().wanted = wanted.map(canonical);
    }

    /// Ends the load: stops sending, discards an unclaimed request, and writes its record.
    pub async fn end_load(&self) {
        let under_way = {
            let mut state = self.state();
            state.wanted = None;
            state.under_way.take()
        };
        if let Some(mut under_way) = under_way {
            under_way.sending.shutdown().await;
            if let Ok(fired) = under_way.fired.try_recv() {
                fired.discard(DiscardedBecause::Unclaimed).await;
            }
        }
    }

    /// Sends the early request when the query for the name's address comes. Browsers ask for the
    /// HTTPS record first, but the query for this record does not count. A document requested
    /// before the address may fill the server's first window, so the address would wait for the
    /// next window.
    pub fn on_query(&self, world: &Arc<GatewayState>, name: &str) {
        let mut state = self.state();
        if state.wanted.take_if(|wanted| wanted == name).is_none() {
            return;
        }
        let document = state.documents.get(name);
        let head = document.map(|document| document.head.clone());
        let (told, fired) = oneshot::channel();
        let (world, host, query_ns) = (Arc::clone(world), name.to_owned(), monotonic_ns());
        let mut sending = JoinSet::new();
        sending.spawn(async move {
            let fired = SpeculativeRequest::fire(&world, host, head, query_ns).await;
            if let Err(unclaimed) = told.send(fired) {
                unclaimed.discard(DiscardedBecause::Unclaimed).await;
            }
        });
        state.under_way = Some(PendingSpeculation {
            name: name.to_owned(),
            fired,
            sending,
        });
    }

    /// Returns the outcome of the early request, when the browser's own request comes. Returns the
    /// early request when usable.
    pub async fn claim(
        &self,
        leg: &DownstreamConnection,
        head: &Request<()>,
    ) -> Option<(Speculation, Option<SentUpstreamRequest>)> {
        let mine = {
            let mut state = self.state();
            state.under_way.take_if(|it| *it.name == *leg.host)
        };
        let mut mine = mine?;
        let fired = (&mut mine.fired).await.ok()?;
        Some(fired.judged(&leg.world, head).await)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn head_bytes(head: &Request<()>) -> usize {
    let fields = head.headers().iter();
    let fields_bytes: usize = fields
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum();
    fields_bytes + head.uri().path().len() + head.uri().query().unwrap_or_default().len()
}
