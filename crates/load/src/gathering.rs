//! Gathering answers: after the first answer, the client waits a moment. One wake then takes many
//! answers. Not for: an open loop's rhythm of reading.

pub mod runtime;

mod rule;

pub use rule::{GatheringRule, GatheringState, gathering_limit};
