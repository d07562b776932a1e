//! A failure that is a result of the measurement, not a defect of the instrument.

use resolab_record::Failure;
use std::fmt;

/// What went wrong on the network, from the closed list, and one line for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredFailure {
    /// Which of the closed list.
    pub failure: Failure,
    /// One line for people.
    pub detail: String,
}

impl MeasuredFailure {
    /// A failure and what is known about it.
    pub fn new(failure: Failure, detail: impl fmt::Display) -> Self {
        Self {
            failure,
            detail: detail.to_string(),
        }
    }
}

impl fmt::Display for MeasuredFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}: {}", self.failure, self.detail)
    }
}
