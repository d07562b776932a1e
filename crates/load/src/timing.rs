//! Instants: a schedule's, the common start of all workers, and sleeping until one. Not for: what is
//! done then.

pub mod schedule;
pub mod start_gate;
pub mod waiting;
