//! The reason for ending a command without a result, as an exit code and a line for people. Not
//! for: the meaning of exit codes, or printing (`output`).

use crate::output;
use std::fmt::Display;
use std::io;
use std::process::ExitCode;

/// An exit code and a line; the line is empty when the reader has gone.
pub struct CommandRefusal {
    /// The exit code, one of `output`.
    pub code: u8,
    line: String,
}

impl CommandRefusal {
    /// Creates the refusal of a wrong file or value.
    pub fn configuration(what: impl Display) -> Self {
        Self {
            code: output::EXIT_CONFIGURATION,
            line: format!("failed to {what}"),
        }
    }

    /// Creates the refusal for a missing permission, device or program of the machine.
    pub fn machine(what: impl Display) -> Self {
        Self {
            code: output::EXIT_MACHINE,
            line: format!("failed to {what}"),
        }
    }

    /// Creates the refusal of a wrong command line.
    pub fn usage(what: impl Display) -> Self {
        Self {
            code: output::EXIT_USAGE,
            line: format!("failed to {what}"),
        }
    }

    /// Creates the refusal of an unsupported combination.
    pub fn unsupported(what: impl Display) -> Self {
        Self {
            code: output::EXIT_UNSUPPORTED,
            line: format!("failed to {what}"),
        }
    }

    /// Creates the refusal for a defect of the program.
    pub fn internal(what: impl Display) -> Self {
        Self {
            code: output::EXIT_INTERNAL,
            line: format!("failed to {what}"),
        }
    }

    /// Creates the refusal for work not done in time.
    pub fn deadline(what: impl Display) -> Self {
        Self {
            code: output::EXIT_DEADLINE,
            line: format!("failed to {what}"),
        }
    }

    /// Creates the refusal for a failed write to standard output. The line is empty when the reader
    /// has gone.
    #[expect(clippy::needless_pass_by_value)] // as map_err has it
    pub fn unwritten(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self {
                code: output::EXIT_BROKEN_PIPE,
                line: String::new(),
            };
        }
        Self::machine(format_args!("write to standard output: {error}"))
    }

    /// Prints the line and returns the exit code.
    pub fn exit(self) -> ExitCode {
        output::fail(self.code, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_the_machines_and_a_reader_gone_is_silent() {
        let full = CommandRefusal::unwritten(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.code, output::EXIT_MACHINE);
        assert!(
            full.line
                .starts_with("failed to write to standard output: ")
        );
        let gone = CommandRefusal::unwritten(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!(
            (gone.code, gone.line.as_str()),
            (output::EXIT_BROKEN_PIPE, "")
        );
    }
}
