//! The body of a request while it arrives: kept where somebody reads it, else dropped as it comes.
//!
//! For: every HTTP version alike, so that none stops taking bytes and none keeps what nobody reads.
//! Not for: reading streams, or how long that may take.

use crate::connections::OpenConnection;
use crate::dns::wire::MESSAGE_BYTES_MAX;
use crate::http::reads_body;
use crate::world::World;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::{Request, StatusCode};

/// What has arrived of a body.
pub struct Intake<'a> {
    connection: &'a OpenConnection,
    is_kept: bool,
    whole: BytesMut,
}

impl<'a> Intake<'a> {
    /// Nothing has arrived.
    pub fn new(world: &World, connection: &'a OpenConnection, head: &Request<()>) -> Self {
        Self {
            connection,
            is_kept: reads_body(world, head),
            whole: BytesMut::new(),
        }
    }

    /// Whether a body of at least so many bytes is taken at all; `Err` with the status to refuse it with.
    pub fn admit(&self, least_bytes: u64) -> Result<(), StatusCode> {
        if self.is_kept && least_bytes > MESSAGE_BYTES_MAX as u64 {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        Ok(())
    }

    /// Take what came; `Err` with the status to refuse the rest with.
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

    /// All there is; nothing where nobody reads it.
    pub fn finish(self) -> Bytes {
        self.whole.freeze()
    }
}
