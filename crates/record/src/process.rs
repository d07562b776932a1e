//! Records of every program about itself.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The first line of every stream: program, format version, and the offset of its clock from wall
/// time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StartRecord {
    /// Format version of the writer ([`crate::FORMAT_VERSION`]).
    pub format_version: String,
    /// Subcommand of the program, e.g. `edge`.
    pub program: String,
    /// Version of resolab-core, as text.
    pub version: String,
    /// Instant of this record, `CLOCK_MONOTONIC` in ns.
    pub monotonic_ns: u64,
    /// `CLOCK_REALTIME` at the same instant, in ns since the Unix epoch.
    pub wall_time_unix_ns: u64,
}

/// The answer to one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CommandDoneRecord {
    /// Number of the command, its own `id`.
    pub id: u64,
    /// Instant of carrying out the command, `CLOCK_MONOTONIC` in ns.
    pub monotonic_ns: u64,
    /// The error of the command, in one line; `null` without an error.
    pub error: Option<String>,
}
