//! Counts, recognises and captures passing packets. Not for: changing packets.

pub mod capture;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub(crate) mod pcapng;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub(crate) mod quic;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod tap;
