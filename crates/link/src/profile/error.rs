//! The reasons for a missing or unusable profile. Not for: checking profiles.

use crate::elements::trace::TraceError;
use std::path::PathBuf;
use thiserror::Error;

/// The reason for a missing profile; messages read after "failed to".
#[derive(Debug, Error)]
pub enum ProfileError {
    /// The file cannot be read.
    #[error("read profile {path}: {source}")]
    Unreadable {
        /// Path of the profile's file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not TOML, or has unknown keys.
    #[error("read profile {path}, line {line}: {message}")]
    Malformed {
        /// Path of the profile's file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// Description of the error.
        message: String,
    },
    /// A value is outside the permitted range.
    #[error("use profile {profile:?}: {key} = {value} is outside {min} to {max}")]
    OutOfRange {
        /// Name of the profile.
        profile: String,
        /// The key in full.
        key: String,
        /// The value in the file.
        value: f64,
        /// Smallest permitted value of the key.
        min: f64,
        /// Largest permitted value of the key.
        max: f64,
    },
    /// A key has an impossible value, or conflicts with another key.
    #[error("use profile {profile:?}: {key} must be {expected}")]
    BadText {
        /// Name of the profile.
        profile: String,
        /// Name of the key.
        key: String,
        /// Description of the permitted values.
        expected: &'static str,
    },
    /// The profile's trace is missing or invalid.
    #[error("use profile {profile:?}: {key}: failed to {error}")]
    Trace {
        /// Name of the profile.
        profile: String,
        /// The key in full.
        key: String,
        /// The error of the trace.
        error: TraceError,
    },
    /// No file has this name.
    #[error("find profile {name:?}: there is {known} (looked in {folders})")]
    Unknown {
        /// The profile name in the request.
        name: String,
        /// Names of the existing profiles.
        known: String,
        /// The folders looked through.
        folders: String,
    },
}
