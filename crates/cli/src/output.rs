//! Writing records to standard output and one-line errors to standard error, and the exit codes.
//! The only place that prints.

use resolab_record::{FORMAT_VERSION, Record, StartRecord};
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// A condition the user gave for failing held.
pub const EXIT_CONDITION: u8 = 1;
/// Usage: the command line cannot mean anything.
pub const EXIT_USAGE: u8 = 2;
/// A file or value that was given is wrong.
pub const EXIT_CONFIGURATION: u8 = 3;
/// The machine lacks a permission, a device or a program.
pub const EXIT_MACHINE: u8 = 4;
/// What was to be done was not done in time.
pub const EXIT_DEADLINE: u8 = 5;
/// What was asked for does not go together.
pub const EXIT_UNSUPPORTED: u8 = 127;
/// Nobody reads on, as `head` does: as a shell gives it for a program that SIGPIPE ended.
pub const EXIT_BROKEN_PIPE: u8 = 141;
/// resolab-core itself is broken.
pub const EXIT_INTERNAL: u8 = 70;

/// Write one record as a line and flush it, so that a reader never waits for a buffer.
pub fn write_record(record: &Record) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

/// Write text for people to standard output, where it was asked for.
pub fn write_text(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The first line of a program's stream.
pub fn start_record(program: &str, monotonic_ns: u64) -> Record {
    let wall = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Record::Start(StartRecord {
        format_version: FORMAT_VERSION.to_owned(),
        program: program.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        monotonic_ns,
        wall_time_unix_ns: wall.as_nanos() as u64,
    })
}

/// End with one line that says what failed and what to do; without a word if there is none.
pub fn fail(code: u8, message: impl Display) -> ExitCode {
    let message = message.to_string();
    if !message.is_empty() {
        note(message);
    }
    ExitCode::from(code)
}

/// Say something to the person at the terminal.
pub fn note(message: impl Display) {
    // Who read it may have gone: `eprintln!` would panic then.
    let _ = writeln!(std::io::stderr(), "resolab-core: {message}");
}
