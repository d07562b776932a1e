//! Why a profile cannot be had or used. Not for: finding that out.

use crate::elements::trace::TraceError;
use std::path::PathBuf;
use thiserror::Error;

/// Why there is no profile; messages read after "failed to".
#[derive(Debug, Error)]
pub enum ProfileError {
    /// The file cannot be read.
    #[error("read profile {path}: {source}")]
    Unreadable {
        /// As tried.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Not TOML, or not these keys.
    #[error("read profile {path}, line {line}: {message}")]
    Malformed {
        /// As tried.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// A value that cannot be meant.
    #[error("use profile {profile:?}: {key} = {value} is outside {min} to {max}")]
    OutOfRange {
        /// Its name.
        profile: String,
        /// The key in full.
        key: String,
        /// As given.
        value: f64,
        /// Smallest allowed.
        min: f64,
        /// Largest allowed.
        max: f64,
    },
    /// A key that cannot serve its purpose, or goes badly with another.
    #[error("use profile {profile:?}: {key} must be {expected}")]
    BadText {
        /// Its name.
        profile: String,
        /// The key.
        key: String,
        /// What it must be.
        expected: &'static str,
    },
    /// The trace it names is missing or none.
    #[error("use profile {profile:?}: {key}: failed to {error}")]
    Trace {
        /// Its name.
        profile: String,
        /// The key in full.
        key: String,
        /// What is wrong with the trace.
        error: TraceError,
    },
    /// No file of that name.
    #[error("find profile {name:?}: there is {known} (looked in {folders})")]
    Unknown {
        /// As asked for.
        name: String,
        /// What exists instead.
        known: String,
        /// The folders looked through.
        folders: String,
    },
}
