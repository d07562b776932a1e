//! Counting, recognising and writing down what passes. Not for: changing anything of it.

pub mod capture;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub(crate) mod pcapng;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub(crate) mod quic;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod tap;
