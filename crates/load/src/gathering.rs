//! Gathering answers: once there is one, a moment is let pass, so that a wake takes many of them.
//! Not for: an open loop's rhythm of reading.

pub mod runtime;

mod rule;

pub use rule::{Gatherer, Gathering, gathering_limit};
