//! Arguments shared by several subcommands. Not for: the arguments of a single subcommand.

pub mod client;
pub mod durations;
pub mod edns;
pub mod fetching;
pub mod key_exchange_groups;
