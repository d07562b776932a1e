//! Tasks on a connection: a query, or a message with several questions. Not for: choosing the
//! connection (`upstream`).

use crate::connection_use::ConnectionUse;
use crate::query::{PendingQuery, QueryAnswer};
use crate::transports::session::Session;
use resolab_transport::client::MeasuredFailure;

/// A task for a resolver.
pub(crate) trait ConnectionTask {
    /// The result of the finished task.
    type Output;

    /// Returns the task's start, `CLOCK_MONOTONIC` in ns.
    fn time_origin_ns(&self) -> u64;

    /// Runs the task on an open connection.
    fn run(
        &self,
        session: &Session,
        connection_use: &ConnectionUse,
    ) -> impl Future<Output = Result<Self::Output, MeasuredFailure>> + Send;

    /// Restarts the task after its connection has ended: unanswered questions go to another
    /// connection.
    fn restart(&self);

    /// Returns true when the connection is still usable after an HTTP error status.
    fn outlives_http_status(&self) -> bool;
}

impl ConnectionTask for PendingQuery<'_> {
    type Output = QueryAnswer;

    fn time_origin_ns(&self) -> u64 {
        self.time_origin_ns
    }

    async fn run(
        &self,
        session: &Session,
        _: &ConnectionUse,
    ) -> Result<QueryAnswer, MeasuredFailure> {
        self.answer(session).await
    }

    fn restart(&self) {
        self.exchange.restart();
    }

    /// Returns true: the status concerns one request alone.
    fn outlives_http_status(&self) -> bool {
        true
    }
}
