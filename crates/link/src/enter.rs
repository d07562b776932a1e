//! Running a program in a host of a path that stands: with the host's network, a resolver
//! configuration of its own, and processes of its own, so that nothing of it outlives the path.
//! The caller's uid, standard streams, environment and other open descriptors stay as they are.
//! Not for: making the hosts (that is `path`).
//!
//! Three processes: the caller's, which watches the path and forwards signals ([`supervise`]); the
//! first process of a new pid namespace, which starts the program and reaps ([`init`]); and the
//! program. When the first or second dies, the kernel kills everything after it.

mod init;
pub(crate) mod join;
mod mounts;
mod signals;
mod supervise;

pub use supervise::{Ending, Guest};

use crate::hosts::Host;
use nix::errno::Errno;
use nix::unistd::Pid;
use std::ffi::OsString;
use std::net::IpAddr;
use thiserror::Error;

/// What to run, and where.
#[derive(Debug, Clone)]
pub struct Order {
    /// Process id of the path.
    pub path: i32,
    /// Which of its hosts.
    pub host: Host,
    /// The only name server the program's resolver knows.
    pub nameserver: IpAddr,
    /// Text of the program's `/etc/hosts`.
    pub hosts_text: String,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

/// Why the program does not run; messages read after "failed to".
#[derive(Debug, Error)]
pub enum EnterError {
    /// No such path.
    #[error("enter path {0}: no path has this process id; take it from the path_ready record")]
    NoPath(Pid),
    /// Somebody else's.
    #[error("enter path {path}: it belongs to user {owner}; run this as that user")]
    OtherUser {
        /// The path.
        path: Pid,
        /// Its user id.
        owner: u32,
    },
    /// The kernel refuses.
    #[error("enter path {path}'s {host} host: {error}; run this as the user that runs the path")]
    Join {
        /// The path.
        path: Pid,
        /// The host.
        host: &'static str,
        /// What the kernel answered.
        error: Errno,
    },
    /// The program's private view of the machine could not be made.
    #[error("{0}")]
    View(String),
    /// The program itself.
    #[error("{0}")]
    Program(String),
}

impl EnterError {
    /// The kernel refuses a host.
    pub(crate) fn refused(path: Pid, host: Host, error: Errno) -> Self {
        Self::Join {
            path,
            host: host.name(),
            error,
        }
    }
}

/// Start the program. The calling process must have one thread only and is in the host's
/// namespaces afterwards.
pub fn start(order: &Order) -> Result<Guest, EnterError> {
    let path = join::join_host(Pid::from_raw(order.path), order.host)?;
    supervise::start(order, path)
}
