//! Our own frames on this side's control stream, each whole, behind SETTINGS. Handing a frame over
//! never waits: bytes beyond the peer's window leave when the window opens.
//!
//! Not for: the choice of frames.

use crate::quic_streams::SharedStream;
use bytes::{Buf, Bytes, BytesMut};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Maximum number of bytes waiting for the peer's window; further frames are dropped.
const WAITING_MAX_BYTES: usize = 64 << 10;

/// The writer of the control stream, shared by all senders of frames.
#[derive(Debug, Clone, Default)]
pub(crate) struct ControlWriter(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    stream: Option<SharedStream>,
    waiting: BytesMut,
    /// Waker of the task driving the connection.
    driver: Option<Waker>,
}

impl ControlWriter {
    /// Hands a frame over. Returns false when the frame is dropped: the peer reads nothing and too
    /// many bytes wait.
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

    /// Writes waiting bytes. Driven with the connection, and only after SETTINGS are written.
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

    /// Sets the control stream to write to.
    pub fn open(&self, stream: SharedStream) {
        self.state().stream = Some(stream);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
