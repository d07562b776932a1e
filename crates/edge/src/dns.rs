//! Decides the answer to a DNS message. The code is pure: the time is an argument.
//!
//! For: the same behaviour on every transport. Not for: sockets, records, waiting, or asking
//! upstream.

pub mod answer;
pub mod behaviour;
pub mod early_data;
pub mod resolver;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod wire;
pub mod wire_cache;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod zone;
