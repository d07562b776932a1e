//! A query's client, where its reply goes. Not for: what that says; that is `reply`'s.

use super::reply::Carrier;
use crate::transports::framed::frame;
use bytes::Bytes;
use resolab_transport::answering_socket::{AnsweringSocket, ReplyWay};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// Where a reply goes.
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

/// Leave for a query to be answered, by the stream's own limit and that of all streams.
pub(super) type Leave = [OwnedSemaphorePermit; 2];

/// Where the reply to one query of a stream goes.
pub(super) struct Replies {
    pub queue: mpsc::UnboundedSender<Reply>,
    pub leave: Leave,
}

/// A reply behind its length, and its query's leave, which is used up until it is written.
pub(super) struct Reply(pub Bytes, pub Leave);

impl Replies {
    pub fn send(self, reply: &[u8]) -> io::Result<()> {
        let reply = Reply(frame(reply).into(), self.leave);
        let sent = self.queue.send(reply);
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
