//! What can be changed about a QUIC listener while it runs, and what it did about it.

use resolab_record::RetryMode;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// Shared by a listener and whoever commands it.
#[derive(Debug)]
pub struct QuicControl {
    retry: AtomicU8,
    accepting: AtomicBool,
    retries_count: AtomicU64,
    refused_count: AtomicU64,
}

impl Default for QuicControl {
    fn default() -> Self {
        Self::new(RetryMode::Off)
    }
}

impl QuicControl {
    /// Accepting, with this use of Retry.
    pub fn new(retry: RetryMode) -> Self {
        Self {
            retry: AtomicU8::new(retry as u8),
            accepting: AtomicBool::new(true),
            retries_count: AtomicU64::new(0),
            refused_count: AtomicU64::new(0),
        }
    }

    /// Use Retry otherwise, from the next Initial on.
    pub fn set_retry(&self, retry: RetryMode) {
        self.retry.store(retry as u8, Ordering::Relaxed);
    }

    /// Take new connections, or answer CONNECTION_REFUSED.
    pub fn set_accepting(&self, accepting: bool) {
        self.accepting.store(accepting, Ordering::Relaxed);
    }

    /// Retry packets sent.
    pub fn retries_count(&self) -> u64 {
        self.retries_count.load(Ordering::Relaxed)
    }

    /// Connections refused because none were taken.
    pub fn refused_count(&self) -> u64 {
        self.refused_count.load(Ordering::Relaxed)
    }

    pub(super) fn admits(&self) -> bool {
        let accepting = self.accepting.load(Ordering::Relaxed);
        if !accepting {
            self.refused_count.fetch_add(1, Ordering::Relaxed);
        }
        accepting
    }

    /// Whether a client must come back with a Retry's token. `after_retry`: it does; `validated`:
    /// it has that or a NEW_TOKEN's.
    pub(super) fn wants_retry(&self, validated: bool, after_retry: bool) -> bool {
        let mode = self.retry.load(Ordering::Relaxed);
        let wanted = if mode == RetryMode::Always as u8 {
            !after_retry
        } else {
            mode == RetryMode::WithoutToken as u8 && !validated
        };
        self.retries_count
            .fetch_add(u64::from(wanted), Ordering::Relaxed);
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_is_asked_of_whom_the_mode_says() {
        let control = QuicControl::new(RetryMode::Off);
        assert!(!control.wants_retry(false, false));
        control.set_retry(RetryMode::WithoutToken);
        assert!(control.wants_retry(false, false));
        assert!(!control.wants_retry(true, false) && !control.wants_retry(true, true));
        control.set_retry(RetryMode::Always);
        assert!(control.wants_retry(false, false) && control.wants_retry(true, false));
        assert!(!control.wants_retry(true, true));
        assert_eq!(control.retries_count(), 3);
    }
}
