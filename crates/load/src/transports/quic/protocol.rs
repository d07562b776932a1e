//! The interface of a DNS protocol over a QUIC connection, for a load. Not for: keeping connections
//! or choosing queries.

use bytes::Bytes;
use quinn::Connection;
use resolab_record::Failure;
use std::rc::Rc;

/// The reason for a query without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadExchangeError {
    /// The connection has ended, or takes no more queries.
    Ended {
        /// True when the server may have processed the query; when false, the query may be sent
        /// again elsewhere.
        may_be_processed: bool,
    },
    /// The server reported the query as not processed.
    Refused,
    /// The query failed by itself.
    Failed(Failure),
}

/// An application protocol over QUIC. All tasks run on one thread.
pub trait QuicProtocol: 'static {
    /// A connection ready for queries; several queries use clones at once.
    type Conversation: Clone + 'static;
    /// The error code for closing a connection.
    const CLOSE_CODE: u32;

    /// Makes a new connection ready.
    fn open(
        self: &Rc<Self>,
        connection: Connection,
    ) -> impl Future<Output = Result<Self::Conversation, String>>;

    /// Sends query `index` on a separate stream and returns the answer, a whole message. Calls
    /// `leaves` as soon as the stream is open.
    fn exchange(
        &self,
        conversation: &mut Self::Conversation,
        index: u32,
        leaves: &dyn Fn(),
    ) -> impl Future<Output = Result<Bytes, LoadExchangeError>>;
}
