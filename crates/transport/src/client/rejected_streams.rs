//! Streams of rejected early data, and later streams with the same numbers. Quinn 0.11 keeps a
//! waiting task by its stream number, and removes the entry when a stream is dropped. A dropped
//! stream of rejected early data removes the entry of a new stream with the same number. Quinn then
//! never wakes the new stream's task.
//!
//! Not for: rejection itself.

use super::setup::SetupLog;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

/// A guard beside each stream of a connection, to be dropped after the stream.
pub struct StreamGuard {
    log: Arc<SetupLog>,
    dropped: Arc<Notify>,
    is_early: bool,
    waiting: Option<Pin<Box<OwnedNotified>>>,
}

impl StreamGuard {
    /// Makes the guard of a new stream.
    pub(super) fn new(log: &Arc<SetupLog>, dropped: &Arc<Notify>) -> Self {
        Self {
            log: Arc::clone(log),
            dropped: Arc::clone(dropped),
            is_early: log.handshake().is_none(),
            waiting: None,
        }
    }

    /// Tells a task with an empty stream when to read again: ready after the drop of a rejected
    /// stream.
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
