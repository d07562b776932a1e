//! Qlogs in a build without the feature `qlog`: a request for them is refused. Not for: writing qlogs
//! (`qlog`).

use quinn::{ClientConfig, TransportConfig};
use std::convert::Infallible;
use std::io;
use thiserror::Error;

/// The environment variable requesting the logs.
const VARIABLE: &str = "QLOGDIR";

/// Qlogs are requested from a build without them.
#[derive(Debug, Error)]
#[error(
    "write qlogs to {folder} ({VARIABLE}): this build is without them; unset {VARIABLE}, or use the \
     measured build (scripts/setup --measured, RESOLAB_CORE=target/measured/resolab-core)"
)]
pub struct QlogFolderError {
    folder: String,
}

/// The folder for the logs: there is never one.
#[derive(Debug, Clone)]
pub struct QlogFolder(Infallible);

impl QlogFolder {
    /// Returns `None` when the environment requests no logs, else an error.
    pub fn from_environment() -> Result<Option<Self>, QlogFolderError> {
        match std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) {
            None => Ok(None),
            Some(folder) => Err(QlogFolderError {
                folder: folder.display().to_string(),
            }),
        }
    }

    /// Is never called: there is no folder.
    pub fn log_next(&self, _: String, _: TransportConfig, _: &mut ClientConfig) -> io::Result<()> {
        match self.0 {}
    }
}
