//! Writes records to standard output and one-line errors to standard error; defines the exit codes.
//! Beside this module, only the commands `edge` and `schema` of resolab-core write to standard
//! output.

use resolab_record::{FORMAT_VERSION, Record, StartRecord};
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// The exit code when a `--fail` condition is met.
pub const EXIT_CONDITION: u8 = 1;
/// The exit code for a wrong command line.
pub const EXIT_USAGE: u8 = 2;
/// The exit code for a wrong file or value.
pub const EXIT_CONFIGURATION: u8 = 3;
/// The exit code when the machine lacks a permission, a device or a program.
pub const EXIT_MACHINE: u8 = 4;
/// The exit code when the work was not done in time.
pub const EXIT_DEADLINE: u8 = 5;
/// The exit code for an unsupported combination of options.
pub const EXIT_UNSUPPORTED: u8 = 127;
/// The exit code when the reader of standard output has gone, like `head`: the code of a shell for
/// a program ended by SIGPIPE.
pub const EXIT_BROKEN_PIPE: u8 = 141;
/// The exit code for a defect of the program.
pub const EXIT_INTERNAL: u8 = 70;

/// Writes a record as a line and flushes; a reader never waits for a buffer.
pub fn write_record(record: &Record) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

/// Writes text for people to standard output, on request of the user.
pub fn write_text(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Returns the first record of a program's output.
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

/// Ends with a line about the failure and the remedy; prints no line for an empty message.
pub fn fail(code: u8, message: impl Display) -> ExitCode {
    let message = message.to_string();
    if !message.is_empty() {
        note(message);
    }
    ExitCode::from(code)
}

/// Writes a message to the person at the terminal.
pub fn note(message: impl Display) {
    let program = PROGRAM.get().unwrap_or(&"resolab");
    // The reader may have gone: `eprintln!` would panic then.
    let _ = writeln!(std::io::stderr(), "{program}: {message}");
}

/// The program's name in its messages.
static PROGRAM: OnceLock<&str> = OnceLock::new();

/// Sets the program's name in its messages, once, at the start.
pub fn name_program(name: &'static str) {
    PROGRAM.get_or_init(|| name);
}
