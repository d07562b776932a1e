//! The reasons for a failed measurement. A packet or transfer lost or slowed by the link is a value
//! instead of an error.

use crate::enter::EnterError;
use nix::errno::Errno;
use std::io;
use thiserror::Error;

/// The instrument failed; messages read after "failed to".
#[derive(Debug, Error)]
pub enum ProbeError {
    /// The path cannot be joined.
    #[error(transparent)]
    Join(#[from] EnterError),
    /// The path ended during the measurement.
    #[error("measure path: it ended meanwhile")]
    PathEnded,
    /// A socket operation failed.
    #[error("{step} in the {host} host: {error}")]
    Socket {
        /// Name of the failed step.
        step: &'static str,
        /// Name of the socket's host.
        host: &'static str,
        /// Error number from the kernel.
        error: Errno,
    },
    /// Packets are larger than the path's MTU.
    #[error("send packets of {0} bytes: the path's MTU is smaller; give a smaller --packet-bytes")]
    PacketTooLarge(u32),
    /// Packets came through the link but were lost by the receiving socket.
    #[error(
        "receive in the {host} host: {count} packets did not fit into the socket's buffer; run as \
         root, send slower, or raise net.core.rmem_max"
    )]
    Overflow {
        /// Name of the socket's host.
        host: &'static str,
        /// Number of lost packets.
        count: u32,
    },
    /// The kernel's stamps cannot be compared with the sender's.
    #[error("compare clocks: the wall clock was set by {0} ns meanwhile; measure again")]
    ClockSet(i64),
    /// A packet came without a time stamp.
    #[error("receive in the {0} host: the kernel put no time stamp on a packet")]
    NoStamp(&'static str),
    /// The TCP transfer failed.
    #[error("transfer over TCP: {0}")]
    Transfer(String),
    /// A thread could not be started.
    #[error("start a thread: {0}")]
    Thread(io::Error),
}
