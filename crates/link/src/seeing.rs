//! Counting, recognising and writing down what passes. Not for: changing anything of it.

pub mod capture;
pub(crate) mod pcapng;
pub(crate) mod quic;
pub mod tap;
