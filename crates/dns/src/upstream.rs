//! One resolver for any number of queries, at the same time or in sequence. The first query opens
//! the connection, and queries arriving meanwhile share the connection. The policy decides how long
//! the connection is kept, or gives each query a separate connection. Not for: the steps of a query
//! (`asking`).

mod connection;
mod place;
mod policy;
mod repeats;
mod several;
mod task;

pub use policy::ConnectionPolicy;
pub use several::MessagePosition;

use crate::asking::{Answer, Asking, Outcome, cut_off};
use crate::client::{DnsClient, Forgetting};
use crate::standing::Standing;
use connection::{Connection, InUse};
use place::Place;
use repeats::{Loss, Repeats};
use resolab_http::H3Client;
use resolab_record::{ConnectionEnd, ConnectionState, Failure};
use resolab_transport::client::{MeasuredFailure, SetupLog};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use task::Task;
use tokio::sync::{Notify, watch};

/// A resolver, and the connection to the resolver.
pub struct Upstream {
    /// The client for opening connections to the resolver.
    pub client: DnsClient,
    policy: ConnectionPolicy,
    /// The slot of the kept connection, replaced when everything is closed.
    place: Mutex<Arc<Place>>,
    /// The set-up of the latest connection. At the deadline of a waiting query, the log tells the
    /// query's phase.
    latest_setup: Mutex<Arc<SetupLog>>,
    /// Notifies when a query has its connection and is about to be sent.
    found: Notify,
    is_ended: watch::Sender<bool>,
}

/// The steps a query has reached, readable when its deadline passes.
#[derive(Default)]
struct Progress(Mutex<Steps>);

/// The steps since the query's start, or since its last connection ended.
#[derive(Default)]
struct Steps {
    /// The set-up of the connection opened for the query.
    own_setup: Option<Arc<SetupLog>>,
    /// The connection given the query.
    asked_on: Option<Arc<Connection>>,
    /// The end of the connection replaced by the query's connection.
    previous_end: Option<ConnectionEnd>,
}

/// The outcome of a query, and the end of the previous connection when a new connection replaced it
/// for this query.
pub struct Asked<T = Answer> {
    /// The outcome of the query.
    pub outcome: Outcome<T>,
    /// The end of the previous connection.
    pub previous_end: Option<ConnectionEnd>,
}

impl<T> Asked<T> {
    /// Returns the query's connection state.
    pub(crate) fn standing(&self) -> Standing {
        Standing {
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
            place: Mutex::default(),
            latest_setup: Mutex::default(),
            found: Notify::new(),
            is_ended: watch::Sender::new(false),
        }
    }

    /// Asks, on the open connection or a new one.
    pub async fn ask(&self, asking: &Asking<'_>, deadline: Duration) -> Asked {
        self.ask_by(asking, deadline).await
    }

    async fn ask_by<T: Task>(&self, task: &T, deadline: Duration) -> Asked<T::Done> {
        let progress = Progress::default();
        let mut is_ended = self.is_ended.subscribe();
        let asked = tokio::time::timeout(deadline, self.try_ask(task, &progress));
        let outcome = tokio::select! {
            biased;
            _ = is_ended.wait_for(|is_ended| *is_ended) => {
                self.given_up(task, &progress, |_| self.ended())
            }
            asked = asked => asked.unwrap_or_else(|_| {
                self.given_up(task, &progress, |setup| cut_off(setup, deadline))
            }),
        };
        let previous_end = progress.steps().previous_end;
        Asked {
            outcome,
            previous_end,
        }
    }

    /// Asks, and repeats on another connection when a connection ends before the answer.
    async fn try_ask<T: Task>(&self, task: &T, progress: &Progress) -> Outcome<T::Done> {
        let mut repeats = Repeats::new(self.policy.takes_first_end);
        loop {
            let (outcome, loss) = self.ask_once(task, progress).await;
            if !loss.is_some_and(|loss| repeats.allow(loss)) {
                return outcome;
            }
            task.begin_anew();
            // A query that is cut off from now on was not asked on it.
            progress.begin_anew();
        }
    }

    async fn ask_once<T: Task>(
        &self,
        task: &T,
        progress: &Progress,
    ) -> (Outcome<T::Done>, Option<Loss>) {
        let in_use = match self.connection(progress).await {
            Ok(found) => found,
            Err(failure) => return (not_opened(progress, failure), None),
        };
        let connection = in_use.connection();
        progress.steps().asked_on = Some(Arc::clone(connection));
        let standing = standing(task, progress, connection);
        let result = match in_use.session() {
            Some(session) => task.run(session, &standing).await,
            None => Err(MeasuredFailure::new(
                Failure::QueryConnectionClosed,
                "it was closed",
            )),
        };
        if let Err(failure) = &result
            && let Some(end) = end_by(task, failure)
        {
            self.let_go(connection, end);
        }
        let is_lost = lost_connection(&result);
        if !is_lost {
            connection.serve();
        }
        let may_be_asked_again = is_lost && self.shares_connections();
        let loss = may_be_asked_again.then(|| in_use.loss(standing.connection));
        (Outcome::on(&standing, result), loss.flatten())
    }

    /// Returns true when queries share a connection. A shared connection may end under queries it
    /// was not opened for.
    fn shares_connections(&self) -> bool {
        !self.policy.is_cold && !self.client.is_connectionless()
    }

    /// Returns the kept connection, or opens a new connection.
    async fn connection(&self, progress: &Progress) -> Result<InUse, MeasuredFailure> {
        if !self.shares_connections() {
            let connection = self.new_connection(progress).await?;
            return Ok(Arc::new(connection).begin());
        }
        let place = self.place();
        let found = place.unless_closed(self.kept_connection(&place, progress));
        let found = found.await;
        self.found.notify_waiters();
        found
    }

    async fn kept_connection(
        &self,
        place: &Place,
        progress: &Progress,
    ) -> Result<InUse, MeasuredFailure> {
        let _turn = place.turn().await;
        {
            let mut kept = place.state();
            kept.let_go_of_unfit(&self.policy);
            if let Some(open) = &kept.open {
                return Ok(open.begin());
            }
            progress.steps().previous_end = kept.previous_end.take();
        }
        let connection = Arc::new(self.new_connection(progress).await?);
        place.state().open = Some(Arc::clone(&connection));
        Ok(connection.begin())
    }

    fn place(&self) -> Arc<Place> {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&place)
    }

    async fn new_connection(&self, progress: &Progress) -> Result<Connection, MeasuredFailure> {
        let setup = Arc::<SetupLog>::default();
        progress.steps().own_setup = Some(Arc::clone(&setup));
        *self
            .latest_setup
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Arc::clone(&setup);
        Connection::open(&self.client, setup).await
    }

    /// Gives no more queries to a connection; queries waiting on the connection may continue.
    fn let_go(&self, connection: &Arc<Connection>, end: ConnectionEnd) {
        let place = self.place();
        let mut kept = place.state();
        if let Some(open) = &kept.open
            && Arc::ptr_eq(open, connection)
        {
            kept.let_go(end);
        }
    }

    fn ended(&self) -> MeasuredFailure {
        let failure = if self.client.is_connectionless() {
            Failure::Other
        } else {
            Failure::QueryConnectionClosed
        };
        MeasuredFailure::new(failure, "the client ended")
    }

    /// Ends a query after its deadline, or when everything ends. The connection was silent until
    /// the timeout and is not reused.
    fn given_up<T: Task>(
        &self,
        task: &T,
        progress: &Progress,
        failure: impl FnOnce(&SetupLog) -> MeasuredFailure,
    ) -> Outcome<T::Done> {
        let asked_on = progress.steps().asked_on.take();
        if let Some(connection) = asked_on {
            self.let_go(&connection, ConnectionEnd::AfterFailure);
            let result = Err(failure(&connection.setup));
            return Outcome::on(&standing(task, progress, &connection), result);
        }
        let own_setup = progress.steps().own_setup.clone();
        let setup = own_setup.unwrap_or_else(|| self.latest_setup());
        not_opened(progress, failure(&setup))
    }

    fn latest_setup(&self) -> Arc<SetupLog> {
        let latest = self.latest_setup.lock();
        Arc::clone(&latest.unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns true when the next query finds a connection, or finds another query opening a
    /// connection. Serves callers preparing a query before its clock starts; lets go of a
    /// connection past the policy's limits.
    pub fn has_connection(&self) -> bool {
        let place = self.place();
        let mut kept = place.state();
        kept.let_go_of_unfit(&self.policy);
        kept.open.is_some() || place.is_taken()
    }

    /// Returns HTTP/3 on the open connection; `None` before a connection is open, or when the
    /// connection has no HTTP/3. Pages on the connection end with it.
    pub fn http3(&self) -> Option<Arc<H3Client>> {
        let place = self.place();
        let kept = place.state();
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
            let rest = self.place().state().idle_rest(timeout);
            tokio::time::sleep(rest).await;
        }
    }

    /// Gives up all pending and all future queries.
    pub fn end(&self) {
        self.is_ended.send_replace(true);
    }

    /// Closes the connection, even while opening. Queries waiting for its opening fail. Queries
    /// that found the connection open are asked again.
    pub async fn close(&self, forgetting: Forgetting) {
        let before = {
            let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *place)
        };
        // Before somebody opens the next one, and after the last ticket of the one before.
        self.client.forget(forgetting);
        if let Some(open) = before.close().await {
            open.close().await;
        }
        self.client.forget(forgetting);
    }
}

impl Progress {
    fn steps(&self) -> MutexGuard<'_, Steps> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_anew(&self) {
        *self.steps() = Steps::default();
    }
}

fn standing(task: &impl Task, progress: &Progress, connection: &Connection) -> Standing {
    Standing {
        setup: Arc::clone(&connection.setup),
        connection: state_of(connection, task),
        is_opener: is_opener(progress, connection),
        previous_end: progress.steps().previous_end,
    }
}

fn not_opened<T>(progress: &Progress, failure: MeasuredFailure) -> Outcome<T> {
    let own_setup = progress.steps().own_setup.clone();
    Outcome {
        is_opener: own_setup.is_some(),
        setup: own_setup.unwrap_or_default(),
        connection: ConnectionState::Cold,
        result: Err(failure),
    }
}

fn state_of(connection: &Connection, task: &impl Task) -> ConnectionState {
    if connection.was_open_at(task.time_origin_ns()) {
        ConnectionState::Warm
    } else {
        ConnectionState::Cold
    }
}

fn is_opener(progress: &Progress, connection: &Connection) -> bool {
    let steps = progress.steps();
    let own_setup = steps.own_setup.as_ref();
    own_setup.is_some_and(|setup| Arc::ptr_eq(setup, &connection.setup))
}

/// Returns the end of a connection after a failed task; `None` when the connection stays usable.
fn end_by(task: &impl Task, failure: &MeasuredFailure) -> Option<ConnectionEnd> {
    if failure.failure == Failure::HttpStatus && task.outlives_http_status() {
        None
    } else if failure.failure == Failure::QueryConnectionClosed {
        Some(ConnectionEnd::PeerClosed)
    } else {
        Some(ConnectionEnd::AfterFailure)
    }
}

fn lost_connection<T>(result: &Result<T, MeasuredFailure>) -> bool {
    matches!(result, Err(failure) if failure.failure == Failure::QueryConnectionClosed)
}
