//! What a machine granted to a path or an internet. Not for: asking for it.

use crate::hosts::namespace::RefusedSetting;

/// What the machine granted.
#[derive(Debug, Default)]
pub struct Grants {
    /// Whether the thread that carries packets has real-time scheduling.
    pub realtime_scheduling: bool,
    /// Whether a user namespace was needed.
    pub rootless: bool,
    /// Settings inside the hosts that could not be made.
    pub refused_settings: Vec<RefusedSetting>,
}
