//! A resolver's support for partial responses, as far as tried. Not for: trying.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The present knowledge of a resolver, until forgotten.
#[derive(Debug, Default)]
pub(crate) struct PartialSupports(Mutex<Arc<PartialSupport>>);

impl PartialSupports {
    /// Returns the present knowledge. Pending messages keep theirs; their later findings are lost
    /// after `forget`.
    pub fn current(&self) -> Arc<PartialSupport> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the knowledge with the state at the start.
    pub fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::default();
    }
}

/// One resolver's support: known, refused, or not yet tried.
#[derive(Debug, Default)]
pub(crate) struct PartialSupport(AtomicU8);

const KNOWN: u8 = 1;
const REFUSED: u8 = 2;

impl PartialSupport {
    /// Returns true when the resolver has sent a partial response.
    pub fn is_known(&self) -> bool {
        self.0.load(Ordering::Relaxed) == KNOWN
    }

    /// Returns true when the resolver refused a message asking for partial responses.
    pub fn is_refused(&self) -> bool {
        self.0.load(Ordering::Relaxed) == REFUSED
    }

    /// Keeps the finding: support known, or refused.
    pub fn learn(&self, is_known: bool) {
        let what = if is_known { KNOWN } else { REFUSED };
        self.0.store(what, Ordering::Relaxed);
    }
}
