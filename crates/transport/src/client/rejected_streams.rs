//! Streams of early data that was rejected, and those that have their numbers then. quinn 0.11 keeps who
//! waits for a stream by its number, and lets go of that when a stream is dropped, also where that is of
//! early data that was rejected, and another one with its number is waited for: nobody wakes that one.
//!
//! Not for: rejection itself.

use super::setup::SetupLog;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

/// Kept beside each stream of a connection, and dropped after it.
pub struct StreamGuard {
    log: Arc<SetupLog>,
    dropped: Arc<Notify>,
    is_early: bool,
    waiting: Option<Pin<Box<OwnedNotified>>>,
}

impl StreamGuard {
    /// Of a stream that is opened now.
    pub(super) fn new(log: &Arc<SetupLog>, dropped: &Arc<Notify>) -> Self {
        Self {
            log: Arc::clone(log),
            dropped: Arc::clone(dropped),
            is_early: log.handshake().is_none(),
            waiting: None,
        }
    }

    /// For who just found that the stream has nothing yet: ready where it is to look again.
    pub fn poll_disturbed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.log.early_data_was_rejected() {
            return Poll::Pending;
        }
        let dropped = &self.dropped;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(Arc::clone(dropped).notified_owned()));
        let disturbed = waiting.as_mut().poll(cx);
        if disturbed.is_ready() {
            self.waiting = None;
        }
        disturbed
    }
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        if self.is_early && self.log.early_data_was_rejected() {
            self.dropped.notify_waiters();
        }
    }
}
