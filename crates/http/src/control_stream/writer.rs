//! Frames of our own on this side's control stream, each whole, behind SETTINGS. Whoever hands one
//! over waits for nothing: what the peer's window does not take leaves as it opens.
//!
//! Not for: which frames.

use crate::quic_streams::SharedStream;
use bytes::{Buf, Bytes, BytesMut};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Bytes that wait for the peer's window; frames above that are let go.
const WAITING_MAX_BYTES: usize = 64 << 10;

/// The way in, for all who have frames to send.
#[derive(Debug, Clone, Default)]
pub(crate) struct ControlWriter(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    stream: Option<SharedStream>,
    waiting: BytesMut,
    /// Of whoever drives the connection.
    driver: Option<Waker>,
}

impl ControlWriter {
    /// Hand a frame over. Whether it will leave; it may not where the peer takes nothing.
    pub fn push(&self, frame: &Bytes) -> bool {
        let mut state = self.state();
        if state.waiting.len() + frame.len() > WAITING_MAX_BYTES {
            return false;
        }
        state.waiting.extend_from_slice(frame);
        if let Some(driver) = state.driver.take() {
            driver.wake();
        }
        true
    }

    /// Write what waits; driven with the connection, and only once SETTINGS are written.
    pub fn drive(&self, cx: &mut Context<'_>) {
        let mut state = self.state();
        let state = &mut *state;
        state.driver = Some(cx.waker().clone());
        let Some(stream) = &state.stream else {
            return;
        };
        let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.waiting.is_empty() {
            match Pin::new(&mut *stream).poll_write(cx, &state.waiting) {
                Poll::Ready(Ok(written)) => state.waiting.advance(written),
                // The connection has ended, or the peer broke its rules: whoever reads is told.
                Poll::Ready(Err(_)) => state.waiting.clear(),
                Poll::Pending => return,
            }
        }
    }

    /// The control stream is this one.
    pub fn open(&self, stream: SharedStream) {
        self.state().stream = Some(stream);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
