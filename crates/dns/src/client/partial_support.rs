//! Whether a resolver knows partial responses, as far as it was tried. Not for: trying.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The present knowledge of a resolver, until it is forgotten.
#[derive(Debug, Default)]
pub(crate) struct PartialSupports(Mutex<Arc<PartialSupport>>);

impl PartialSupports {
    /// The present one. Messages under way keep theirs, and all that they learn after it was forgotten is lost.
    pub fn current(&self) -> Arc<PartialSupport> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// As at the start.
    pub fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::default();
    }
}

/// What is known of a resolver.
#[derive(Debug, Default)]
pub(crate) struct PartialSupport(AtomicU8);

const KNOWN: u8 = 1;
const REFUSED: u8 = 2;

impl PartialSupport {
    /// It gave one.
    pub fn is_known(&self) -> bool {
        self.0.load(Ordering::Relaxed) == KNOWN
    }

    /// It refused a message that wanted some.
    pub fn is_refused(&self) -> bool {
        self.0.load(Ordering::Relaxed) == REFUSED
    }

    /// From now on.
    pub fn learn(&self, is_known: bool) {
        let what = if is_known { KNOWN } else { REFUSED };
        self.0.store(what, Ordering::Relaxed);
    }
}
