//! A TCP stream under TLS. The stream passes its hellos to the watch, can gather writes, and can
//! read ahead of TLS. Not for: reading hellos, see `hello_watch`.

use super::hello_watch::HelloWatch;
use super::setup::SetupLog;
use super::tcp::ClientTcpStream;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, BufReader, BufWriter, ReadBuf};

/// A buffered TCP stream with a watch on the hellos.
pub(super) struct WatchedTcp {
    inner: BufReader<BufWriter<ClientTcpStream>>,
    log: Arc<SetupLog>,
    /// The watch on the hellos; `None` after the handshake.
    watch: Option<Box<HelloWatch>>,
}

/// The buffering between TLS and the kernel; with 0, TLS's own calls pass directly.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WriteGathering {
    /// The maximum of written bytes kept until the next flush, after the handshake.
    pub written_bytes: usize,
    /// The maximum of bytes read at once. The TLS library reads a record of 16 kB by five calls.
    pub read_bytes: usize,
}

impl WatchedTcp {
    pub(super) fn new(
        inner: ClientTcpStream,
        gathering: WriteGathering,
        log: Arc<SetupLog>,
    ) -> Self {
        let writer = BufWriter::with_capacity(gathering.written_bytes, inner);
        // Nothing is read through a buffer that is no larger than what is asked for; of no bytes
        // there is none.
        let ahead_bytes = gathering.read_bytes.max(1);
        Self {
            inner: BufReader::with_capacity(ahead_bytes, writer),
            log,
            watch: Some(Box::default()),
        }
    }

    /// Ends the watch; from now on bytes only pass.
    pub(super) fn end_watch(&mut self) -> Option<Box<HelloWatch>> {
        self.watch.take()
    }

    fn note_sent(&mut self, bytes: &[u8]) {
        if let Some(watch) = &mut self.watch {
            watch.note_sent(&self.log.hellos, bytes);
        }
    }

    /// Flushes during the handshake, because TLS does not flush the alert at the end of a failed
    /// handshake.
    fn leave_in_handshake(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if self.watch.is_some()
            && let Poll::Ready(result) = Pin::new(&mut self.inner).poll_flush(cx)
        {
            result?;
        }
        Ok(())
    }

    fn wants_sent(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.wants_sent())
    }
}

impl AsyncRead for WatchedTcp {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        let this = &mut *self;
        if let Some(watch) = &mut this.watch {
            watch.note_received(&this.log.hellos, &buffer.filled()[before..]);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for WatchedTcp {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.inner).poll_write(cx, bytes))?;
        self.note_sent(&bytes[..count]);
        self.leave_in_handshake(cx)?;
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.inner).poll_write_vectored(cx, slices))?;
        let mut left = count;
        for slice in slices {
            if left == 0 || !self.wants_sent() {
                break;
            }
            let taken = left.min(slice.len());
            self.note_sent(&slice[..taken]);
            left -= taken;
        }
        self.leave_in_handshake(cx)?;
        Poll::Ready(Ok(count))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
