//! Arguments shared by several commands. Not for: the arguments of a single command.

pub mod client;
pub mod durations;
pub mod edns;
pub mod key_exchange_groups;
