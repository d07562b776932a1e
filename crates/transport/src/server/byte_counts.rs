//! Byte counts of one connection, taken at the socket.
//!
//! For: the connection's record, and for detecting progress. Not for: packets or retransmissions.

use std::sync::atomic::{AtomicU64, Ordering};

/// The payload byte counts of one TCP connection.
#[derive(Debug, Default)]
pub struct ByteCounts {
    received: AtomicU64,
    sent: AtomicU64,
}

impl ByteCounts {
    /// Returns the number of bytes read from the socket.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes written to the socket.
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
