//! The terminal side of the programs: records on standard output, one-line errors, exit codes,
//! arguments. Not for: the commands of a program.

pub mod arguments;
pub mod command_lines;
pub mod command_refusal;
pub mod open_files;
pub mod output;

/// The version and the Cargo profile of this build: `release` for users, `measured` for benchmarks.
pub const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("RESOLAB_BUILD_PROFILE"),
    " build)"
);
