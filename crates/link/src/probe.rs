//! Measuring a path that stands from outside its ferry: numbered packets, or one TCP connection,
//! between sockets in its two hosts, all in one process on one clock. What the path says of itself
//! takes no part in it.
//! Not for: judging what was measured; that is the Python half's.
//!
//! [`Measurer::join`] comes first, while the process has one thread; then one of
//! [`Measurer::trains`] and [`Measurer::bulk`].

mod bulk;
mod error;
mod hosts;
mod kernel_stamps;
mod receive;
mod send;
mod train;
mod wall_offset;

pub use bulk::BulkOrder;
pub use error::ProbeError;
pub use train::{MIN_PACKET_BYTES, TrainOrder};

use crate::carrying::punctual;
use hosts::HostNetworks;
use nix::unistd::Pid;
use resolab_record::{BulkTransferRecord, LinkDirection, ProbeRecord};

/// This process, ready to measure a path.
#[derive(Debug)]
pub struct Measurer {
    networks: HostNetworks,
    realtime_granted: bool,
}

impl Measurer {
    /// Get access to both hosts of a path. The process must have one thread only.
    pub fn join(path: i32) -> Result<Self, ProbeError> {
        // Before the path's user namespace, inside which the right to it does not count. Threads
        // inherit it; all but senders give it back.
        let realtime_granted = punctual::allow_realtime_senders();
        let joined = HostNetworks::join(Pid::from_raw(path));
        let networks = joined.inspect_err(|_| punctual::make_ordinary())?;
        Ok(Self {
            networks,
            realtime_granted,
        })
    }

    /// Send the same train each of these ways, all at once; one record each, in the same order.
    pub fn trains(
        self,
        order: &TrainOrder,
        directions: &[LinkDirection],
    ) -> Result<Vec<ProbeRecord>, ProbeError> {
        train::run(&self.networks, order, directions, self.realtime_granted)
    }

    /// Send over one TCP connection for a while.
    pub fn bulk(self, order: &BulkOrder) -> Result<BulkTransferRecord, ProbeError> {
        bulk::run(&self.networks, order)
    }
}
