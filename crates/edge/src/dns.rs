//! What becomes of a DNS message: pure, the time is an argument.
//!
//! For: one behaviour on every transport. Not for: sockets, records, waiting, or asking upstream.

pub mod answer;
pub mod behaviour;
pub mod early_data;
pub mod resolver;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod wire;
pub mod wire_cache;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod zone;
