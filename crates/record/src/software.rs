//! The record of a plan's own software during a trial. Not for: its version and hash; these stand in
//! the manifest.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The work of a resolver of the plan (`[software.NAME]`) during a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SoftwareRecord {
    /// Name of the software in the plan.
    pub name: String,
    /// Number of deaths before the end of this trial since the lab's start. After each death the
    /// lab started the software again.
    pub restarts_count: u32,
    /// Processor time of all processes of the software during the trial, in ns; `null` after a
    /// death.
    pub processor_time_ns: Option<u64>,
    /// Memory of all processes of the software at the trial's end, in bytes. Memory shared by
    /// processes counts once (proportional set size, proc(5)); `null` after a death, or without
    /// permission to read it.
    pub memory_bytes: Option<u64>,
    /// Last lines of output of a program that ended by itself during the trial, at most 20; `null`
    /// without a death.
    pub last_words: Option<Vec<String>>,
}
