//! The transport interface of the loops: sending and receiving on many connections at once, without
//! blocking. Not for: when to do either.

use crate::counting::Tally;
use crate::error::LoadError;
use resolab_record::Failure;

/// A query to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueQuery {
    /// The number of the queried name.
    pub name: u32,
    /// The planned send time; `None` in a closed loop.
    pub wanted_ns: Option<u64>,
}

/// The most queries per call of `send`.
pub const BATCH_MAX: usize = 128;

/// The set of connections of a worker.
pub trait ConnectionSet {
    /// True when answers have the kernel's timestamps. Reading such answers late changes no
    /// measurement.
    const HAS_RECEIVE_STAMPS: bool;

    /// Returns the number of connections, open or closed.
    fn connection_count(&self) -> usize;

    /// Returns the number of queries a connection can take now; 0 for a closed connection.
    fn room(&self, connection: usize) -> usize;

    /// Sends queries in as few system calls as possible, at most `BATCH_MAX` and within the room of
    /// the connection. Each query is counted as sent, and later with its end.
    fn send(
        &mut self,
        connection: usize,
        queries: &[DueQuery],
        tally: &mut Tally,
    ) -> Result<(), LoadError>;

    /// Waits for answers, at most `at_most_ns`; returns true when answers may be there.
    fn wait(&mut self, at_most_ns: u64) -> Result<bool, LoadError>;

    /// Takes all available answers.
    fn receive(&mut self, tally: &mut Tally) -> Result<(), LoadError>;

    /// Gives up queries past their timeout, and reopens closed connections.
    fn tend(&mut self, now_ns: u64, tally: &mut Tally) -> Result<(), LoadError>;

    /// Returns the number of queries waiting for an answer.
    fn outstanding(&self) -> usize;

    /// Returns the reason when no connection has room.
    fn obstacle(&self) -> Failure;

    /// Gives up all queries after the run was stopped.
    fn cut_off(&mut self, tally: &mut Tally);
}
