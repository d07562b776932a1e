//! Bodies of replies: in memory, or made while they are sent.
//!
//! For: one way to take the next bytes, so that a large body never stands in memory as a whole.
//! Not for: flow control.

use super::generated::Generated;
use bytes::Bytes;
use std::ops::Range;

/// Bytes still to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// All of them are here.
    Whole(Bytes),
    /// They are made when asked for.
    Generated(Generated),
}

/// Most bytes of a generated body in memory at once for one reply.
const GENERATED_CHUNK_BYTES: usize = 64 * 1_024;

impl Body {
    /// No bytes.
    pub const fn empty() -> Self {
        Self::Whole(Bytes::new())
    }

    /// Bytes left.
    pub fn len(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Generated(generated) => generated.len(),
        }
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A part of it; the range lies within it.
    pub fn part(&self, range: Range<u64>) -> Self {
        match self {
            Self::Whole(bytes) => {
                Self::Whole(bytes.slice(range.start as usize..range.end as usize))
            }
            Self::Generated(generated) => Self::Generated(generated.part(range)),
        }
    }

    /// Take the next bytes, at most `limit_bytes`.
    pub fn next(&mut self, limit_bytes: usize) -> Bytes {
        match self {
            Self::Whole(bytes) => bytes.split_to(limit_bytes.min(bytes.len())),
            Self::Generated(generated) => generated.next(limit_bytes.min(GENERATED_CHUNK_BYTES)),
        }
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Whole(Bytes::from(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_comes_in_pieces_no_larger_than_asked() {
        let mut body = Body::from(b"0123456789".to_vec()).part(2..9);
        assert_eq!((body.len(), &body.next(4)[..]), (7, &b"2345"[..]));
        assert_eq!((&body.next(400)[..], body.is_empty()), (&b"678"[..], true));
        assert!(Body::empty().next(9).is_empty());
    }
}
