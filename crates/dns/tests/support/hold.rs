//! The answer to `held.*` is written when the client says so, the client is told when it has been
//! written, and the resolver stands still until the client has read it: what is to be before what is
//! sure without looking at a clock. For a resolver with a thread of its own, and a client whose
//! thread blocks meanwhile. Not for: other names.

use super::answers::is_named;
use std::cell::RefCell;
use std::sync::{Arc, mpsc};
use tokio::sync::Notify;

thread_local! {
    /// Of the resolver that runs on this thread.
    static RESOLVERS_END: RefCell<Option<ResolversEnd>> = const { RefCell::new(None) };
}

#[derive(Clone)]
struct ResolversEnd {
    has_come: Arc<Notify>,
    is_wanted: Arc<Notify>,
    written: mpsc::SyncSender<()>,
}

/// What the client knows of the resolver's answer.
pub struct Hold {
    has_come: Arc<Notify>,
    is_wanted: Arc<Notify>,
    written: mpsc::Receiver<()>,
}

impl Hold {
    /// With the resolver that runs on this thread.
    pub fn begin() -> Self {
        let (has_come, is_wanted) = (Arc::<Notify>::default(), Arc::<Notify>::default());
        let (say_written, written) = mpsc::sync_channel(0);
        RESOLVERS_END.set(Some(ResolversEnd {
            has_come: Arc::clone(&has_come),
            is_wanted: Arc::clone(&is_wanted),
            written: say_written,
        }));
        Self {
            has_come,
            is_wanted,
            written,
        }
    }

    /// Waits until the resolver has the query, then has the answer written, which this thread waits for
    /// without doing anything else.
    pub async fn block_until_written(&self) {
        self.has_come.notified().await;
        self.is_wanted.notify_one();
        self.written.recv().unwrap();
    }

    /// The answer is read: the resolver may go on.
    pub fn go_on(&self) {
        self.written.recv().unwrap();
    }
}

fn resolvers_end(message: &[u8]) -> Option<ResolversEnd> {
    is_named(message, "held")
        .then(|| RESOLVERS_END.with_borrow(Clone::clone))
        .flatten()
}

/// Before the answer is written.
pub(super) async fn until_wanted(answer: &[u8]) {
    if let Some(hold) = resolvers_end(answer) {
        hold.has_come.notify_one();
        hold.is_wanted.notified().await;
    }
}

/// After all of it was given to its stream. The thread has tasks of one runtime, which run in the
/// order in which they were woken: the one that sends what the stream was given comes first. Then
/// this thread blocks until [`Hold::go_on`], since QUIC would send the answer's end again before long,
/// and the stamp is of what came last.
pub(super) async fn written(query: &[u8]) {
    if let Some(hold) = resolvers_end(query) {
        tokio::time::sleep(super::PAUSE / 6).await;
        for _ in ["written", "read"] {
            let _ = hold.written.send(());
        }
    }
}
