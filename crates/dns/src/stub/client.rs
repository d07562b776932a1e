//! A query's client: the destination of its reply. Not for: the reply's contents (`reply`).

use super::reply::Carrier;
use crate::transports::framed::frame;
use bytes::Bytes;
use resolab_transport::answering_socket::{AnsweringSocket, ReplyWay};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// The destination of a reply.
pub(super) enum Client {
    Udp(Arc<AnsweringSocket>, ReplyWay),
    Tcp(Replies, SocketAddr),
}

impl Client {
    pub fn address(&self) -> SocketAddr {
        match self {
            Self::Udp(_, way) => way.client,
            Self::Tcp(_, address) => *address,
        }
    }

    pub fn carrier(&self) -> Carrier {
        match self {
            Self::Udp(..) => Carrier::Udp,
            Self::Tcp(..) => Carrier::Tcp,
        }
    }

    pub async fn send(self, reply: Vec<u8>) -> io::Result<()> {
        match self {
            Self::Udp(socket, way) => socket.send(&reply, &way).await,
            Self::Tcp(replies, _) => replies.send(&reply),
        }
    }
}

/// The permits for answering a query: of the stream's limit, and of the limit for all streams.
pub(super) type Leave = [OwnedSemaphorePermit; 2];

/// The destination of the reply to one query of a stream.
pub(super) struct Replies {
    pub queue: mpsc::UnboundedSender<Reply>,
    pub leave: Leave,
}

/// A reply behind its length, and its query's permits, held until the reply is written.
pub(super) struct Reply(pub Bytes, pub Leave);

impl Replies {
    pub fn send(self, reply: &[u8]) -> io::Result<()> {
        let reply = Reply(frame(reply).into(), self.leave);
        let sent = self.queue.send(reply);
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
