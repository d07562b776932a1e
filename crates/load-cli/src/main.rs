//! resolab-load: the load generator as a program. Not for: the load (`resolab_load`); single queries
//! (`resolab-core query`).

mod arguments;
mod load_command;
mod statistics;

use arguments::Arguments;
use clap::Parser;
use mimalloc::MiMalloc;
use std::process::ExitCode;

/// The allocator: the same as of `resolab-core`.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    resolab_terminal::output::name_program("resolab-load");
    load_command::run(&Arguments::parse())
}
