//! One upstream connection, shared by the slot and by each query on the connection. Closes when the
//! last holder drops it. Not for: deciding when to let go (`upstream`).

use super::repeats::ConnectionLoss;
use crate::client::DnsClient;
use crate::transports::session::Session;
use resolab_record::ConnectionState;
use resolab_transport::client::{MeasuredFailure, SetupLog};
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;

/// An open connection, with its counters.
pub(super) struct SharedConnection {
    /// The session; `None` while closing.
    session: Option<Arc<Session>>,
    pub setup: Arc<SetupLog>,
    opened_ns: u64,
    asked_count: AtomicU32,
    has_served: AtomicBool,
    /// True when this side ended the connection, including its queries.
    is_ended: AtomicBool,
    last_end_ns: AtomicU64,
}

impl SharedConnection {
    /// Opens a connection for a client.
    pub async fn open(client: &DnsClient, setup: Arc<SetupLog>) -> Result<Self, MeasuredFailure> {
        let session = Some(Arc::new(client.open(&setup).await?));
        let opened_ns = monotonic_ns();
        Ok(Self {
            session,
            setup,
            opened_ns,
            asked_count: AtomicU32::new(0),
            has_served: AtomicBool::new(false),
            is_ended: AtomicBool::new(false),
            last_end_ns: AtomicU64::new(opened_ns),
        })
    }

    /// Returns true when the connection takes no more queries.
    pub fn is_closed(&self) -> bool {
        self.session().is_none_or(Session::is_closed)
    }

    /// Returns true when the connection was open at an instant.
    pub fn was_open_at(&self, instant_ns: u64) -> bool {
        self.opened_ns <= instant_ns
    }

    /// Returns the number of queries given to the connection.
    pub fn asked_count(&self) -> u32 {
        self.asked_count.load(Ordering::Relaxed)
    }

    /// Returns the time since the opening, or since the end of the last query when later.
    pub fn quiet_time(&self) -> Duration {
        let last_ns = self.last_end_ns.load(Ordering::Relaxed);
        Duration::from_nanos(monotonic_ns().saturating_sub(last_ns))
    }

    /// Counts a query in, and returns its hold on the connection.
    pub fn begin(self: &Arc<Self>) -> ConnectionHold {
        ConnectionHold {
            connection: Arc::clone(self),
            index: self.asked_count.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Notes that the resolver answered a query on the connection, with any content.
    pub fn serve(&self) {
        self.has_served.store(true, Ordering::Relaxed);
    }

    /// Closes the connection now, even while in use: waiting queries fail.
    pub async fn close(self: Arc<Self>) {
        self.is_ended.store(true, Ordering::Relaxed);
        let session = match Arc::try_unwrap(self) {
            Ok(mut connection) => connection.session.take(),
            Err(shared) => shared.session.clone(),
        };
        if let Some(session) = session {
            session.close_shared().await;
        }
    }

    /// Returns the session; `None` while closing.
    pub fn session(&self) -> Option<&Session> {
        self.session.as_deref()
    }
}

impl Drop for SharedConnection {
    /// Closes in the background, so no answer waits for the closing.
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
pub(super) struct ConnectionHold {
    connection: Arc<SharedConnection>,
    /// The query's index on the connection.
    index: u32,
}

impl ConnectionHold {
    pub fn connection(&self) -> &Arc<SharedConnection> {
        &self.connection
    }

    pub fn session(&self) -> Option<&Session> {
        self.connection.session()
    }

    /// Returns how the connection ended under the query, found in state `state`. `None` when this
    /// side ended the connection together with the queries waiting for its opening.
    pub fn loss(&self, state: ConnectionState) -> Option<ConnectionLoss> {
        let is_new = state == ConnectionState::Cold;
        if is_new && self.connection.is_ended.load(Ordering::Relaxed) {
            return None;
        }
        let has_served = self.connection.has_served.load(Ordering::Relaxed);
        let ended_alone = self.session().is_some_and(Session::outlives_a_query);
        let is_in_vain = ended_alone || (is_new && self.index == 0 && !has_served);
        Some(if is_in_vain {
            ConnectionLoss::InVain
        } else {
            ConnectionLoss::OfUsed
        })
    }
}

impl Drop for ConnectionHold {
    fn drop(&mut self) {
        let last_end_ns = &self.connection.last_end_ns;
        last_end_ns.store(monotonic_ns(), Ordering::Relaxed);
    }
}
