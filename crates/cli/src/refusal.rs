//! Why a command ends without what it was for, as an exit code and one line for people. Not for: what the
//! codes mean, or printing (`output`).

use crate::output;
use std::fmt::Display;
use std::io;
use std::process::ExitCode;

/// An exit code and a line; without a word where nobody reads on.
pub struct Refusal {
    pub code: u8,
    line: String,
}

impl Refusal {
    /// Something that was given is wrong.
    pub fn configuration(what: impl Display) -> Self {
        Self {
            code: output::EXIT_CONFIGURATION,
            line: format!("failed to {what}"),
        }
    }

    /// The machine lacks a permission.
    pub fn machine(what: impl Display) -> Self {
        Self {
            code: output::EXIT_MACHINE,
            line: format!("failed to {what}"),
        }
    }

    /// The command line cannot mean anything.
    pub fn usage(what: impl Display) -> Self {
        Self {
            code: output::EXIT_USAGE,
            line: format!("failed to {what}"),
        }
    }

    /// What was asked for does not go together.
    pub fn unsupported(what: impl Display) -> Self {
        Self {
            code: output::EXIT_UNSUPPORTED,
            line: format!("failed to {what}"),
        }
    }

    /// resolab-core itself is broken.
    pub fn internal(what: impl Display) -> Self {
        Self {
            code: output::EXIT_INTERNAL,
            line: format!("failed to {what}"),
        }
    }

    /// What was to be done was not done in time.
    pub fn deadline(what: impl Display) -> Self {
        Self {
            code: output::EXIT_DEADLINE,
            line: format!("failed to {what}"),
        }
    }

    /// Standard output takes nothing more: nothing is said where who read it has gone.
    #[expect(clippy::needless_pass_by_value)] // as map_err has it
    pub fn unwritten(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self {
                code: output::EXIT_BROKEN_PIPE,
                line: String::new(),
            };
        }
        Self::internal(format_args!("write to standard output: {error}"))
    }

    /// Say it and end.
    pub fn exit(self) -> ExitCode {
        output::fail(self.code, self.line)
    }
}
