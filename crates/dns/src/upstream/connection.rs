//! One upstream connection, held by whoever may give it queries and by each query on it: closed
//! when the last lets go. Not for: when to let go; that is `upstream`.

use crate::client::DnsClient;
use crate::transports::session::Session;
use resolab_transport::client::{MeasuredFailure, SetupLog};
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;

/// An open connection.
pub(super) struct Connection {
    /// `None` once it is being closed.
    session: Option<Arc<Session>>,
    pub setup: Arc<SetupLog>,
    opened_ns: u64,
    asked_count: AtomicU32,
    last_end_ns: AtomicU64,
}

impl Connection {
    /// Open one for a client.
    pub async fn open(client: &DnsClient, setup: Arc<SetupLog>) -> Result<Self, MeasuredFailure> {
        let session = Some(Arc::new(client.open(&setup).await?));
        let opened_ns = monotonic_ns();
        Ok(Self {
            session,
            setup,
            opened_ns,
            asked_count: AtomicU32::new(0),
            last_end_ns: AtomicU64::new(opened_ns),
        })
    }

    /// Whether it takes no more queries.
    pub fn is_closed(&self) -> bool {
        self.session().is_none_or(Session::is_closed)
    }

    /// Whether it was open at an instant.
    pub fn was_open_at(&self, instant_ns: u64) -> bool {
        self.opened_ns <= instant_ns
    }

    /// Queries it was given.
    pub fn asked_count(&self) -> u32 {
        self.asked_count.load(Ordering::Relaxed)
    }

    /// How long ago it was opened or a query on it ended, whichever was last.
    pub fn quiet_for(&self) -> Duration {
        let last_ns = self.last_end_ns.load(Ordering::Relaxed);
        Duration::from_nanos(monotonic_ns().saturating_sub(last_ns))
    }

    /// Count a query in.
    pub fn begin(self: &Arc<Self>) -> InUse {
        self.asked_count.fetch_add(1, Ordering::Relaxed);
        InUse(Arc::clone(self))
    }

    /// Close it now, also under those who use it: what waits fails.
    pub async fn close(self: Arc<Self>) {
        let session = match Arc::try_unwrap(self) {
            Ok(mut connection) => connection.session.take(),
            Err(shared) => shared.session.clone(),
        };
        if let Some(session) = session {
            session.close_shared().await;
        }
    }

    /// What travels on it; `None` once it is being closed.
    pub fn session(&self) -> Option<&Session> {
        self.session.as_deref()
    }
}

impl Drop for Connection {
    /// Closing takes its time, and no answer should wait for it.
    fn drop(&mut self) {
        // Without a runtime everything is ending, and the socket with it.
        if let Some(session) = self.session.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(session.close_shared());
        }
    }
}

/// A query's hold on a connection.
pub(super) struct InUse(Arc<Connection>);

impl InUse {
    pub fn connection(&self) -> &Arc<Connection> {
        &self.0
    }

    pub fn session(&self) -> Option<&Session> {
        self.0.session()
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.last_end_ns.store(monotonic_ns(), Ordering::Relaxed);
    }
}
