//! The interface of a DNS protocol on a byte stream, for a load. Not for: opening streams, or the
//! times of sending.

use crate::counting::Tally;
use crate::loops::carrier::DueQuery;
use crate::sockets::stream::TlsOrTcpStream;
use resolab_record::Failure;
use std::io;

/// The protocol on the streams of a worker. The protocol holds the shared state; the conversation
/// holds the state of a connection.
pub trait StreamProtocol {
    /// The queries of a connection.
    type Conversation;

    /// Creates the conversation of a connection with up to `slot_count` queries in flight.
    fn conversation(&self, slot_count: usize) -> Self::Conversation;

    /// Writes the first bytes after a stream has opened.
    fn begin(
        &self,
        conversation: &mut Self::Conversation,
        stream: &mut TlsOrTcpStream,
    ) -> io::Result<()>;

    /// Returns the number of queries the protocol can send now.
    fn room(&self, conversation: &Self::Conversation) -> usize;

    /// Writes queries, and requeued queries as far as there is room for both.
    fn write(
        &mut self,
        conversation: &mut Self::Conversation,
        stream: &mut TlsOrTcpStream,
        queries: &[DueQuery],
        room: usize,
        tally: &mut Tally,
    ) -> io::Result<()>;

    /// Reads the available bytes and books the complete answers. Errors when the connection ends,
    /// with the reason.
    fn read(
        &mut self,
        conversation: &mut Self::Conversation,
        stream: &mut TlsOrTcpStream,
        buffer: &mut [u8],
        tally: &mut Tally,
    ) -> Result<(), Failure>;

    /// Gives up queries sent before `instant_ns`, on the stream if open. Returns true when the
    /// stream is still useful.
    fn give_up_before(
        &self,
        conversation: &mut Self::Conversation,
        stream: Option<&mut TlsOrTcpStream>,
        instant_ns: u64,
        tally: &mut Tally,
    ) -> bool;

    /// Gives up all queries of a connection; returns their number.
    fn give_up_all(&self, conversation: &mut Self::Conversation) -> u64;

    /// Returns the number of queries waiting on a connection.
    fn waiting_count(&self, conversation: &Self::Conversation) -> usize;

    /// Returns the number of queries left unprocessed by a server, to be sent again on any
    /// connection.
    fn requeued_count(&self) -> usize {
        0
    }

    /// Gives up requeued queries first sent before the instant; returns their number.
    fn give_up_requeued_before(&mut self, _instant_ns: u64) -> u64 {
        0
    }
}
