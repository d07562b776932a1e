//! The state kept about queries: the waiting queries by message id, and counts of the ended
//! queries. Not for: sending or receiving anything.

pub mod answer;
pub mod matching;
pub mod slots;

mod live;
mod tally;

pub use live::{LiveCounters, LiveCounts};
pub use tally::{DurationHistogram, LONGEST_NS, Tally};
