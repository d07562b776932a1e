//! What the loops need of a transport: sending and receiving on many connections at once, without
//! blocking. Not for: when to do either.

use crate::counting::Tally;
use crate::error::LoadError;
use resolab_record::Failure;

/// A query to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Number of the name that is asked for.
    pub name: u32,
    /// When the schedule wants it; `None` in a closed loop.
    pub wanted_ns: Option<u64>,
}

/// The most queries handed over at once.
pub const BATCH_MAX: usize = 128;

/// The connections of one worker.
pub trait Carrier {
    /// Whether answers have the kernel's stamps, so that reading them late changes nothing.
    const HAS_RECEIVE_STAMPS: bool;

    /// How many connections there are, open or not.
    fn connection_count(&self) -> usize;

    /// Queries a connection can take now; 0 for one that is not open.
    fn room(&self, connection: usize) -> usize;

    /// Send them, as many as there is room for and `BATCH_MAX` at most, in as few system calls as
    /// can be. Each is counted as sent, and later as something else.
    fn send(
        &mut self,
        connection: usize,
        queries: &[Wanted],
        tally: &mut Tally,
    ) -> Result<(), LoadError>;

    /// Wait for answers, for `at_most_ns`; whether there is something.
    fn wait(&mut self, at_most_ns: u64) -> Result<bool, LoadError>;

    /// Take all answers there are.
    fn receive(&mut self, tally: &mut Tally) -> Result<(), LoadError>;

    /// Give up what was sent too long ago, and open again what has closed.
    fn tend(&mut self, now_ns: u64, tally: &mut Tally) -> Result<(), LoadError>;

    /// Queries that wait for an answer.
    fn outstanding(&self) -> usize;

    /// Why no connection has room, when none has.
    fn obstacle(&self) -> Failure;

    /// Give up everything: the run was stopped.
    fn cut_off(&mut self, tally: &mut Tally);
}
