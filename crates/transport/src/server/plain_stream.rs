//! A TCP stream without TLS, with byte counts and black holes.
//!
//! For: DoTCP of the edge. Not for: anything encrypted.

use super::{BlackHole, ByteCounts};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// An accepted TCP connection.
pub struct PlainStream {
    tcp: TcpStream,
    bytes: Arc<ByteCounts>,
    black_hole: Arc<BlackHole>,
    name: Option<String>,
}

impl PlainStream {
    /// Wraps a connection; `name` selects the connection's black hole.
    pub fn new(
        tcp: TcpStream,
        bytes: Arc<ByteCounts>,
        black_hole: Arc<BlackHole>,
        name: Option<String>,
    ) -> Self {
        Self {
            tcp,
            bytes,
            black_hole,
            name,
        }
    }

    fn poll_passable(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.black_hole.poll_passable(self.name.as_deref(), cx)
    }
}

impl AsyncRead for PlainStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_passable(cx));
        let before = buffer.filled().len();
        let result = ready!(Pin::new(&mut this.tcp).poll_read(cx, buffer));
        this.bytes.add_received(buffer.filled().len() - before);
        Poll::Ready(result)
    }
}

impl AsyncWrite for PlainStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_passable(cx));
        let count = ready!(Pin::new(&mut this.tcp).poll_write(cx, bytes))?;
        this.bytes.add_sent(count);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_shutdown(cx)
    }
}
