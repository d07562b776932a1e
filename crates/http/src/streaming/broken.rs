//! Why a message broke off, in words both versions have codes for. Not for: which connection it was
//! on, and what that means.

use crate::content_length::LengthDiffers;
use h3::error::{Code, StreamError};
use std::fmt;

/// Why one side ended a stream before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetReason {
    /// The response is not wanted any more: CANCEL, H3_REQUEST_CANCELLED.
    Cancelled,
    /// The request was not looked at and may be sent again: REFUSED_STREAM, H3_REQUEST_REJECTED, and
    /// what GOAWAY leaves out.
    Refused,
    /// Anything else: INTERNAL_ERROR, H3_INTERNAL_ERROR.
    Failed,
}

impl ResetReason {
    pub(super) fn h2(self) -> h2::Reason {
        match self {
            Self::Cancelled => h2::Reason::CANCEL,
            Self::Refused => h2::Reason::REFUSED_STREAM,
            Self::Failed => h2::Reason::INTERNAL_ERROR,
        }
    }

    pub(super) fn h3(self) -> Code {
        match self {
            Self::Cancelled => Code::H3_REQUEST_CANCELLED,
            Self::Refused => Code::H3_REQUEST_REJECTED,
            Self::Failed => Code::H3_INTERNAL_ERROR,
        }
    }
}

/// A message that will not be whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenOff {
    /// As the other side said, where it did.
    pub reason: ResetReason,
    /// One line for people.
    pub detail: String,
}

impl fmt::Display for BrokenOff {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.detail)
    }
}

impl From<h2::Error> for BrokenOff {
    fn from(error: h2::Error) -> Self {
        // The streams above the last one that GOAWAY names (RFC 9113 section 6.8): no others end by it.
        let is_unprocessed = error.is_go_away() && error.is_remote();
        let reason = match error.reason() {
            _ if is_unprocessed => ResetReason::Refused,
            Some(h2::Reason::CANCEL) => ResetReason::Cancelled,
            Some(h2::Reason::REFUSED_STREAM) => ResetReason::Refused,
            _ => ResetReason::Failed,
        };
        Self {
            reason,
            detail: error.to_string(),
        }
    }
}

impl From<StreamError> for BrokenOff {
    fn from(error: StreamError) -> Self {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the errors are h3's, and those with a code of the other side's are named"
        )]
        let reason = match &error {
            StreamError::RemoteTerminate { code, .. } => match *code {
                Code::H3_REQUEST_CANCELLED => ResetReason::Cancelled,
                Code::H3_REQUEST_REJECTED => ResetReason::Refused,
                _ => ResetReason::Failed,
            },
            _ => ResetReason::Failed,
        };
        Self {
            reason,
            detail: error.to_string(),
        }
    }
}

impl From<LengthDiffers> for BrokenOff {
    fn from(error: LengthDiffers) -> Self {
        Self::here(error.to_string())
    }
}

impl BrokenOff {
    /// Broken off on this side.
    pub fn here(detail: impl Into<String>) -> Self {
        Self {
            reason: ResetReason::Failed,
            detail: detail.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_keeps_its_meaning_from_one_version_to_the_other() {
        for reason in [
            ResetReason::Cancelled,
            ResetReason::Refused,
            ResetReason::Failed,
        ] {
            let from_h2 = BrokenOff::from(h2::Error::from(reason.h2()));
            assert_eq!(from_h2.reason, reason);
            assert_eq!(from_h2.reason.h3(), reason.h3());
        }
    }
}
