//! One client's stream, with pipelined queries (RFC 7766 section 6.2.1.1). Not for: accepting the
//! stream.

use super::client::{FramedReply, ReplyDestination, StreamReplies};
use super::forward::StubState;
use crate::transports::framed::take_message;
use bytes::{Buf, BytesMut};
use resolab_transport::clock::monotonic_ns;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, timeout, timeout_at};

/// The queries of one stream.
struct StreamQueries {
    from: SocketAddr,
    service: Arc<StubState>,
    own: Arc<Semaphore>,
    of_all: Arc<Semaphore>,
    replies: mpsc::UnboundedSender<FramedReply>,
}

/// Answers until the client has gone or is idle, and every pending reply was written or refused.
pub(super) async fn serve(
    stream: TcpStream,
    from: SocketAddr,
    service: Arc<StubState>,
    of_all: Arc<Semaphore>,
) {
    let _ = stream.set_nodelay(true);
    let (reader, writer) = stream.into_split();
    let (replies, queue) = mpsc::unbounded_channel();
    let limits = service.limits;
    let queries = StreamQueries {
        from,
        service,
        own: Arc::new(Semaphore::new(limits.stream_queries_max_count)),
        of_all,
        replies,
    };
    let mut writing = pin!(write_replies(writer, queue, limits.stream_idle_timeout));
    tokio::select! {
        () = &mut writing => (),
        () = queries.read(reader) => writing.await,
    }
}

impl StreamQueries {
    async fn read(self, mut reader: OwnedReadHalf) {
        let idle_timeout = self.service.limits.stream_idle_timeout;
        let mut buffer = BytesMut::with_capacity(1024);
        let mut idle_at = Instant::now() + idle_timeout;
        loop {
            match timeout_at(idle_at, reader.read_buf(&mut buffer)).await {
                Ok(Ok(1..)) => (),
                Ok(Ok(0) | Err(_)) => return,
                Err(_) if self.is_idle() => return,
                Err(_) => idle_at = Instant::now() + idle_timeout,
            }
            while let Some(message) = take_message(&mut buffer) {
                if !self.answer(message).await {
                    return;
                }
                idle_at = Instant::now() + idle_timeout;
            }
        }
    }

    /// Starts answering a query when the limits allow. Returns true when the stream may bring more
    /// queries.
    async fn answer(&self, message: Vec<u8>) -> bool {
        let received_ns = monotonic_ns();
        let Ok(own) = Arc::clone(&self.own).acquire_owned().await else {
            return false;
        };
        let Ok(of_all) = Arc::clone(&self.of_all).acquire_owned().await else {
            return false;
        };
        let replies = StreamReplies {
            queue: self.replies.clone(),
            leave: [own, of_all],
        };
        let (client, service) = (
            ReplyDestination::Tcp(replies, self.from),
            Arc::clone(&self.service),
        );
        tokio::spawn(async move { service.handle(message, received_ns, client).await });
        true
    }

    /// Returns true when no query is being answered and no reply waits to be written.
    fn is_idle(&self) -> bool {
        self.own.available_permits() == self.service.limits.stream_queries_max_count
    }
}

/// Writes until no more replies can come, or the client takes none.
async fn write_replies(
    mut writer: OwnedWriteHalf,
    mut queue: mpsc::UnboundedReceiver<FramedReply>,
    patience: Duration,
) {
    while let Some(FramedReply(mut framed, leave)) = queue.recv().await {
        while framed.has_remaining() {
            let written = timeout(patience, writer.write_buf(&mut framed)).await;
            if !matches!(written, Ok(Ok(1..))) {
                return;
            }
        }
        drop(leave);
    }
}
