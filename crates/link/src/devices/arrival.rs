//! What a device gives: a packet, and when it came. Not for: the devices.

use crate::devices::offload::Offload;

/// A packet that a host sent, or a train of TCP segments.
#[derive(Debug)]
pub struct Arrival<'a> {
    /// From the IP header on.
    pub frame: &'a [u8],
    /// What the host's kernel left to do.
    pub offload: Offload,
    /// `CLOCK_MONOTONIC` at which it came; never before that of the packet before it.
    pub at_ns: u64,
    /// When it was read, at the earliest `at_ns`.
    pub read_ns: u64,
}
