//! Asks on a connection that may have to be opened first, and keeps the deadline. Not for: what an
//! answer is; that is in `answer`.

use super::answer::Answer;
use super::wanted::Asking;
use crate::standing::Standing;
use crate::transports::session::Session;
use resolab_record::{ConnectionState, Failure};
use resolab_transport::client::{MeasuredFailure, SetupLog};
use std::sync::Arc;
use std::time::Duration;

/// What became of it.
pub struct Outcome<T = Answer> {
    /// Set-up of the connection used.
    pub setup: Arc<SetupLog>,
    /// Whether the connection was open when the query was wanted.
    pub connection: ConnectionState,
    /// Whether the connection was opened for this query, so that the phases of its set-up are the
    /// query's own, and not for another one that happened to be first.
    pub is_opener: bool,
    /// The response, or why there is none.
    pub result: Result<T, MeasuredFailure>,
}

impl<T> Outcome<T> {
    /// A result on a connection.
    pub(crate) fn on(standing: &Standing, result: Result<T, MeasuredFailure>) -> Self {
        Self {
            setup: Arc::clone(&standing.setup),
            connection: standing.connection,
            is_opener: standing.is_opener,
            result,
        }
    }
}

/// Place of a connection that may be open, with the log of its set-up.
pub type Slot = Option<(Session, Arc<SetupLog>)>;

impl Asking<'_> {
    /// Ask on the connection in `slot`, or open one and leave it there. DoUDP always begins anew.
    pub async fn ask(&self, slot: &mut Slot, deadline: Duration) -> Outcome {
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
            .unwrap_or_else(|_| Err(cut_off(&setup, deadline)));
        let is_opener = connection == ConnectionState::Cold;
        Outcome {
            setup,
            connection,
            is_opener,
            result,
        }
    }
}

/// The failure of a query whose deadline passed.
pub(crate) fn cut_off(setup: &SetupLog, deadline: Duration) -> MeasuredFailure {
    let detail = format!("the deadline of {deadline:?} passed");
    MeasuredFailure::new(setup.failure_at_deadline(), detail)
}
