//! One resolver as many queries ask it, at once or one after the other: one connection, opened by
//! the first, shared by those that come while it is being opened, kept as long as the policy says;
//! or one for each query. Not for: what a query is; that is `asking`.

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

/// A resolver and the connection to it.
pub struct Upstream {
    /// The client that opens connections to it.
    pub client: DnsClient,
    policy: ConnectionPolicy,
    /// Replaced when all is closed.
    place: Mutex<Arc<Place>>,
    /// The set-up of the latest, so that the deadline of a query that waits for it can tell its
    /// phase.
    latest_setup: Mutex<Arc<SetupLog>>,
    /// A query has its connection and is about to be sent.
    found: Notify,
    is_ended: watch::Sender<bool>,
}

/// What a query got to, readable when its deadline cuts it off.
#[derive(Default)]
struct Progress(Mutex<Steps>);

/// Since the query was wanted, or since its last connection ended.
#[derive(Default)]
struct Steps {
    /// Set-up of the connection opened for it.
    own_setup: Option<Arc<SetupLog>>,
    /// The connection it was given to.
    asked_on: Option<Arc<Connection>>,
    /// Of the connection whose place its own took.
    previous_end: Option<ConnectionEnd>,
}

/// What became of a query, and what had become of the connection before it, if a new one took its
/// place for this query.
pub struct Asked<T = Answer> {
    /// Of the query.
    pub outcome: Outcome<T>,
    /// Of the connection before.
    pub previous_end: Option<ConnectionEnd>,
}

impl<T> Asked<T> {
    /// How it stood to its connection.
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
    /// Nothing is opened yet.
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

    /// Ask, on the open connection or a new one.
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

    /// Ask, and again on another connection when one ends before the answer.
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

    /// True where queries share a connection, so that one may end under those it was not opened for.
    fn shares_connections(&self) -> bool {
        !self.policy.is_cold && !self.client.is_connectionless()
    }

    /// The kept connection, or a new one.
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

    /// Give no more queries to a connection; those that wait on it may go on.
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

    /// The deadline passed, or all ends. A connection that is silent that long is not used again.
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

    /// Whether the next query finds a connection, or somebody opening one. For those who prepare a
    /// query before its clock starts: a connection that is not fit any more is let go of here.
    pub fn has_connection(&self) -> bool {
        let place = self.place();
        let mut kept = place.state();
        kept.let_go_of_unfit(&self.policy);
        kept.open.is_some() || place.is_taken()
    }

    /// The open connection, where its queries are requests over HTTP/3 (DoH3); `None` until somebody
    /// has opened one. Pages that travel on it end with it.
    pub fn http3(&self) -> Option<Arc<H3Client>> {
        let place = self.place();
        let kept = place.state();
        let session = kept.open.as_ref()?.session()?;
        session.http3().map(Arc::clone)
    }

    /// The same as soon as there is one: with early data, in time for the flight of the query it was
    /// opened for.
    pub async fn http3_opened(&self) -> Arc<H3Client> {
        loop {
            let found = self.found.notified();
            if let Some(http3) = self.http3() {
                return http3;
            }
            found.await;
        }
    }

    /// Close the connection whenever it has been idle for as long as the policy allows; never
    /// returns.
    pub async fn watch_idle(&self) {
        let Some(timeout) = self.policy.idle_timeout else {
            return std::future::pending().await;
        };
        loop {
            let rest = self.place().state().idle_rest(timeout);
            tokio::time::sleep(rest).await;
        }
    }

    /// Give up all queries, those under way and those to come.
    pub fn end(&self) {
        self.is_ended.send_replace(true);
    }

    /// Close the connection, also one that is being opened. The queries it is or was opened for fail; those
    /// that found it open are asked again.
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

/// What a failed task means for its connection.
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
