//! Live settings of a QUIC listener, and counts of their effects.

use resolab_record::RetryMode;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// The control shared by a listener and the control commands.
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
    /// Makes an accepting control with this Retry mode.
    pub fn new(retry: RetryMode) -> Self {
        Self {
            retry: AtomicU8::new(retry as u8),
            accepting: AtomicBool::new(true),
            retries_count: AtomicU64::new(0),
            refused_count: AtomicU64::new(0),
        }
    }

    /// Changes the Retry mode, from the next Initial on.
    pub fn set_retry(&self, retry: RetryMode) {
        self.retry.store(retry as u8, Ordering::Relaxed);
    }

    /// Accepts new connections, or answers CONNECTION_REFUSED.
    pub fn set_accepting(&self, accepting: bool) {
        self.accepting.store(accepting, Ordering::Relaxed);
    }

    /// Returns the number of Retry packets sent.
    pub fn retries_count(&self) -> u64 {
        self.retries_count.load(Ordering::Relaxed)
    }

    /// Returns the number of connections refused while accepting was off.
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

    /// Returns true when a client must return with a Retry's token. `after_retry`: the client has a
    /// Retry's token; `validated`: the client has a token of a Retry or a NEW_TOKEN.
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
