//! The gateway runs on the client's host, between an unmodified browser and all its look-ups and
//! connections. The gateway uses our clients towards the network, so their connections, handshakes
//! and tickets become factors of a browser's page load.
//!
//! For: answering names with the gateway's own addresses, downstream connections of every HTTP
//! version, upstream connections shared by the chosen setting, and records of the delays. Not for:
//! asking resolvers (`resolab-dns`), clients and servers of one connection (`resolab-http`,
//! `resolab-transport`), or caching: every byte comes from upstream.

mod dns_answers;
mod downstream;
mod exchange;
mod gateway;
mod gateway_state;
mod name_sockets;
#[deny(clippy::disallowed_methods)] // pure
pub mod names;
mod options;
#[deny(clippy::disallowed_methods)] // pure
pub mod sharing;
mod speculation;
mod upstream;

pub use gateway::{Gateway, GatewayError};
pub use options::GatewayOptions;
