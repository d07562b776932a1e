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
    /// A failure and what is known about it. Peers have a say in the detail (a QUIC close carries
    /// a text), so control characters, line ends among them, become spaces.
    pub fn new(failure: Failure, detail: impl fmt::Display) -> Self {
        let detail = detail.to_string();
        Self {
            failure,
            detail: detail.replace(char::is_control, " "),
        }
    }
}

impl fmt::Display for MeasuredFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}: {}", self.failure, self.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_detail_is_one_line_whatever_the_peer_says() {
        let failure = MeasuredFailure::new(Failure::Other, "one\r\ntwo\x1b[31m");
        assert_eq!(failure.detail, "one  two [31m");
    }
}
