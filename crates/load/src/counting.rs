//! What is kept of queries: those that wait, by their ids, and what became of the others. Not for:
//! sending or receiving anything.

pub mod answer;
pub mod matching;
pub mod slots;

mod live;
mod tally;

pub use live::{LiveCounters, LiveCounts};
pub use tally::{LONGEST_NS, Tally, Times};
