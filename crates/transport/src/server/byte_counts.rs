//! Bytes of one connection, counted as they pass the socket.
//!
//! For: its record, and to see whether anything moves. Not for: packets or retransmissions.

use std::sync::atomic::{AtomicU64, Ordering};

/// Payload bytes of one TCP connection.
#[derive(Debug, Default)]
pub struct ByteCounts {
    received: AtomicU64,
    sent: AtomicU64,
}

impl ByteCounts {
    /// Bytes taken from the socket.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Bytes handed to the socket.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    pub(super) fn add_received(&self, count: usize) {
        self.received.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(super) fn add_sent(&self, count: usize) {
        self.sent.fetch_add(count as u64, Ordering::Relaxed);
    }
}
