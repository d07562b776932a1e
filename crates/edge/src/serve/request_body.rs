//! The body of a request during its arrival: kept for a reader, else dropped at once.
//!
//! For: every HTTP version alike. Every version keeps taking bytes, and no version keeps unread
//! bytes.
//! Not for: reading streams, or their time limits.

use crate::connections::OpenConnection;
use crate::dns::wire::MESSAGE_BYTES_MAX;
use crate::http::reads_body;
use crate::state::EdgeState;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::{Request, StatusCode};

/// The received part of a body.
pub struct RequestBodyReader<'a> {
    connection: &'a OpenConnection,
    is_kept: bool,
    whole: BytesMut,
}

impl<'a> RequestBodyReader<'a> {
    /// Makes an empty intake.
    pub fn new(state: &EdgeState, connection: &'a OpenConnection, head: &Request<()>) -> Self {
        Self {
            connection,
            is_kept: reads_body(state, head),
            whole: BytesMut::new(),
        }
    }

    /// Checks the least length of a body. Errors with the status of the refusal.
    pub fn admit(&self, least_bytes: u64) -> Result<(), StatusCode> {
        if self.is_kept && least_bytes > MESSAGE_BYTES_MAX as u64 {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        Ok(())
    }

    /// Takes a received chunk. Errors with the status of the refusal.
    pub fn take(&mut self, chunk: impl Buf) -> Result<(), StatusCode> {
        if !self.is_kept {
            return Ok(());
        }
        self.admit((self.whole.len() + chunk.remaining()) as u64)?;
        if !self
            .connection
            .may_grow(self.whole.len(), chunk.remaining())
        {
            return Err(StatusCode::SERVICE_UNAVAILABLE);
        }
        self.whole.put(chunk);
        Ok(())
    }

    /// Returns the whole body; empty for a body without a reader.
    pub fn finish(self) -> Bytes {
        self.whole.freeze()
    }
}
