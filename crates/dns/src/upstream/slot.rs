//! The slot of the kept connection. One query opens the next connection; queries arriving meanwhile
//! wait. Not for: opening, or queries.

use super::connection::SharedConnection;
use super::policy::ConnectionPolicy;
use resolab_record::{ConnectionEnd, Failure};
use resolab_transport::client::MeasuredFailure;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// A slot for one connection after another, until the slot is closed.
#[derive(Default)]
pub(super) struct ConnectionSlot {
    /// The lock held while opening a connection; later queries wait for it.
    turn: tokio::sync::Mutex<()>,
    /// The slot's contents; the lock is never held across an await.
    state: Mutex<State>,
    is_closed: watch::Sender<bool>,
}

/// The right to open a connection.
pub(super) type OpeningPermit<'a> = tokio::sync::MutexGuard<'a, ()>;

/// The contents of a slot.
#[derive(Default)]
pub(super) struct State {
    pub open: Option<Arc<SharedConnection>>,
    /// The end of the previous connection, until its successor is opened.
    pub previous_end: Option<ConnectionEnd>,
}

impl ConnectionSlot {
    /// Waits for the right to look and to open, in order of arrival.
    pub async fn wait_for_turn(&self) -> OpeningPermit<'_> {
        self.turn.lock().await
    }

    /// Returns true while a query holds the right to open.
    pub fn is_taken(&self) -> bool {
        self.turn.try_lock().is_err()
    }

    /// Locks the slot's contents.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a connection, and fails when the slot is closed meanwhile.
    pub async fn run_until_closed<T>(
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

    /// Closes the slot and returns its last connection, if open. Queries opening or waiting fail at
    /// once, so closing does not wait for them.
    pub async fn close(&self) -> Option<Arc<SharedConnection>> {
        self.is_closed.send_replace(true);
        let _turn = self.wait_for_turn().await;
        self.state().open.take()
    }
}

impl State {
    /// Lets go of a connection closed by the resolver, or past its maximum number of queries.
    pub fn retire_unfit(&mut self, policy: &ConnectionPolicy) {
        let Some(open) = &self.open else { return };
        let most = policy.max_queries_count;
        let end = if open.is_closed() {
            ConnectionEnd::PeerClosed
        } else if most.is_some_and(|most| open.asked_count() >= most.get()) {
            ConnectionEnd::QueryLimit
        } else {
            return;
        };
        self.retire(end);
    }

    pub fn retire(&mut self, end: ConnectionEnd) {
        self.open = None;
        self.previous_end = Some(end);
    }

    /// Lets go of a connection idle for `timeout`. Returns the time until the next check.
    pub fn idle_rest(&mut self, timeout: Duration) -> Duration {
        let Some(open) = &self.open else {
            return timeout;
        };
        // Each query on it has a hold on it.
        if Arc::strong_count(open) > 1 {
            return timeout;
        }
        let rest = timeout.saturating_sub(open.quiet_time());
        if !rest.is_zero() {
            return rest;
        }
        self.retire(ConnectionEnd::IdleTimeout);
        timeout
    }
}
