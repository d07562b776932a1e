//! The capabilities given by a machine to a path or an internet. Not for: requesting capabilities.

use crate::hosts::namespace::RefusedSetting;

/// The capabilities granted by the machine.
#[derive(Debug, Default)]
pub struct Capabilities {
    /// True when the forwarder's thread has real-time scheduling.
    pub realtime_scheduling: bool,
    /// True when the hosts needed a user namespace.
    pub rootless: bool,
    /// Settings inside the hosts refused by the kernel.
    pub refused_settings: Vec<RefusedSetting>,
}
