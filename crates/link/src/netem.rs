//! The link made of the kernel's own queueing disciplines (sch_netem, sch_tbf, sch_codel) instead
//! of our model, for kernels that have them. What of a profile the kernel cannot do as the model
//! does is refused, never approximated in silence; docs/method/netem.md compares the two.
//! Not for: accuracy one can prove. Nobody writes down when the kernel released a packet.
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
//! [`rules`] turns a profile into `tc` commands, [`wires`] are the commands that make the devices,
//! [`hosts`] makes it all stand, [`statistics`] reads what the kernel counted, [`run`] runs the
//! tools.

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

/// Why there is no such path; messages read after "failed to".
#[derive(Debug, Error)]
pub enum NetemError {
    /// The kernel's disciplines cannot do what a key asks for.
    #[error("use profile {profile:?} with the netem back end: {key} {problem}; use --backend tun")]
    Unsupported {
        /// Its name.
        profile: String,
        /// The key in full.
        key: String,
        /// What is wrong with it.
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
        /// Its name.
        tool: &'static str,
        /// Why it did not start.
        error: std::io::Error,
        /// Debian's name of the package it is in.
        package: &'static str,
    },
    /// A tool refused.
    #[error("run '{command}' for the netem back end: {said}")]
    Refused {
        /// As one could type it.
        command: String,
        /// The tool's own words.
        said: String,
    },
    /// A tool said something not understood.
    #[error("understand what '{0}' says about the link")]
    Unreadable(String),
    /// Namespaces and hosts.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The namespace between the hosts.
    #[error("set up the namespace between the hosts: {0}")]
    Middle(Errno),
}

/// What the machine granted.
#[derive(Debug)]
pub struct NetemGrants {
    /// Whether a user namespace was needed.
    pub rootless: bool,
    /// Whether the random draws follow from the seed (netem takes one since Linux 6.6).
    pub seeded: bool,
    /// Settings inside the hosts that could not be made.
    pub refused_settings: Vec<RefusedSetting>,
}
