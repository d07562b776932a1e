//! Connections to the names' servers, for one load after the other: found or opened for each
//! request as the setting for sharing says.
//!
//! Not for: what is sent on them.

mod connection;
mod identity;
mod locations;
mod opened;
mod servers;

pub(crate) use connection::Connection;
pub(crate) use opened::{Resolver, Upstreams};
pub(crate) use servers::{CONNECTION_WINDOW_BYTES, STREAM_WINDOW_BYTES};
