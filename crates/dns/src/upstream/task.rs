//! Tasks on a connection: a query, or a message with several questions. Not for: choosing the
//! connection (`upstream`).

use crate::asking::{Answer, Asking};
use crate::standing::Standing;
use crate::transports::session::Session;
use resolab_transport::client::MeasuredFailure;

/// A task for a resolver.
pub(crate) trait Task {
    /// The result of the finished task.
    type Done;

    /// Returns the task's start, `CLOCK_MONOTONIC` in ns.
    fn time_origin_ns(&self) -> u64;

    /// Runs the task on an open connection.
    fn run(
        &self,
        session: &Session,
        standing: &Standing,
    ) -> impl Future<Output = Result<Self::Done, MeasuredFailure>> + Send;

    /// Restarts the task after its connection has ended: unanswered questions go to another
    /// connection.
    fn begin_anew(&self);

    /// Returns true when the connection is still usable after an HTTP error status.
    fn outlives_http_status(&self) -> bool;
}

impl Task for Asking<'_> {
    type Done = Answer;

    fn time_origin_ns(&self) -> u64 {
        self.time_origin_ns
    }

    async fn run(&self, session: &Session, _: &Standing) -> Result<Answer, MeasuredFailure> {
        self.answer(session).await
    }

    fn begin_anew(&self) {
        self.exchange.begin_anew();
    }

    /// Returns true: the status concerns one request alone.
    fn outlives_http_status(&self) -> bool {
        true
    }
}
