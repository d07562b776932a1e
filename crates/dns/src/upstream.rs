//! One resolver as many queries ask it, at once or one after the other: one connection, opened by
//! the first, shared by those that come while it is being opened, kept as long as the policy says;
//! or one for each query. Not for: what a query is; that is `asking`.

mod connection;
mod place;
mod policy;
mod several;
mod task;

pub use policy::ConnectionPolicy;
pub use several::MessagePosition;

use crate::asking::{Answer, Asking, Outcome, cut_off};
use crate::client::DnsClient;
use crate::standing::Standing;
use connection::{Connection, InUse};
use place::{Kept, Place};
use resolab_http::H3Client;
use resolab_record::{ConnectionEnd, ConnectionState, Failure};
use resolab_transport::client::{MeasuredFailure, SetupLog};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use task::Task;
use tokio::sync::Notify;

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
}

/// What a query got to, readable when its deadline cuts it off.
#[derive(Default)]
struct Progress {
    /// Set-up of the connection opened for it.
    own_setup: OnceLock<Arc<SetupLog>>,
    /// The connection it was given to last.
    asked_on: Mutex<Option<Arc<Connection>>>,
    previous_end: OnceLock<ConnectionEnd>,
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
        }
    }

    /// Ask, on the open connection or a new one.
    pub async fn ask(&self, asking: &Asking<'_>, deadline: Duration) -> Asked {
        self.ask_by(asking, deadline).await
    }

    async fn ask_by<T: Task>(&self, task: &T, deadline: Duration) -> Asked<T::Done> {
        let progress = Progress::default();
        let asked = tokio::time::timeout(deadline, self.try_ask(task, &progress)).await;
        let outcome = match asked {
            Ok(outcome) => outcome,
            Err(_) => self.given_up(task, &progress, deadline),
        };
        let previous_end = progress.previous_end.get().copied();
        Asked {
            outcome,
            previous_end,
        }
    }

    async fn try_ask<T: Task>(&self, task: &T, progress: &Progress) -> Outcome<T::Done> {
        let outcome = self.ask_once(task, progress).await;
        // A connection the resolver closed while it was idle is found out by the next query only.
        let was_stale = outcome.connection == ConnectionState::Warm
            && lost_connection(&outcome.result)
            && task.may_begin_anew();
        if was_stale {
            task.begin_anew();
            // What is cut off from now on was not asked on it.
            progress.asked_on().take();
            self.ask_once(task, progress).await
        } else {
            outcome
        }
    }

    async fn ask_once<T: Task>(&self, task: &T, progress: &Progress) -> Outcome<T::Done> {
        let in_use = match self.connection(progress).await {
            Ok(found) => found,
            Err(failure) => return not_opened(progress, failure),
        };
        let connection = in_use.connection();
        *progress.asked_on() = Some(Arc::clone(connection));
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
        Outcome::on(&standing, result)
    }

    /// The kept connection, or a new one.
    async fn connection(&self, progress: &Progress) -> Result<InUse, MeasuredFailure> {
        if self.policy.is_cold || self.client.is_connectionless() {
            let connection = self.new_connection(progress).await?;
            return Ok(Arc::new(connection).begin());
        }
        let place = self.place();
        let found = async { self.kept_connection(place.lock().await, progress).await };
        let found = place.unless_closed(found).await;
        self.found.notify_waiters();
        found
    }

    async fn kept_connection(
        &self,
        mut kept: Kept<'_>,
        progress: &Progress,
    ) -> Result<InUse, MeasuredFailure> {
        kept.let_go_of_unfit(&self.policy);
        if let Some(open) = &kept.open {
            return Ok(open.begin());
        }
        if let Some(end) = kept.previous_end.take() {
            let _ = progress.previous_end.set(end);
        }
        let connection = Arc::new(self.new_connection(progress).await?);
        kept.open = Some(Arc::clone(&connection));
        Ok(connection.begin())
    }

    fn place(&self) -> Arc<Place> {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&place)
    }

    async fn new_connection(&self, progress: &Progress) -> Result<Connection, MeasuredFailure> {
        let setup = Arc::<SetupLog>::default();
        let _ = progress.own_setup.set(Arc::clone(&setup));
        *self
            .latest_setup
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Arc::clone(&setup);
        Connection::open(&self.client, setup).await
    }

    /// Give no more queries to a connection; those that wait on it may go on. Locked means that
    /// somebody is opening another just now.
    fn let_go(&self, connection: &Arc<Connection>, end: ConnectionEnd) {
        if let Some(mut kept) = self.place().try_lock()
            && let Some(open) = &kept.open
            && Arc::ptr_eq(open, connection)
        {
            kept.let_go(end);
        }
    }

    /// The deadline passed. A connection that is silent that long is not used again.
    fn given_up<T: Task>(
        &self,
        task: &T,
        progress: &Progress,
        deadline: Duration,
    ) -> Outcome<T::Done> {
        if let Some(connection) = progress.asked_on().take() {
            self.let_go(&connection, ConnectionEnd::AfterFailure);
            let result = Err(cut_off(&connection.setup, deadline));
            return Outcome::on(&standing(task, progress, &connection), result);
        }
        let own_setup = progress.own_setup.get().map(Arc::clone);
        let setup = own_setup.unwrap_or_else(|| self.latest_setup());
        not_opened(progress, cut_off(&setup, deadline))
    }

    fn latest_setup(&self) -> Arc<SetupLog> {
        let latest = self.latest_setup.lock();
        Arc::clone(&latest.unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the next query finds a connection, or somebody opening one. For those who prepare a
    /// query before its clock starts: a connection that is not fit any more is let go of here.
    pub fn has_connection(&self) -> bool {
        let place = self.place();
        let Some(mut kept) = place.try_lock() else {
            return true;
        };
        kept.let_go_of_unfit(&self.policy);
        kept.open.is_some()
    }

    /// The open connection, where its queries are requests over HTTP/3 (DoH3); `None` while somebody
    /// is opening one. What else travels on it ends with it.
    pub fn http3(&self) -> Option<Arc<H3Client>> {
        let place = self.place();
        let kept = place.try_lock()?;
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
            let rest = self.place().lock().await.idle_rest(timeout);
            tokio::time::sleep(rest).await;
        }
    }

    /// Close the connection, also one that is being opened, whose queries fail. With
    /// `forgets_all` the next one is opened and asked as the first was: without tickets, and without
    /// round trips learnt.
    pub async fn close(&self, forgets_all: bool) {
        let before = {
            let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *place)
        };
        // Before somebody opens the next one, and after the last ticket of the one before.
        self.forget_if(forgets_all);
        if let Some(open) = before.close().await {
            open.close().await;
        }
        self.forget_if(forgets_all);
    }

    fn forget_if(&self, forgets_all: bool) {
        if forgets_all {
            self.client.forget();
        }
    }
}

impl Progress {
    fn asked_on(&self) -> MutexGuard<'_, Option<Arc<Connection>>> {
        self.asked_on.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn standing(task: &impl Task, progress: &Progress, connection: &Connection) -> Standing {
    Standing {
        setup: Arc::clone(&connection.setup),
        connection: state_of(connection, task),
        is_opener: is_opener(progress, connection),
        previous_end: progress.previous_end.get().copied(),
    }
}

fn not_opened<T>(progress: &Progress, failure: MeasuredFailure) -> Outcome<T> {
    let own_setup = progress.own_setup.get();
    Outcome {
        setup: own_setup.map(Arc::clone).unwrap_or_default(),
        connection: ConnectionState::Cold,
        is_opener: own_setup.is_some(),
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
    let own_setup = progress.own_setup.get();
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
