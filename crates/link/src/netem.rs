//! The link made of the kernel's own queueing disciplines (sch_netem, sch_tbf, sch_codel) instead
//! of our model, for kernels with these disciplines. Any part of a profile done differently by the
//! kernel is refused, never silently approximated. docs/method/netem.md compares the two. Not for:
//! provable accuracy. There is no record of the kernel's release times.
//!
//! A packet passes one device per element, in the model's order:
//!
//! ```text
//! client          middle (this process's network namespace)                     server
//! access0 ─ client0 ▸ hop1c ─ hop1s ▸ hop2c ─ hop2s ▸ hop3c ─ hop3s ▸ server0 ─ access0
//!     up:             loss          queue         link          delay
//!   down:    delay           link          queue         loss
//! ```
//!
//! [`rules`] turns a profile into `tc` commands, [`wires`] holds the commands making the devices,
//! [`hosts`] sets up and holds the hosts, [`statistics`] reads the kernel's counters, [`run`] runs
//! the tools.

mod hosts;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod rules;
mod run;
mod statistics;
mod wires;

pub use hosts::NetemPath;
pub use statistics::NetemWindow;

use crate::hosts::namespace::RefusedSetting;
use crate::path::PathError;
use nix::errno::Errno;
use thiserror::Error;

/// The reason for a failed path; messages read after "failed to".
#[derive(Debug, Error)]
pub enum NetemError {
    /// The kernel's disciplines cannot do the value of a key.
    #[error("use profile {profile:?} with the netem back end: {key} {problem}; use --backend tun")]
    Unsupported {
        /// Name of the profile.
        profile: String,
        /// The key in full.
        key: String,
        /// Description of the problem with the value.
        problem: &'static str,
    },
    /// The kernel has no sch_netem.
    #[error(
        "use the netem back end: this kernel has no sch_netem (tc says: {0}); load the module \
         sch_netem, or use --backend tun"
    )]
    NoNetem(String),
    /// A tool is not installed.
    #[error("run {tool}: {error}; install the package {package}")]
    NoTool {
        /// Name of the missing tool.
        tool: &'static str,
        /// The reason for the failed start.
        error: std::io::Error,
        /// Debian's name of the tool's package.
        package: &'static str,
    },
    /// A tool refused a command.
    #[error("run '{command}' for the netem back end: {said}")]
    Refused {
        /// The command line, ready to be typed.
        command: String,
        /// The tool's own words.
        said: String,
    },
    /// A tool said something not understood.
    #[error("understand what '{0}' says about the link")]
    Unreadable(String),
    /// Namespaces or hosts could not be set up.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The namespace between the hosts.
    #[error("set up the namespace between the hosts: {0}")]
    Middle(Errno),
}

/// The capabilities granted by the machine.
#[derive(Debug)]
pub struct NetemCapabilities {
    /// True when a user namespace was needed.
    pub rootless: bool,
    /// True when the random draws follow from the seed (netem accepts a seed since Linux 6.6).
    pub seeded: bool,
    /// Settings inside the hosts refused by the kernel.
    pub refused_settings: Vec<RefusedSetting>,
}
