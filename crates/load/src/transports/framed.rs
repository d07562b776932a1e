//! DNS over byte streams: messages behind their length (RFC 1035 section 4.2.2), matched by id. Not
//! for: the streams (`streams`), HTTP and QUIC.

use crate::counting::matching::book;
use crate::counting::slots::{Slots, WaitingQuery};
use crate::counting::{LiveCounters, Tally};
use crate::error::LoadError;
use crate::loops::carrier::DueQuery;
use crate::names::QueryTemplates;
use crate::plan::WorkerPlan;
use crate::sockets::stream::{READ_BYTES, TlsOrTcpStream};
use crate::transports::stream_protocol::StreamProtocol;
use crate::transports::streams;
use resolab_record::Failure;
use resolab_transport::client::TlsClient;
use resolab_transport::clock::monotonic_ns;
use std::io;
use std::sync::Arc;

const LENGTH_BYTES: usize = 2;

struct LengthPrefixedProtocol {
    names: Arc<QueryTemplates>,
    /// A query behind its length, during assembly.
    frame: Vec<u8>,
}

struct FramedConversation {
    slots: Slots,
    /// The received bytes from the beginning of an incomplete message.
    inbox: Vec<u8>,
}

/// Runs a worker's share of the load.
pub fn run(
    worker: &WorkerPlan,
    tls: Option<&TlsClient>,
    live: &LiveCounters,
) -> Result<Tally, LoadError> {
    let protocol = LengthPrefixedProtocol {
        names: Arc::clone(&worker.plan.names),
        frame: Vec::new(),
    };
    streams::run(worker, tls, protocol, live)
}

impl StreamProtocol for LengthPrefixedProtocol {
    type Conversation = FramedConversation;

    fn conversation(&self, slot_count: usize) -> FramedConversation {
        FramedConversation {
            slots: Slots::new(slot_count),
            inbox: Vec::with_capacity(READ_BYTES),
        }
    }

    fn begin(
        &self,
        conversation: &mut FramedConversation,
        _stream: &mut TlsOrTcpStream,
    ) -> io::Result<()> {
        conversation.inbox.clear();
        Ok(())
    }

    fn room(&self, conversation: &FramedConversation) -> usize {
        conversation.slots.room()
    }

    fn write(
        &mut self,
        conversation: &mut FramedConversation,
        stream: &mut TlsOrTcpStream,
        queries: &[DueQuery],
        _room: usize,
        tally: &mut Tally,
    ) -> io::Result<()> {
        let sent_ns = monotonic_ns();
        for query in queries {
            let message = self.names.get(query.name).message;
            let wanted_ns = query.wanted_ns.unwrap_or(sent_ns);
            let waiting = WaitingQuery {
                name: query.name,
                wanted_ns,
                sent_ns,
                first_sent_ns: sent_ns,
            };
            let Some(id) = conversation.slots.take(waiting) else {
                break;
            };
            tally.note_sent(wanted_ns, sent_ns, message.len());
            self.frame.clear();
            self.frame
                .extend_from_slice(&(message.len() as u16).to_be_bytes());
            self.frame.extend_from_slice(&id.to_be_bytes());
            self.frame.extend_from_slice(&message[2..]);
            stream.write(&self.frame)?;
        }
        Ok(())
    }

    fn read(
        &mut self,
        conversation: &mut FramedConversation,
        stream: &mut TlsOrTcpStream,
        buffer: &mut [u8],
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        let goes_on = stream.read(buffer, &mut conversation.inbox);
        let received_ns = monotonic_ns();
        let mut start = 0;
        while let Some(message) = message_at(&conversation.inbox, start) {
            book(
                &mut conversation.slots,
                &self.names,
                message,
                received_ns,
                tally,
            );
            start += LENGTH_BYTES + message.len();
        }
        conversation.inbox.drain(..start);
        match goes_on {
            Ok(true) => Ok(()),
            _ => Err(Failure::QueryConnectionClosed),
        }
    }

    fn give_up_before(
        &self,
        conversation: &mut FramedConversation,
        _stream: Option<&mut TlsOrTcpStream>,
        instant_ns: u64,
        tally: &mut Tally,
    ) -> bool {
        tally.lost_count += conversation.slots.give_up_before(instant_ns);
        true
    }

    fn give_up_all(&self, conversation: &mut FramedConversation) -> u64 {
        conversation.slots.give_up_all()
    }

    fn waiting_count(&self, conversation: &FramedConversation) -> usize {
        conversation.slots.waiting_count()
    }
}

/// Returns the message with its length field at `start`, if complete.
fn message_at(inbox: &[u8], start: usize) -> Option<&[u8]> {
    let rest = inbox.get(start..)?;
    let (length, rest) = rest.split_at_checked(LENGTH_BYTES)?;
    rest.get(..usize::from(u16::from_be_bytes([length[0], length[1]])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_there_when_it_is_whole() {
        let inbox = [0, 2, 7, 8, 0, 1, 9, 0, 3, 1, 2];
        assert_eq!(message_at(&inbox, 0), Some(&[7, 8][..]));
        assert_eq!(message_at(&inbox, 4), Some(&[9][..]));
        assert_eq!(message_at(&inbox, 7), None);
        assert_eq!(message_at(&inbox, 11), None);
        assert_eq!(message_at(&inbox[..1], 0), None);
    }
}
