//! The record of a value that a study's own trial has measured.
//!
//! For: times, counts and bytes with names declared by the study. Not for: any study; the Python
//! half has their declarations.

use crate::failure::Failure;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One value of a study's trial: a time, a count or a number of bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StudyValueRecord {
    /// Name of the value with its unit, as declared by the study, e.g. `mean_ms`.
    pub name: String,
    /// The value, in the unit of its name; `null` after a failure.
    #[serde(default)]
    pub value: Option<f64>,
    /// Limit of a time, in ms, and so the lower bound of a missing time; `null` for other values.
    #[serde(default)]
    pub limit_ms: Option<f64>,
    /// Reason for the failure of the measured part; `null` means success.
    #[serde(default)]
    pub failure: Option<Failure>,
    /// Text of the failure's cause; `null` without a cause.
    #[serde(default)]
    pub failure_detail: Option<String>,
}
