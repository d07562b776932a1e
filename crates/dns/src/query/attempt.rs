//! Asks on a connection, opening the connection first when needed, and keeps the deadline. Not for:
//! judging a response (`answer`).

use super::answer::QueryAnswer;
use super::pending::PendingQuery;
use crate::connection_use::ConnectionUse;
use crate::transports::session::Session;
use resolab_record::{ConnectionState, Failure};
use resolab_transport::client::{MeasuredFailure, SetupLog};
use std::sync::Arc;
use std::time::Duration;

/// The outcome of one query.
pub struct QueryOutcome<T = QueryAnswer> {
    /// The set-up of the connection used.
    pub setup: Arc<SetupLog>,
    /// The state of the connection at the query's start: open (warm) or not (cold).
    pub connection: ConnectionState,
    /// True when the connection was opened for this query. Only then do the set-up's phases belong
    /// to the query. Of several queries waiting for one connection, the first is the opener.
    pub is_opener: bool,
    /// The response, or the reason for the failure.
    pub result: Result<T, MeasuredFailure>,
}

impl<T> QueryOutcome<T> {
    /// Makes the outcome of a result on a connection.
    pub(crate) fn from_result(
        connection_use: &ConnectionUse,
        result: Result<T, MeasuredFailure>,
    ) -> Self {
        Self {
            setup: Arc::clone(&connection_use.setup),
            connection: connection_use.connection,
            is_opener: connection_use.is_opener,
            result,
        }
    }
}

/// A slot for an open connection, with the log of its set-up.
pub type SessionSlot = Option<(Session, Arc<SetupLog>)>;

impl PendingQuery<'_> {
    /// Asks on the connection in `slot`. Opens a connection first when the slot is empty, and
    /// leaves the connection there. DoUDP always begins with a new session.
    pub async fn ask(&self, slot: &mut SessionSlot, deadline: Duration) -> QueryOutcome {
        slot.take_if(|_| self.client.is_connectionless());
        let (setup, connection) = match slot {
            Some((_, setup)) => (Arc::clone(setup), ConnectionState::Warm),
            None => (Arc::<SetupLog>::default(), ConnectionState::Cold),
        };
        let asked = async {
            if slot.is_none() {
                *slot = Some((self.client.open(&setup).await?, Arc::clone(&setup)));
            }
            match slot {
                Some((session, _)) => self.answer(session).await,
                None => Err(MeasuredFailure::new(
                    Failure::Other,
                    "the connection is gone",
                )),
            }
        };
        let result = tokio::time::timeout(deadline, asked)
            .await
            .unwrap_or_else(|_| Err(deadline_failure(&setup, deadline)));
        let is_opener = connection == ConnectionState::Cold;
        QueryOutcome {
            setup,
            connection,
            is_opener,
            result,
        }
    }
}

/// Returns the failure of a query after its deadline.
pub(crate) fn deadline_failure(setup: &SetupLog, deadline: Duration) -> MeasuredFailure {
    let detail = format!("the deadline of {deadline:?} passed");
    MeasuredFailure::new(setup.failure_at_deadline(), detail)
}
