//! Instants: a schedule's instants, the common start of all workers, and sleeping until an instant.
//! Not for: the work due at an instant.

#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod schedule;
pub mod start_gate;
pub mod waiting;
