//! A packet from a device, and the packet's arrival time. Not for: the devices.

use crate::devices::offload::Offload;

/// A packet sent by a host, or a train of TCP segments.
#[derive(Debug)]
pub struct Arrival<'a> {
    /// The bytes from the IP header on.
    pub frame: &'a [u8],
    /// The work left undone by the host's kernel.
    pub offload: Offload,
    /// The arrival time by `CLOCK_MONOTONIC`, in ns; never before the previous packet's.
    pub at_ns: u64,
    /// The time of reading, in ns; at the earliest `at_ns`.
    pub read_ns: u64,
}
