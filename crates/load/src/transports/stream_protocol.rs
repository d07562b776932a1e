//! What DNS on a byte stream must be able to do for a load. Not for: opening streams, or when
//! queries are sent.

use crate::counting::Tally;
use crate::loops::carrier::Wanted;
use crate::sockets::stream::Stream;
use resolab_record::Failure;
use std::io;

/// What travels on the streams of a worker. It has what they share; what one connection has of its
/// own is its conversation.
pub trait Protocol {
    /// One connection's queries.
    type Conversation;

    /// Of a connection that may have `slot_count` queries under way.
    fn conversation(&self, slot_count: usize) -> Self::Conversation;

    /// A stream is open: write what comes first.
    fn begin(&self, conversation: &mut Self::Conversation, stream: &mut Stream) -> io::Result<()>;

    /// Queries that can be sent now, as far as the protocol is concerned.
    fn room(&self, conversation: &Self::Conversation) -> usize;

    /// Write queries, and those to be sent again as far as there is room for both.
    fn write(
        &mut self,
        conversation: &mut Self::Conversation,
        stream: &mut Stream,
        queries: &[Wanted],
        room: usize,
        tally: &mut Tally,
    ) -> io::Result<()>;

    /// Read what there is and book the answers that are whole. Why the connection does not go on,
    /// if so.
    fn read(
        &mut self,
        conversation: &mut Self::Conversation,
        stream: &mut Stream,
        buffer: &mut [u8],
        tally: &mut Tally,
    ) -> Result<(), Failure>;

    /// Give up what was sent before, on a stream if one is open. Whether that is of more use.
    fn give_up_before(
        &self,
        conversation: &mut Self::Conversation,
        stream: Option<&mut Stream>,
        instant_ns: u64,
        tally: &mut Tally,
    ) -> bool;

    /// Give up all of a connection's; how many.
    fn give_up_all(&self, conversation: &mut Self::Conversation) -> u64;

    /// Queries that wait on a connection.
    fn waiting_count(&self, conversation: &Self::Conversation) -> usize;

    /// Queries that a server left unprocessed, to be sent again on any connection.
    fn requeued_count(&self) -> usize {
        0
    }

    /// Give up those of them that were first sent before; how many.
    fn give_up_requeued_before(&mut self, _instant_ns: u64) -> u64 {
        0
    }
}
