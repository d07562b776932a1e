//! How a connection of the edge ended: who ended it, with which code, and whether it was a failure.

use resolab_record::Failure;

/// How a connection ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    /// `None` for an orderly end.
    pub failure: Option<Failure>,
    /// One line for people.
    pub detail: Option<String>,
    /// Who ended it; `None` where it cannot be told.
    pub by_client: Option<bool>,
    /// Code of the CONNECTION_CLOSE or GOAWAY.
    pub close_code: Option<u64>,
}

impl Ending {
    /// The client ended it in good order.
    pub fn orderly() -> Self {
        Self {
            by_client: Some(true),
            ..Self::default()
        }
    }

    /// This side ended it in good order, for a reason.
    pub fn noted(detail: impl Into<String>) -> Self {
        Self {
            detail: Some(detail.into()),
            by_client: Some(false),
            ..Self::default()
        }
    }

    /// A failure.
    pub fn failed(failure: Failure, detail: impl Into<String>) -> Self {
        Self {
            failure: Some(failure),
            detail: Some(detail.into()),
            ..Self::default()
        }
    }

    /// With who ended it.
    #[must_use]
    pub fn by_client(mut self, by_client: bool) -> Self {
        self.by_client = Some(by_client);
        self
    }

    /// With the code that was sent or received.
    #[must_use]
    pub fn code(mut self, code: impl Into<u64>) -> Self {
        self.close_code = Some(code.into());
        self
    }
}
