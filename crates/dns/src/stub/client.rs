//! A query's client: the destination of its reply. Not for: the reply's contents (`reply`).

use super::reply::ClientTransport;
use crate::transports::framed::frame;
use bytes::Bytes;
use resolab_transport::answering_socket::{AnsweringSocket, ReplyAddresses};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// The destination of a reply.
pub(super) enum ReplyDestination {
    Udp(Arc<AnsweringSocket>, ReplyAddresses),
    Tcp(StreamReplies, SocketAddr),
}

impl ReplyDestination {
    pub fn address(&self) -> SocketAddr {
        match self {
            Self::Udp(_, addresses) => addresses.client,
            Self::Tcp(_, address) => *address,
        }
    }

    pub fn carrier(&self) -> ClientTransport {
        match self {
            Self::Udp(..) => ClientTransport::Udp,
            Self::Tcp(..) => ClientTransport::Tcp,
        }
    }

    pub async fn send(self, reply: Vec<u8>) -> io::Result<()> {
        match self {
            Self::Udp(socket, addresses) => socket.send(&reply, &addresses).await,
            Self::Tcp(replies, _) => replies.send(&reply),
        }
    }
}

/// The permits for answering a query: of the stream's limit, and of the limit for all streams.
pub(super) type QueryPermits = [OwnedSemaphorePermit; 2];

/// The destination of the reply to one query of a stream.
pub(super) struct StreamReplies {
    pub queue: mpsc::UnboundedSender<FramedReply>,
    pub leave: QueryPermits,
}

/// A reply behind its length, and its query's permits, held until the reply is written.
pub(super) struct FramedReply(pub Bytes, pub QueryPermits);

impl StreamReplies {
    pub fn send(self, reply: &[u8]) -> io::Result<()> {
        let reply = FramedReply(frame(reply).into(), self.leave);
        let sent = self.queue.send(reply);
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
