//! Runs a program in a host of a running path, or on the machine's own network ([`start_here`]).
//! The program gets a private resolver configuration and a private process tree. No process of the
//! program outlives the path, or the process starting the program. The caller's uid, standard
//! streams, environment and other open descriptors stay the same. Not for: making the hosts (see
//! `path`).
//!
//! Three processes take part. The caller's process watches the path and forwards signals
//! ([`supervise`]). The first process of a new pid namespace starts the program and reaps
//! ([`init`]). The third is the program. When the first or second dies, the kernel kills everything
//! after it.

mod account;
mod here;
mod init;
pub(crate) mod join;
mod listening;
mod mounts;
pub(crate) mod signals;
mod supervise;

pub use account::Account;
pub use here::start_on_machine;
pub use listening::{ListeningSockets, open_host_sockets};
pub use supervise::{ExitCause, RunningProgram};

use nix::errno::Errno;
use nix::unistd::Pid;
use std::ffi::OsString;
use std::net::IpAddr;
use thiserror::Error;

/// A program to run and the host to run the program in.
#[derive(Debug, Clone)]
pub struct HostProgram {
    /// Process id of the path.
    pub path: i32,
    /// Name of a host of the path.
    pub host: String,
    /// The program to run in the host.
    pub program: Program,
}

/// A program and the program's view of the machine.
#[derive(Debug, Clone)]
pub struct Program {
    /// The only name server of the program's resolver; `None` keeps the machine's.
    pub nameserver: Option<IpAddr>,
    /// Text of the program's `/etc/hosts`.
    pub hosts_text: String,
    /// The account running the program; `None` keeps the caller's.
    pub account: Option<Account>,
    /// The program's name, followed by the arguments.
    pub command: Vec<OsString>,
}

/// Why the program does not run; messages read after "failed to".
#[derive(Debug, Error)]
pub enum EnterError {
    /// No path has this process id.
    #[error(
        "enter path {0}: no path has this process id; take it from the path_ready record, or of an \
         internet from internet_ready"
    )]
    NoPath(Pid),
    /// The path has no host of this name.
    #[error(
        "enter host {host}: path {path} has none of this name; names are client and server, or of \
         an internet those in its internet_ready record"
    )]
    NoHost {
        /// Process id of the path.
        path: Pid,
        /// Name of the missing host.
        host: String,
    },
    /// The path belongs to another user.
    #[error("enter path {path}: it belongs to user {owner}; run this as that user")]
    OtherUser {
        /// Process id of the path.
        path: Pid,
        /// User id of the path's owner.
        owner: u32,
    },
    /// The kernel refuses to join the host.
    #[error("enter path {path}'s {host} host: {error}; run this as the user that runs the path")]
    Join {
        /// Process id of the path.
        path: Pid,
        /// Name of the host.
        host: String,
        /// Error number from the kernel.
        error: Errno,
    },
    /// The account does not exist, or the caller may not use the account.
    #[error("{0}")]
    Account(String),
    /// An ordinary user's view needs a user namespace.
    #[error(
        "make a user namespace: {0}; run this as root (in a container with --cap-add SYS_ADMIN), or \
         allow it: sudo sysctl -w kernel.unprivileged_userns_clone=1 (Debian), \
         kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu)"
    )]
    NoUserNamespace(Errno),
    /// The program's private view of the machine could not be made.
    #[error("{0}")]
    View(String),
    /// The program could not be started.
    #[error("{0}")]
    Program(String),
}

impl EnterError {
    /// Makes the error of a host refused by the kernel.
    pub(crate) fn make_refusal(path: Pid, host: impl AsRef<str>, error: Errno) -> Self {
        Self::Join {
            path,
            host: host.as_ref().to_owned(),
            error,
        }
    }
}

/// Starts the program in a host of a path. The calling process must have a single thread, and is in
/// the host's namespaces afterwards.
pub fn start(order: &HostProgram) -> Result<RunningProgram, EnterError> {
    let path = join::join_host(Pid::from_raw(order.path), &order.host)?;
    supervise::start(&order.program, Some(path), ExitCause::PathEnded)
}
