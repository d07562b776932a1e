//! The reasons for a broken message, in terms with codes in both versions. Not for: the connection
//! of the message, and the consequences there.

use crate::content_length::LengthDiffers;
use h3::error::{Code, StreamError};
use std::fmt;

/// The reason for ending a stream early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetReason {
    /// The response is no longer wanted: CANCEL, H3_REQUEST_CANCELLED.
    Cancelled,
    /// The request was not processed and may be sent again: REFUSED_STREAM, H3_REQUEST_REJECTED,
    /// and requests excluded by GOAWAY.
    Refused,
    /// Any other reason: INTERNAL_ERROR, H3_INTERNAL_ERROR.
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

/// A message broken off before the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenMessage {
    /// The other side's reason, if given.
    pub reason: ResetReason,
    /// A line of text for human readers.
    pub detail: String,
}

impl fmt::Display for BrokenMessage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.detail)
    }
}

impl From<h2::Error> for BrokenMessage {
    fn from(error: h2::Error) -> Self {
        // The streams above the last one that GOAWAY names (RFC 9113 section 6.8): no others end by
        // it.
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

impl From<StreamError> for BrokenMessage {
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

impl From<LengthDiffers> for BrokenMessage {
    fn from(error: LengthDiffers) -> Self {
        Self::here(error.to_string())
    }
}

impl BrokenMessage {
    /// Makes the error of a message broken off on this side.
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
            let from_h2 = BrokenMessage::from(h2::Error::from(reason.h2()));
            assert_eq!(from_h2.reason, reason);
            assert_eq!(from_h2.reason.h3(), reason.h3());
        }
    }
}
