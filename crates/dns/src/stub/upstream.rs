//! The one connection a stub has upstream: opened by the first query, shared by those that arrive
//! while it is being opened, kept until it is closed.

use crate::asking::{Answer, Asking, Outcome, cut_off};
use crate::client::DnsClient;
use crate::session::Session;
use resolab_record::{ConnectionState, Failure};
use resolab_transport::client::{MeasuredFailure, SetupLog};
use resolab_transport::clock::monotonic_ns;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The upstream side.
pub(super) struct Upstream {
    pub client: DnsClient,
    /// Held while a connection is being opened: whoever comes then waits for it.
    open: tokio::sync::Mutex<Option<Open>>,
    /// The latest set-up, so that the deadline of any waiting query can tell its phase.
    latest: Mutex<Latest>,
}

#[derive(Clone, Default)]
struct Latest {
    setup: Arc<SetupLog>,
    /// `time_origin_ns` of the query it was for.
    opener_ns: u64,
}

#[derive(Clone)]
struct Open {
    session: Arc<Session>,
    setup: Arc<SetupLog>,
    opened_ns: u64,
}

type NoConnection = (Arc<SetupLog>, MeasuredFailure);

impl Upstream {
    pub fn new(client: DnsClient) -> Self {
        Self {
            client,
            open: tokio::sync::Mutex::default(),
            latest: Mutex::default(),
        }
    }

    /// Ask, on the open connection or a new one.
    pub async fn ask(&self, asking: &Asking<'_>, deadline: Duration) -> Outcome {
        match tokio::time::timeout(deadline, self.try_ask(asking)).await {
            Ok(outcome) => outcome,
            Err(_) => self.given_up(asking, deadline),
        }
    }

    async fn try_ask(&self, asking: &Asking<'_>) -> Outcome {
        let outcome = self.ask_once(asking).await;
        // A connection the resolver closed while it was idle is found out by the next query only.
        let was_stale =
            outcome.connection == ConnectionState::Warm && lost_connection(&outcome.result);
        if was_stale {
            self.ask_once(asking).await
        } else {
            outcome
        }
    }

    async fn ask_once(&self, asking: &Asking<'_>) -> Outcome {
        let (open, is_opener) = match self.connection(asking).await {
            Ok(found) => found,
            Err((setup, failure)) => {
                let connection = ConnectionState::Cold;
                return Outcome {
                    setup,
                    connection,
                    is_opener: true,
                    result: Err(failure),
                };
            }
        };
        let result = asking.answer(&open.session).await;
        if lost_connection(&result) {
            self.discard(&open).await;
        }
        let connection = if open.opened_ns > asking.time_origin_ns() {
            ConnectionState::Cold
        } else {
            ConnectionState::Warm
        };
        Outcome {
            setup: open.setup,
            connection,
            is_opener,
            result,
        }
    }

    /// The open connection, or a new one and `true`.
    async fn connection(&self, asking: &Asking<'_>) -> Result<(Open, bool), NoConnection> {
        if self.client.is_connectionless() {
            return Ok((self.new_connection(asking).await?, true));
        }
        let mut place = self.open.lock().await;
        if let Some(open) = place.as_ref().filter(|open| !open.session.is_closed()) {
            return Ok((open.clone(), false));
        }
        *place = None;
        let open = self.new_connection(asking).await?;
        *place = Some(open.clone());
        Ok((open, true))
    }

    async fn new_connection(&self, asking: &Asking<'_>) -> Result<Open, NoConnection> {
        let setup = Arc::<SetupLog>::default();
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Latest {
            setup: Arc::clone(&setup),
            opener_ns: asking.time_origin_ns(),
        };
        match self.client.open(&setup).await {
            Ok(session) => Ok(Open {
                session: Arc::new(session),
                setup,
                opened_ns: monotonic_ns(),
            }),
            Err(failure) => Err((setup, failure)),
        }
    }

    async fn discard(&self, lost: &Open) {
        let mut place = self.open.lock().await;
        place.take_if(|open| Arc::ptr_eq(&open.session, &lost.session));
    }

    /// The deadline passed. A connection that is silent that long is not used again, but left to
    /// the queries that still wait on it.
    fn given_up(&self, asking: &Asking<'_>, deadline: Duration) -> Outcome {
        let latest = self
            .latest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let mut connection = ConnectionState::Cold;
        // Locked means that somebody is opening one just now.
        if let Ok(mut place) = self.open.try_lock()
            && let Some(open) = place.take()
            && open.opened_ns <= asking.time_origin_ns()
        {
            connection = ConnectionState::Warm;
        }
        let result = Err(cut_off(&latest.setup, deadline));
        let is_opener = latest.opener_ns == asking.time_origin_ns();
        Outcome {
            setup: latest.setup,
            connection,
            is_opener,
            result,
        }
    }

    /// Close the connection, and forget tickets if asked to.
    pub async fn close(&self, forget_tickets: bool) {
        let open = self.open.lock().await.take();
        if let Some(open) = open {
            open.session.close_shared().await;
        }
        if let Some(tickets) = self.client.tickets.as_ref().filter(|_| forget_tickets) {
            tickets.forget();
        }
    }
}

fn lost_connection(result: &Result<Answer, MeasuredFailure>) -> bool {
    matches!(result, Err(failure) if failure.failure == Failure::QueryConnectionClosed)
}
