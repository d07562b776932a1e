//! The end of a connection of the edge: the ending side, the code, and the failure, if any.

use resolab_record::Failure;

/// The end of one connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectionEnding {
    /// The failure; `None` for an orderly end.
    pub failure: Option<Failure>,
    /// The reason as a line for people.
    pub detail: Option<String>,
    /// True when the client ended the connection; `None` when unknown.
    pub by_client: Option<bool>,
    /// The code of the CONNECTION_CLOSE or GOAWAY.
    pub close_code: Option<u64>,
}

impl ConnectionEnding {
    /// Returns an orderly end by the client.
    pub fn orderly() -> Self {
        Self {
            by_client: Some(true),
            ..Self::default()
        }
    }

    /// Returns an orderly end by this side, with the reason.
    pub fn from_note(detail: impl Into<String>) -> Self {
        Self {
            detail: Some(detail.into()),
            by_client: Some(false),
            ..Self::default()
        }
    }

    /// Returns an end by a failure.
    pub fn from_failure(failure: Failure, detail: impl Into<String>) -> Self {
        Self {
            failure: Some(failure),
            detail: Some(detail.into()),
            ..Self::default()
        }
    }

    /// Sets the ending side.
    #[must_use]
    pub fn ended_by_client(mut self, by_client: bool) -> Self {
        self.by_client = Some(by_client);
        self
    }

    /// Sets the code sent or received.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<u64>) -> Self {
        self.close_code = Some(code.into());
        self
    }
}
