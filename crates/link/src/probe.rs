//! Measures a running path from outside the forwarder: numbered packets, or one TCP connection,
//! between sockets in the two hosts, all in one process on one clock. The path's own records play
//! no part in the measurement. Not for: judging the measurements; the Python half judges.
//!
//! [`LinkProbe::join`] comes first, while the process has a single thread. Either
//! [`LinkProbe::trains`] or [`LinkProbe::bulk`] follows.

mod bulk;
mod error;
mod hosts;
mod kernel_stamps;
mod receive;
mod send;
mod train;
mod wall_offset;

pub use bulk::BulkParameters;
pub use error::ProbeError;
pub use train::{MIN_PACKET_BYTES, TrainParameters};

use crate::datapath::realtime_scheduling;
use hosts::HostNetworks;
use nix::unistd::Pid;
use resolab_record::{BulkTransferRecord, LinkDirection, ProbeRecord};

/// A process ready to measure a path.
#[derive(Debug)]
pub struct LinkProbe {
    networks: HostNetworks,
    realtime_granted: bool,
}

impl LinkProbe {
    /// Gets access to both hosts of a path. The process must have a single thread.
    pub fn join(path: i32) -> Result<Self, ProbeError> {
        // Before the path's user namespace, inside which the right to it does not count. Threads
        // inherit it; all but senders give it back.
        let realtime_granted = realtime_scheduling::allow_realtime_senders();
        let joined = HostNetworks::join(Pid::from_raw(path));
        let networks = joined.inspect_err(|_| realtime_scheduling::make_ordinary())?;
        Ok(Self {
            networks,
            realtime_granted,
        })
    }

    /// Sends the same train in each of these directions, all at once. Returns one record per
    /// direction, in the same order.
    pub fn trains(
        self,
        order: &TrainParameters,
        directions: &[LinkDirection],
    ) -> Result<Vec<ProbeRecord>, ProbeError> {
        train::run(&self.networks, order, directions, self.realtime_granted)
    }

    /// Sends over one TCP connection for a while.
    pub fn bulk(self, order: &BulkParameters) -> Result<BulkTransferRecord, ProbeError> {
        bulk::run(&self.networks, order)
    }
}
