//! Placeholder until its room is built.

use std::process::ExitCode;

/// Arguments.
#[derive(clap::Args)]
pub struct Arguments {}

/// Run.
pub fn run(_arguments: Arguments) -> ExitCode {
    crate::output::fail(crate::output::EXIT_INTERNAL, "not built yet")
}
