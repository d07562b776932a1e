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
    /// Number of times the lab started the software again after a death, from the lab's start to
    /// this trial. A death in this trial counts in the next record.
    pub restarts_count: u32,
    /// Processor time of all processes of the software during the trial, in ns; `null` after a
    /// death. The time is the difference of sums over the threads alive at the trial's begin and
    /// at the trial's end; a thread ended in between is missing from the second sum. A negative
    /// difference is `null`.
    pub processor_time_ns: Option<u64>,
    /// Memory of all processes of the software at the trial's end, in bytes. Memory shared by
    /// processes counts once (proportional set size, proc(5)); `null` after a death, or without
    /// permission to read it.
    pub memory_bytes: Option<u64>,
    /// Last lines of output of a program that ended by itself, at most 20: during the trial, or
    /// between the trial before with this software and this trial; `null` without a death.
    pub last_words: Option<Vec<String>>,
}
