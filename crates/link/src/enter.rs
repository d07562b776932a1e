//! Running a program in a host of a path that stands, or right here on the machine's own network
//! ([`start_here`]): with a resolver configuration of its own, and processes of its own, so that
//! nothing of it outlives the path, or whoever started it.
//! The caller's uid, standard streams, environment and other open descriptors stay as they are.
//! Not for: making the hosts (that is `path`).
//!
//! Three processes: the caller's, which watches the path and forwards signals ([`supervise`]); the
//! first process of a new pid namespace, which starts the program and reaps ([`init`]); and the
//! program. When the first or second dies, the kernel kills everything after it.

mod account;
mod here;
mod init;
pub(crate) mod join;
mod listening;
mod mounts;
pub(crate) mod signals;
mod supervise;

pub use account::Account;
pub use here::start_here;
pub use listening::{Listening, listen_in};
pub use supervise::{Ending, Guest};

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
    /// Name of one of its hosts.
    pub host: String,
    /// What to run there.
    pub program: Program,
}

/// A program and its view of the machine.
#[derive(Debug, Clone)]
pub struct Program {
    /// The only name server the program's resolver knows; `None` leaves it the machine's.
    pub nameserver: Option<IpAddr>,
    /// Text of the program's `/etc/hosts`.
    pub hosts_text: String,
    /// Who it runs as; `None` leaves it the caller.
    pub account: Option<Account>,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

/// Why the program does not run; messages read after "failed to".
#[derive(Debug, Error)]
pub enum EnterError {
    /// No such path.
    #[error(
        "enter path {0}: no path has this process id; take it from the path_ready record, or of an \
         internet from internet_ready"
    )]
    NoPath(Pid),
    /// It has no host of this name.
    #[error(
        "enter host {host}: path {path} has none of this name; names are client and server, or of \
         an internet those in its internet_ready record"
    )]
    NoHost {
        /// The path.
        path: Pid,
        /// The name.
        host: String,
    },
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
        host: String,
        /// What the kernel answered.
        error: Errno,
    },
    /// There is no such account, or it may not be taken on.
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
    /// The program itself.
    #[error("{0}")]
    Program(String),
}

impl EnterError {
    /// The kernel refuses a host.
    pub(crate) fn refused(path: Pid, host: impl AsRef<str>, error: Errno) -> Self {
        Self::Join {
            path,
            host: host.as_ref().to_owned(),
            error,
        }
    }
}

/// Start the program. The calling process must have one thread only and is in the host's
/// namespaces afterwards.
pub fn start(order: &Order) -> Result<Guest, EnterError> {
    let path = join::join_host(Pid::from_raw(order.path), &order.host)?;
    supervise::start(&order.program, Some(path), Ending::PathEnded)
}
