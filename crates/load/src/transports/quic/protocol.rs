//! What DNS over a QUIC connection must be able to do for a load. Not for: keeping connections or
//! choosing queries.

use bytes::Bytes;
use quinn::Connection;
use resolab_record::Failure;
use std::rc::Rc;

/// Why a query had no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The connection has ended, or takes no more queries; the first says whether this one may
    /// have been processed.
    Ended {
        /// False: it may be asked again elsewhere.
        may_be_processed: bool,
    },
    /// The server has not processed it and says so.
    Refused,
    /// The query failed by itself.
    Failed(Failure),
}

/// One application protocol. Everything runs on one thread.
pub trait QuicProtocol: 'static {
    /// A connection made ready for queries; clones are used by several queries at once.
    type Conversation: Clone + 'static;
    /// The code a connection is closed with.
    const CLOSE_CODE: u32;

    /// Make a new connection ready.
    fn open(
        self: &Rc<Self>,
        connection: Connection,
    ) -> impl Future<Output = Result<Self::Conversation, String>>;

    /// Ask query `index` on a stream of its own, and say when it `leaves`, having one; its answer
    /// is one whole message.
    fn exchange(
        &self,
        conversation: &mut Self::Conversation,
        index: u32,
        leaves: &dyn Fn(),
    ) -> impl Future<Output = Result<Bytes, Trouble>>;
}
