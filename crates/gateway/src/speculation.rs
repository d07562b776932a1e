//! The document's request sent in the flight of its name's query, on the resolver's connection (the
//! rule is `sharing`'s, once the name is known; docs/method/coalescing.md). What the request is, a
//! load before has shown.
//!
//! Not for: more than one request a load: whose name is asked for first is a document's, all others
//! are discovered in it.

mod fired;

use crate::exchange::Sent;
use crate::leg::Leg;
use crate::names::canonical;
use crate::world::World;
use fired::Fired;
pub(crate) use fired::coverage_source;
use http::{Method, Request};
use resolab_record::{DiscardedBecause, Speculation};
use resolab_transport::clock::monotonic_ns;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// Longest head that is remembered, of fields and target.
const HEAD_MAX_BYTES: usize = 16_384;

/// What is to be sent early, and what was.
#[derive(Default)]
pub(crate) struct Speculations(Mutex<State>);

#[derive(Default)]
struct State {
    /// The first GET of the latest load for each name.
    documents: HashMap<String, Document>,
    /// The name to send for, until its query comes.
    wanted: Option<String>,
    /// What is sent for a name, until its request comes.
    under_way: Option<UnderWay>,
}

struct UnderWay {
    name: String,
    fired: oneshot::Receiver<Fired>,
    /// Sends it; ends with this.
    sending: JoinSet<()>,
}

struct Document {
    load: u64,
    head: Request<()>,
}

impl Speculations {
    /// A request came, which may be the first for its name in this load.
    pub fn learn(&self, leg: &Leg, head: &Request<()>) {
        let is_small = head_bytes(head) <= HEAD_MAX_BYTES;
        if head.method() != Method::GET || !is_small {
            return;
        }
        let mut state = self.state();
        let known = state.documents.get(&*leg.host);
        if known.is_none_or(|known| known.load != leg.load) {
            let document = Document {
                load: leg.load,
                head: head.clone(),
            };
            state.documents.insert(leg.host.to_string(), document);
        }
    }

    /// A load begins, for whose document a request is to be sent early or not.
    pub fn begin_load(&self, wanted: Option<&str>) {
        self.state().wanted = wanted.map(canonical);
    }

    /// The load is over: nothing is sent for it any more, what nobody came for is let go, and its record is
    /// written.
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

    /// A name's address is asked for. Not its HTTPS record, which browsers ask for first: a document
    /// asked for before the address may fill the server's first window, and the address then waits
    /// for the next.
    pub fn on_query(&self, world: &Arc<World>, name: &str) {
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
            let fired = Fired::fire(&world, host, head, query_ns).await;
            if let Err(unclaimed) = told.send(fired) {
                unclaimed.discard(DiscardedBecause::Unclaimed).await;
            }
        });
        state.under_way = Some(UnderWay {
            name: name.to_owned(),
            fired,
            sending,
        });
    }

    /// The browser's own request came: what was sent early for it, if that is good for it, and what
    /// became of it.
    pub async fn claim(
        &self,
        leg: &Leg,
        head: &Request<()>,
    ) -> Option<(Speculation, Option<Sent>)> {
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
