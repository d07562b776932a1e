//! Records every program writes about itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// First line of every stream: who speaks, in which format, and how its clock stands to the wall's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartRecord {
    /// [`crate::FORMAT_VERSION`] of the writer.
    pub format_version: String,
    /// Subcommand, e.g. `edge`.
    pub program: String,
    /// resolab-core's version.
    pub version: String,
    /// `CLOCK_MONOTONIC` now.
    pub monotonic_ns: u64,
    /// `CLOCK_REALTIME` at the same moment, nanoseconds since the Unix epoch.
    pub wall_time_unix_ns: u64,
}

/// The answer to one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandDoneRecord {
    /// The command's own `id`.
    pub id: u64,
    /// `CLOCK_MONOTONIC` when it was carried out.
    pub monotonic_ns: u64,
    /// `null`, or one line that says what was wrong with it.
    pub error: Option<String>,
}
