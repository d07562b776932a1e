//! What is done on a connection: a query, or a message with several questions. Not for: which
//! connection; that is the module above.

use crate::asking::{Answer, Asking};
use crate::standing::Standing;
use crate::transports::session::Session;
use resolab_transport::client::MeasuredFailure;

/// Something asked of a resolver.
pub(crate) trait Task {
    /// What there is of it when it is done.
    type Done;

    /// When it was wanted, `CLOCK_MONOTONIC`.
    fn time_origin_ns(&self) -> u64;

    /// Do it on an open connection.
    fn run(
        &self,
        session: &Session,
        standing: &Standing,
    ) -> impl Future<Output = Result<Self::Done, MeasuredFailure>> + Send;

    /// The connection it was done on has ended: what is not answered is to be asked on another.
    fn begin_anew(&self);

    /// Whether the connection is of use after an HTTP status that is an error.
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

    /// It tells of one request alone.
    fn outlives_http_status(&self) -> bool {
        true
    }
}
