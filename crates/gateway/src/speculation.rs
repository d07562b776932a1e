//! The document's request, sent in the flight of its name's query on the resolver's connection.
//! `sharing` applies its rule when the name is known (docs/method/coalescing.md). The request is
//! known from an earlier load.
//!
//! Not for: more than one request a load. The first name asked for belongs to the document; all
//! other names are found in the document.

mod speculative_request;

use crate::downstream::DownstreamConnection;
use crate::exchange::SentUpstreamRequest;
use crate::gateway_state::GatewayState;
use crate::names::canonical;
use http::{Method, Request};
use resolab_record::{DiscardedBecause, Speculation};
use resolab_transport::clock::monotonic_ns;
use speculative_request::SpeculativeRequest;
pub(crate) use speculative_request::coverage_source;
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
    pending: Option<PendingSpeculation>,
}

struct PendingSpeculation {
    name: String,
    speculative: oneshot::Receiver<SpeculativeRequest>,
    /// The task sending the request; ends when dropped.
    sending: JoinSet<()>,
}

struct RememberedDocument {
    load: u64,
    head: Request<()>,
}

impl Speculations {
    /// Remembers a request, when the request is the first for its name in this load.
    pub fn learn(&self, downstream: &DownstreamConnection, head: &Request<()>) {
        let is_small = head_bytes(head) <= HEAD_MAX_BYTES;
        if head.method() != Method::GET || !is_small {
            return;
        }
        let mut state = self.state();
        let known = state.documents.get(&*downstream.host);
        if known.is_none_or(|known| known.load != downstream.load) {
            let document = RememberedDocument {
                load: downstream.load,
                head: head.clone(),
            };
            state
                .documents
                .insert(downstream.host.to_string(), document);
        }
    }

    /// Begins a load, with or without a document to request early.
    pub fn begin_load(&self, wanted: Option<&str>) {
        self.state().wanted = wanted.map(canonical);
    }

    /// Ends the load: stops sending, discards an unclaimed request, and writes its record.
    pub async fn end_load(&self) {
        let pending = {
            let mut state = self.state();
            state.wanted = None;
            state.pending.take()
        };
        if let Some(mut pending) = pending {
            pending.sending.shutdown().await;
            if let Ok(speculative) = pending.speculative.try_recv() {
                speculative.discard(DiscardedBecause::Unclaimed).await;
            }
        }
    }

    /// Sends the early request when the query for the name's address comes. Browsers ask for the
    /// HTTPS record first, but the query for this record does not count. A document requested
    /// before the address may fill the server's first window, so the address would wait for the
    /// next window.
    pub fn note_query(&self, gateway_state: &Arc<GatewayState>, name: &str) {
        let mut state = self.state();
        if state.wanted.take_if(|wanted| wanted == name).is_none() {
            return;
        }
        let document = state.documents.get(name);
        let head = document.map(|document| document.head.clone());
        let (sender, speculative) = oneshot::channel();
        let (gateway_state, host, query_ns) =
            (Arc::clone(gateway_state), name.to_owned(), monotonic_ns());
        let mut sending = JoinSet::new();
        sending.spawn(async move {
            let speculative =
                SpeculativeRequest::send_allowed(&gateway_state, host, head, query_ns).await;
            if let Err(unclaimed) = sender.send(speculative) {
                unclaimed.discard(DiscardedBecause::Unclaimed).await;
            }
        });
        state.pending = Some(PendingSpeculation {
            name: name.to_owned(),
            speculative,
            sending,
        });
    }

    /// Returns the outcome of the early request, when the browser's own request comes. Returns the
    /// early request when usable.
    pub async fn claim(
        &self,
        downstream: &DownstreamConnection,
        head: &Request<()>,
    ) -> Option<(Speculation, Option<SentUpstreamRequest>)> {
        let mine = {
            let mut state = self.state();
            state
                .pending
                .take_if(|pending| *pending.name == *downstream.host)
        };
        let mut mine = mine?;
        let speculative = (&mut mine.speculative).await.ok()?;
        Some(speculative.judge(&downstream.gateway_state, head).await)
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
