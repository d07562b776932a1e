//! A byte stream with the time of its last progress. A connection without progress can thus be
//! ended, whichever side stopped.
//!
//! Not for: judging the bytes.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep};

/// The time of a stream's last progress.
#[derive(Debug)]
pub struct StreamActivity {
    start: Instant,
    moved_ms: AtomicU64,
}

impl Default for StreamActivity {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            moved_ms: AtomicU64::new(0),
        }
    }
}

impl StreamActivity {
    /// Resolves after the given time without progress.
    pub async fn wait_for_silence(&self, bearable: Duration) {
        loop {
            let moved = Duration::from_millis(self.moved_ms.load(Ordering::Relaxed));
            let silent = self.start.elapsed().saturating_sub(moved);
            match bearable.checked_sub(silent) {
                Some(left) if !left.is_zero() => sleep(left).await,
                _ => return,
            }
        }
    }

    fn note(&self) {
        let now_ms = self.start.elapsed().as_millis() as u64;
        self.moved_ms.store(now_ms, Ordering::Relaxed);
    }
}

/// A stream with its activity time.
#[derive(Debug)]
pub struct WatchedStream<S> {
    stream: S,
    activity: Arc<StreamActivity>,
}

impl<S> WatchedStream<S> {
    /// Wraps a stream with its activity time.
    pub fn new(stream: S, activity: Arc<StreamActivity>) -> Self {
        Self { stream, activity }
    }

    fn noting<T>(&self, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if matches!(result, Poll::Ready(Ok(_))) {
            self.activity.note();
        }
        result
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_read(cx, buffer);
        self.noting(result)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.noting(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.noting(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Flushes without noting activity, because an empty flush moves no bytes.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    #[tokio::test]
    async fn silence_counts_from_the_last_byte() {
        let activity = Arc::new(StreamActivity::default());
        let mut stream = WatchedStream::new(tokio::io::sink(), Arc::clone(&activity));
        let start = Instant::now();
        tokio::spawn(async move {
            for _ in 0..4 {
                sleep(Duration::from_millis(50)).await;
                stream.write_all(b"x").await.unwrap();
            }
        });
        activity.wait_for_silence(Duration::from_secs(1)).await;
        assert!(
            start.elapsed() >= Duration::from_millis(1_190),
            "{:?}",
            start.elapsed()
        );
    }
}
