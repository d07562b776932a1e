//! Where the connection that is kept stands, and who opens the next: one query does, and those that
//! come meanwhile wait for it. Not for: opening; nor for queries.

use super::connection::Connection;
use super::policy::ConnectionPolicy;
use resolab_record::{ConnectionEnd, Failure};
use resolab_transport::client::MeasuredFailure;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// The place of one connection after the other, until it is closed.
#[derive(Default)]
pub(super) struct Place {
    /// Held while a connection is being opened: whoever comes then waits for it.
    turn: tokio::sync::Mutex<()>,
    /// Never held across an await.
    state: Mutex<State>,
    is_closed: watch::Sender<bool>,
}

/// Its holder may open a connection.
pub(super) type Turn<'a> = tokio::sync::MutexGuard<'a, ()>;

/// What stands there.
#[derive(Default)]
pub(super) struct State {
    pub open: Option<Arc<Connection>>,
    /// What became of the one before, until its successor is opened.
    pub previous_end: Option<ConnectionEnd>,
}

impl Place {
    /// The turn to look and to open, after those who came before.
    pub async fn turn(&self) -> Turn<'_> {
        self.turn.lock().await
    }

    /// True while somebody has the turn.
    pub fn is_taken(&self) -> bool {
        self.turn.try_lock().is_err()
    }

    /// The connection that stands there now.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Find or open a connection here, unless the place is closed meanwhile.
    pub async fn unless_closed<T>(
        &self,
        found: impl Future<Output = Result<T, MeasuredFailure>>,
    ) -> Result<T, MeasuredFailure> {
        let mut is_closed = self.is_closed.subscribe();
        let closed = async { drop(is_closed.wait_for(|is_closed| *is_closed).await) };
        tokio::select! {
            biased;
            () = closed => Err(MeasuredFailure::new(
                Failure::QueryConnectionClosed,
                "it was closed while it was being opened",
            )),
            found = found => found,
        }
    }

    /// No more connections here; the last one, if it is open. Whoever is opening one or waiting for
    /// that is told, so that this need not wait for them.
    pub async fn close(&self) -> Option<Arc<Connection>> {
        self.is_closed.send_replace(true);
        let _turn = self.turn().await;
        self.state().open.take()
    }
}

impl State {
    /// A connection that the resolver closed or that had its share of queries is not used.
    pub fn let_go_of_unfit(&mut self, policy: &ConnectionPolicy) {
        let Some(open) = &self.open else { return };
        let most = policy.max_queries_count;
        let end = if open.is_closed() {
            ConnectionEnd::PeerClosed
        } else if most.is_some_and(|most| open.asked_count() >= most.get()) {
            ConnectionEnd::QueryLimit
        } else {
            return;
        };
        self.let_go(end);
    }

    pub fn let_go(&mut self, end: ConnectionEnd) {
        self.open = None;
        self.previous_end = Some(end);
    }

    /// Let go of a connection that was idle long enough; how long until there may be one.
    pub fn idle_rest(&mut self, timeout: Duration) -> Duration {
        let Some(open) = &self.open else {
            return timeout;
        };
        // Each query on it has a hold on it.
        if Arc::strong_count(open) > 1 {
            return timeout;
        }
        let rest = timeout.saturating_sub(open.quiet_for());
        if !rest.is_zero() {
            return rest;
        }
        self.let_go(ConnectionEnd::IdleTimeout);
        timeout
    }
}
