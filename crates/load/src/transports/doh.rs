//! DNS in HTTP/2 (RFC 8484) on byte streams. Each query is a separate TLS record, as with DoT.
//! Queries due together leave in one system call. Not for: the streams (`streams`) or HTTP/2
//! (`http2`).

use crate::counting::slots::WaitingQuery;
use crate::counting::{LiveCounters, Tally};
use crate::error::LoadError;
use crate::loops::carrier::DueQuery;
use crate::plan::WorkerPlan;
use crate::sockets::stream::{READ_BYTES, TlsOrTcpStream};
use crate::transports::doh_conversation::{DohConversation, DohRequests};
use crate::transports::stream_protocol::StreamProtocol;
use crate::transports::streams;
use resolab_record::Failure;
use resolab_transport::client::AlpnMismatch;
use resolab_transport::clock::monotonic_ns;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

const ALPN: &[u8] = b"h2";

struct Doh {
    requests: Arc<DohRequests>,
    /// The queries left unprocessed by a server, to be sent again.
    requeued: VecDeque<WaitingQuery>,
    inbox: Vec<u8>,
}

/// Runs a worker's share of the load.
pub fn run(worker: &WorkerPlan, live: &LiveCounters) -> Result<Tally, LoadError> {
    let tls = worker.plan.tls.as_ref();
    let tls = tls.ok_or(LoadError::Unsupported("load DoH without TLS"))?;
    let protocol = Doh {
        requests: Arc::new(DohRequests::new(&worker.plan)),
        requeued: VecDeque::new(),
        inbox: Vec::with_capacity(READ_BYTES),
    };
    streams::run(worker, Some(tls), protocol, live)
}

impl StreamProtocol for Doh {
    type Conversation = DohConversation;

    fn conversation(&self, slot_count: usize) -> DohConversation {
        DohConversation::new(&self.requests, slot_count)
    }

    fn begin(
        &self,
        conversation: &mut DohConversation,
        stream: &mut TlsOrTcpStream,
    ) -> io::Result<()> {
        if stream.alpn() != Some(ALPN) {
            let text = |alpn| String::from_utf8_lossy(alpn).into_owned();
            return Err(io::Error::other(AlpnMismatch {
                offered: text(ALPN),
                chosen: stream.alpn().map(text),
            }));
        }
        stream.write(conversation.begin())?;
        stream.flush()
    }

    fn room(&self, conversation: &DohConversation) -> usize {
        conversation.room()
    }

    fn write(
        &mut self,
        conversation: &mut DohConversation,
        stream: &mut TlsOrTcpStream,
        queries: &[DueQuery],
        room: usize,
        tally: &mut Tally,
    ) -> io::Result<()> {
        let sent_ns = monotonic_ns();
        for query in queries {
            let wanted_ns = query.wanted_ns.unwrap_or(sent_ns);
            let waiting = WaitingQuery {
                name: query.name,
                wanted_ns,
                sent_ns,
                first_sent_ns: sent_ns,
            };
            tally.note_sent(wanted_ns, sent_ns, self.requests.query_bytes(query.name));
            stream.write(conversation.open(waiting))?;
        }
        for _ in queries.len()..room {
            let Some(waiting) = self.requeued.pop_front() else {
                break;
            };
            stream.write(conversation.open(WaitingQuery { sent_ns, ..waiting }))?;
        }
        Ok(())
    }

    fn read(
        &mut self,
        conversation: &mut DohConversation,
        stream: &mut TlsOrTcpStream,
        buffer: &mut [u8],
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        let closed = |_: io::Error| Failure::QueryConnectionClosed;
        self.inbox.clear();
        let goes_on = stream.read(buffer, &mut self.inbox);
        let received_ns = monotonic_ns();
        let reply = conversation.receive(&self.inbox, received_ns, &mut self.requeued, tally);
        let reply = reply.map_err(|_| Failure::HttpProtocol)?;
        if !reply.is_empty() {
            stream.write(reply).map_err(closed)?;
            stream.flush().map_err(closed)?;
        }
        if goes_on.map_err(closed)? && !conversation.is_done() {
            Ok(())
        } else {
            Err(Failure::QueryConnectionClosed)
        }
    }

    fn give_up_before(
        &self,
        conversation: &mut DohConversation,
        stream: Option<&mut TlsOrTcpStream>,
        instant_ns: u64,
        tally: &mut Tally,
    ) -> bool {
        let (given_up, cancellation) = conversation.give_up_before(instant_ns);
        tally.lost_count += given_up;
        let Some(stream) = stream else { return true };
        let is_told =
            given_up == 0 || (stream.write(cancellation).is_ok() && stream.flush().is_ok());
        is_told && !conversation.is_done()
    }

    fn give_up_all(&self, conversation: &mut DohConversation) -> u64 {
        conversation.give_up_all()
    }

    fn waiting_count(&self, conversation: &DohConversation) -> usize {
        conversation.waiting_count()
    }

    fn requeued_count(&self) -> usize {
        self.requeued.len()
    }

    fn give_up_requeued_before(&mut self, instant_ns: u64) -> u64 {
        let before = self.requeued.len();
        self.requeued
            .retain(|query| query.first_sent_ns >= instant_ns);
        (before - self.requeued.len()) as u64
    }
}
