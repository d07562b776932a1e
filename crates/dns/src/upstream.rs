//! One resolver for any number of queries, at the same time or in sequence. The first query opens
//! the connection, and queries arriving meanwhile share the connection. The policy decides how long
//! the connection is kept, or gives each query a separate connection. Not for: the steps of a query
//! (`query`).

mod connection;
mod policy;
mod repeats;
mod several;
mod slot;
mod task;

pub use policy::ConnectionPolicy;
pub use several::MessagePosition;

use crate::client::{DnsClient, ForgetScope};
use crate::connection_use::ConnectionUse;
use crate::query::{PendingQuery, QueryAnswer, QueryOutcome, deadline_failure};
use connection::{ConnectionHold, SharedConnection};
use repeats::{ConnectionLoss, QueryRepeats};
use resolab_http::H3Client;
use resolab_record::{ConnectionEnd, ConnectionState, Failure};
use resolab_transport::client::{MeasuredFailure, SetupLog};
use slot::ConnectionSlot;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use task::ConnectionTask;
use tokio::sync::{Notify, watch};

/// A resolver, and the connection to the resolver.
pub struct Upstream {
    /// The client for opening connections to the resolver.
    pub client: DnsClient,
    policy: ConnectionPolicy,
    /// The slot of the kept connection, replaced when everything is closed.
    slot: Mutex<Arc<ConnectionSlot>>,
    /// The set-up of the latest connection. At the deadline of a waiting query, the log tells the
    /// query's phase.
    latest_setup: Mutex<Arc<SetupLog>>,
    /// Notifies when a query has its connection and is about to be sent.
    found: Notify,
    is_ended: watch::Sender<bool>,
}

/// The steps a query has reached, readable when its deadline passes.
#[derive(Default)]
struct QueryProgress(Mutex<QuerySteps>);

/// The steps since the query's start, or since its last connection ended.
#[derive(Default)]
struct QuerySteps {
    /// The set-up of the connection opened for the query.
    own_setup: Option<Arc<SetupLog>>,
    /// The connection given the query.
    asked_on: Option<Arc<SharedConnection>>,
    /// The end of the connection replaced by the query's connection.
    previous_end: Option<ConnectionEnd>,
}

/// The outcome of a query, and the end of the previous connection when a new connection replaced it
/// for this query.
pub struct UpstreamOutcome<T = QueryAnswer> {
    /// The outcome of the query.
    pub outcome: QueryOutcome<T>,
    /// The end of the previous connection.
    pub previous_end: Option<ConnectionEnd>,
}

impl<T> UpstreamOutcome<T> {
    /// Returns the query's connection state.
    pub(crate) fn connection_use(&self) -> ConnectionUse {
        ConnectionUse {
            setup: Arc::clone(&self.outcome.setup),
            connection: self.outcome.connection,
            is_opener: self.outcome.is_opener,
            previous_end: self.previous_end,
        }
    }
}

impl Upstream {
    /// Makes an upstream without any open connection.
    pub fn new(client: DnsClient, policy: ConnectionPolicy) -> Self {
        Self {
            client,
            policy,
            slot: Mutex::default(),
            latest_setup: Mutex::default(),
            found: Notify::new(),
            is_ended: watch::Sender::new(false),
        }
    }

    /// Asks, on the open connection or a new one.
    pub async fn ask(&self, pending: &PendingQuery<'_>, deadline: Duration) -> UpstreamOutcome {
        self.run_task(pending, deadline).await
    }

    async fn run_task<T: ConnectionTask>(
        &self,
        task: &T,
        deadline: Duration,
    ) -> UpstreamOutcome<T::Output> {
        let progress = QueryProgress::default();
        let mut is_ended = self.is_ended.subscribe();
        let asked = tokio::time::timeout(deadline, self.try_ask(task, &progress));
        let outcome = tokio::select! {
            biased;
            _ = is_ended.wait_for(|is_ended| *is_ended) => {
                self.give_up(task, &progress, |_| self.end_failure())
            }
            asked = asked => asked.unwrap_or_else(|_| {
                self.give_up(task, &progress, |setup| deadline_failure(setup, deadline))
            }),
        };
        let previous_end = progress.steps().previous_end;
        UpstreamOutcome {
            outcome,
            previous_end,
        }
    }

    /// Asks, and repeats on another connection when a connection ends before the answer.
    async fn try_ask<T: ConnectionTask>(
        &self,
        task: &T,
        progress: &QueryProgress,
    ) -> QueryOutcome<T::Output> {
        let mut repeats = QueryRepeats::new(self.policy.takes_first_end);
        loop {
            let (outcome, loss) = self.ask_once(task, progress).await;
            if !loss.is_some_and(|loss| repeats.allow(loss)) {
                return outcome;
            }
            task.restart();
            // A query that is cut off from now on was not asked on it.
            progress.restart();
        }
    }

    async fn ask_once<T: ConnectionTask>(
        &self,
        task: &T,
        progress: &QueryProgress,
    ) -> (QueryOutcome<T::Output>, Option<ConnectionLoss>) {
        let in_use = match self.connection(progress).await {
            Ok(found) => found,
            Err(failure) => return (open_failure(progress, failure), None),
        };
        let connection = in_use.connection();
        progress.steps().asked_on = Some(Arc::clone(connection));
        let connection_use = connection_use(task, progress, connection);
        let result = match in_use.session() {
            Some(session) => task.run(session, &connection_use).await,
            None => Err(MeasuredFailure::new(
                Failure::QueryConnectionClosed,
                "it was closed",
            )),
        };
        if let Err(failure) = &result
            && let Some(end) = choose_connection_end(task, failure)
        {
            self.retire(connection, end);
        }
        let is_lost = is_connection_lost(&result);
        if !is_lost {
            connection.serve();
        }
        let may_be_asked_again = is_lost && self.shares_connections();
        let loss = may_be_asked_again.then(|| in_use.loss(connection_use.connection));
        (
            QueryOutcome::from_result(&connection_use, result),
            loss.flatten(),
        )
    }

    /// Returns true when queries share a connection. A shared connection may end under queries it
    /// was not opened for.
    fn shares_connections(&self) -> bool {
        !self.policy.is_cold && !self.client.is_connectionless()
    }

    /// Returns the kept connection, or opens a new connection.
    async fn connection(
        &self,
        progress: &QueryProgress,
    ) -> Result<ConnectionHold, MeasuredFailure> {
        if !self.shares_connections() {
            let connection = self.new_connection(progress).await?;
            return Ok(Arc::new(connection).begin());
        }
        let slot = self.slot();
        let found = slot.run_until_closed(self.kept_connection(&slot, progress));
        let found = found.await;
        self.found.notify_waiters();
        found
    }

    async fn kept_connection(
        &self,
        slot: &ConnectionSlot,
        progress: &QueryProgress,
    ) -> Result<ConnectionHold, MeasuredFailure> {
        let _turn = slot.wait_for_turn().await;
        {
            let mut kept = slot.state();
            kept.retire_unfit(&self.policy);
            if let Some(open) = &kept.open {
                return Ok(open.begin());
            }
            progress.steps().previous_end = kept.previous_end.take();
        }
        let connection = Arc::new(self.new_connection(progress).await?);
        slot.state().open = Some(Arc::clone(&connection));
        Ok(connection.begin())
    }

    fn slot(&self) -> Arc<ConnectionSlot> {
        let slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&slot)
    }

    async fn new_connection(
        &self,
        progress: &QueryProgress,
    ) -> Result<SharedConnection, MeasuredFailure> {
        let setup = Arc::<SetupLog>::default();
        progress.steps().own_setup = Some(Arc::clone(&setup));
        *self
            .latest_setup
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Arc::clone(&setup);
        SharedConnection::open(&self.client, setup).await
    }

    /// Gives no more queries to a connection; queries waiting on the connection may continue.
    fn retire(&self, connection: &Arc<SharedConnection>, end: ConnectionEnd) {
        let slot = self.slot();
        let mut kept = slot.state();
        if let Some(open) = &kept.open
            && Arc::ptr_eq(open, connection)
        {
            kept.retire(end);
        }
    }

    fn end_failure(&self) -> MeasuredFailure {
        let failure = if self.client.is_connectionless() {
            Failure::Other
        } else {
            Failure::QueryConnectionClosed
        };
        MeasuredFailure::new(failure, "the client ended")
    }

    /// Ends a query after its deadline, or when everything ends. The connection was silent until
    /// the timeout and is not reused.
    fn give_up<T: ConnectionTask>(
        &self,
        task: &T,
        progress: &QueryProgress,
        failure: impl FnOnce(&SetupLog) -> MeasuredFailure,
    ) -> QueryOutcome<T::Output> {
        let asked_on = progress.steps().asked_on.take();
        if let Some(connection) = asked_on {
            self.retire(&connection, ConnectionEnd::AfterFailure);
            let result = Err(failure(&connection.setup));
            return QueryOutcome::from_result(&connection_use(task, progress, &connection), result);
        }
        let own_setup = progress.steps().own_setup.clone();
        let setup = own_setup.unwrap_or_else(|| self.latest_setup());
        open_failure(progress, failure(&setup))
    }

    fn latest_setup(&self) -> Arc<SetupLog> {
        let latest = self.latest_setup.lock();
        Arc::clone(&latest.unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns true when the next query finds a connection, or finds another query opening a
    /// connection. Serves callers preparing a query before its clock starts; lets go of a
    /// connection past the policy's limits.
    pub fn has_connection(&self) -> bool {
        let slot = self.slot();
        let mut kept = slot.state();
        kept.retire_unfit(&self.policy);
        kept.open.is_some() || slot.is_taken()
    }

    /// Returns HTTP/3 on the open connection; `None` before a connection is open, or when the
    /// connection has no HTTP/3. Pages on the connection end with it.
    pub fn http3(&self) -> Option<Arc<H3Client>> {
        let slot = self.slot();
        let kept = slot.state();
        let session = kept.open.as_ref()?.session()?;
        session.http3().map(Arc::clone)
    }

    /// Waits for HTTP/3 on a connection. With early data, returns in time for the flight of the
    /// query that opened the connection.
    pub async fn http3_opened(&self) -> Arc<H3Client> {
        loop {
            let found = self.found.notified();
            if let Some(http3) = self.http3() {
                return http3;
            }
            found.await;
        }
    }

    /// Closes the connection whenever it has been idle for the policy's timeout; never returns.
    pub async fn watch_idle(&self) {
        let Some(timeout) = self.policy.idle_timeout else {
            return std::future::pending().await;
        };
        loop {
            let rest = self.slot().state().idle_rest(timeout);
            tokio::time::sleep(rest).await;
        }
    }

    /// Gives up all pending and all future queries.
    pub fn end(&self) {
        self.is_ended.send_replace(true);
    }

    /// Closes the connection, even while opening. Queries waiting for its opening fail. Queries
    /// that found the connection open are asked again.
    pub async fn close(&self, forgetting: ForgetScope) {
        let before = {
            let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *slot)
        };
        // Before somebody opens the next one, and after the last ticket of the one before.
        self.client.forget(forgetting);
        if let Some(open) = before.close().await {
            open.close().await;
        }
        self.client.forget(forgetting);
    }
}

impl QueryProgress {
    fn steps(&self) -> MutexGuard<'_, QuerySteps> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn restart(&self) {
        *self.steps() = QuerySteps::default();
    }
}

fn connection_use(
    task: &impl ConnectionTask,
    progress: &QueryProgress,
    connection: &SharedConnection,
) -> ConnectionUse {
    ConnectionUse {
        setup: Arc::clone(&connection.setup),
        connection: state_of(connection, task),
        is_opener: is_opener(progress, connection),
        previous_end: progress.steps().previous_end,
    }
}

fn open_failure<T>(progress: &QueryProgress, failure: MeasuredFailure) -> QueryOutcome<T> {
    let own_setup = progress.steps().own_setup.clone();
    QueryOutcome {
        is_opener: own_setup.is_some(),
        setup: own_setup.unwrap_or_default(),
        connection: ConnectionState::Cold,
        result: Err(failure),
    }
}

fn state_of(connection: &SharedConnection, task: &impl ConnectionTask) -> ConnectionState {
    if connection.was_open_at(task.time_origin_ns()) {
        ConnectionState::Warm
    } else {
        ConnectionState::Cold
    }
}

fn is_opener(progress: &QueryProgress, connection: &SharedConnection) -> bool {
    let steps = progress.steps();
    let own_setup = steps.own_setup.as_ref();
    own_setup.is_some_and(|setup| Arc::ptr_eq(setup, &connection.setup))
}

/// Returns the end of a connection after a failed task; `None` when the connection stays usable.
fn choose_connection_end(
    task: &impl ConnectionTask,
    failure: &MeasuredFailure,
) -> Option<ConnectionEnd> {
    if failure.failure == Failure::HttpStatus && task.outlives_http_status() {
        None
    } else if failure.failure == Failure::QueryConnectionClosed {
        Some(ConnectionEnd::PeerClosed)
    } else {
        Some(ConnectionEnd::AfterFailure)
    }
}

fn is_connection_lost<T>(result: &Result<T, MeasuredFailure>) -> bool {
    matches!(result, Err(failure) if failure.failure == Failure::QueryConnectionClosed)
}
