//! The errors of a run without load. Not for: failed queries; the tally counts failed queries.

use resolab_record::Failure;
use resolab_transport::client::TlsConfigError;
use std::net::SocketAddr;
use thiserror::Error;

/// An error of a run without load.
#[derive(Debug, Error)]
pub enum LoadError {
    /// No connection is available at the beginning.
    #[error("connect to {resolver}: {reason}")]
    Connect {
        /// The address of the attempted connection.
        resolver: SocketAddr,
        /// The phase of the failure.
        failure: Failure,
        /// The system's error message.
        reason: String,
    },
    /// The kernel refused an operation.
    #[error("{attempt}: {source}")]
    Kernel {
        /// The attempted operation, as text.
        attempt: &'static str,
        /// The error of the kernel.
        source: std::io::Error,
    },
    /// The run needs more sockets than the limit of this process.
    #[error(
        "open a socket for each connection: {0}; raise the limit of open files (ulimit -n), or give \
         fewer --connections"
    )]
    TooManySockets(std::io::Error),
    /// TLS or QUIC cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsConfigError),
    /// A worker thread broke.
    #[error("run a worker: it panicked")]
    Panicked,
    /// The failure of another worker; the other worker's error has the reason.
    #[error("start: another worker could not")]
    CalledOff,
    /// The options of the run contradict each other.
    #[error("{0}")]
    Unsupported(&'static str),
}

impl LoadError {
    /// Creates the error of a connection unable to begin.
    pub fn from_connect_failure(
        resolver: SocketAddr,
        failure: Failure,
        error: std::io::Error,
    ) -> Self {
        match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => Self::TooManySockets(error),
            _ => Self::Connect {
                resolver,
                failure,
                reason: error.to_string(),
            },
        }
    }

    /// Creates the error of an `attempt` refused by the kernel.
    pub fn kernel(attempt: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Kernel { attempt, source }
    }
}
