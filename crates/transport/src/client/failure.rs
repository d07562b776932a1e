//! A failure as a result of the measurement, not as a defect of the instrument.

use resolab_record::Failure;
use std::fmt;

/// A failure on the network: a code from the closed list, and a line for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredFailure {
    /// The failure code from the closed list.
    pub failure: Failure,
    /// The reason as a line for people.
    pub detail: String,
}

impl MeasuredFailure {
    /// Makes a failure with its known detail. Peers influence the detail: a QUIC close carries a
    /// text.
    pub fn new(failure: Failure, detail: impl fmt::Display) -> Self {
        Self {
            failure,
            detail: one_line(&detail.to_string()),
        }
    }
}

impl fmt::Display for MeasuredFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.failure, self.detail)
    }
}

/// Returns a peer's text as a line without terminal commands and with a single reading direction.
/// Control characters, line ends and the marks of writing directions (Unicode Standard Annex #9)
/// become spaces.
pub fn one_line(text: &str) -> String {
    let is_command = |character: char| {
        character.is_control()
            || matches!(
                character,
                '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            )
    };
    text.replace(is_command, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_detail_is_one_line_whatever_the_peer_says() {
        let failure = MeasuredFailure::new(Failure::Other, "one\r\ntwo\x1b[31m");
        assert_eq!(failure.detail, "one  two [31m");
        assert_eq!(failure.to_string(), "other: one  two [31m");
        // A C1 control (ECMA-48), a line end and an override of the writing direction.
        assert_eq!(
            one_line("a\u{9b}31mb\u{2028}c\u{202e}d ü。"),
            "a 31mb c d ü。"
        );
    }
}
