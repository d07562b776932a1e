//! Instants: a schedule's, the common start of all workers, and sleeping until one. Not for: what is
//! done then.

#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod schedule;
pub mod split_mix;
pub mod start_gate;
pub mod waiting;
