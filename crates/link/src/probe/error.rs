//! Why nothing was measured. A packet or a transfer that the link lost or slowed is a value, not an
//! error.

use crate::enter::EnterError;
use nix::errno::Errno;
use std::io;
use thiserror::Error;

/// The instrument broke; messages read after "failed to".
#[derive(Debug, Error)]
pub enum ProbeError {
    /// The path cannot be joined.
    #[error(transparent)]
    Join(#[from] EnterError),
    /// It went away.
    #[error("measure path: it ended meanwhile")]
    PathEnded,
    /// A socket.
    #[error("{step} in the {host} host: {error}")]
    Socket {
        /// What was tried.
        step: &'static str,
        /// The host it happened in.
        host: &'static str,
        /// Why not.
        error: Errno,
    },
    /// Larger than the path's MTU.
    #[error("send packets of {0} bytes: the path's MTU is smaller; give a smaller --packet-bytes")]
    PacketTooLarge(u32),
    /// Packets came through the link and were lost by us.
    #[error(
        "receive in the {host} host: {count} packets did not fit into the socket's buffer; run as \
         root, send slower, or raise net.core.rmem_max"
    )]
    Overflow {
        /// The host it happened in.
        host: &'static str,
        /// How many.
        count: u32,
    },
    /// The kernel's stamps cannot be laid beside the sender's.
    #[error("compare clocks: the wall clock was set by {0} ns meanwhile; measure again")]
    ClockSet(i64),
    /// No stamp on a packet.
    #[error("receive in the {0} host: the kernel put no time stamp on a packet")]
    NoStamp(&'static str),
    /// The transfer did not come about.
    #[error("transfer over TCP: {0}")]
    Transfer(String),
    /// No thread.
    #[error("start a thread: {0}")]
    Thread(io::Error),
}
