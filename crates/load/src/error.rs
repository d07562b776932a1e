//! Why there is no load. Not for: queries that fail; those are counted.

use resolab_record::Failure;
use resolab_transport::client::TlsConfigError;
use std::net::SocketAddr;
use thiserror::Error;

/// Why there was no load.
#[derive(Debug, Error)]
pub enum LoadError {
    /// No connection to begin with.
    #[error("connect to {resolver}: {reason}")]
    Connect {
        /// Address that was connected to.
        resolver: SocketAddr,
        /// How far it came.
        failure: Failure,
        /// What was wrong.
        reason: String,
    },
    /// The kernel refused something.
    #[error("{attempt}: {source}")]
    Kernel {
        /// What was attempted.
        attempt: &'static str,
        /// What was wrong.
        source: std::io::Error,
    },
    /// No TLS or QUIC.
    #[error(transparent)]
    Tls(#[from] TlsConfigError),
    /// A worker thread broke.
    #[error("run a worker: it panicked")]
    Panicked,
    /// Another worker failed; its error says why.
    #[error("start: another worker could not")]
    CalledOff,
    /// What was asked for does not go together.
    #[error("{0}")]
    Unsupported(&'static str),
}

impl LoadError {
    /// The kernel refused `attempt`.
    pub fn kernel(attempt: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Kernel { attempt, source }
    }
}
