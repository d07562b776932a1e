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
    /// More sockets than this process may have.
    #[error(
        "open a socket for each connection: {0}; raise the limit of open files (ulimit -n), or give \
         fewer --connections"
    )]
    TooManySockets(std::io::Error),
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
    /// A connection could not begin.
    pub fn not_connected(resolver: SocketAddr, failure: Failure, error: std::io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => Self::TooManySockets(error),
            _ => Self::Connect {
                resolver,
                failure,
                reason: error.to_string(),
            },
        }
    }

    /// The kernel refused `attempt`.
    pub fn kernel(attempt: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Kernel { attempt, source }
    }
}
