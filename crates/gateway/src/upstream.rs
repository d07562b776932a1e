//! Connections to the names' servers, for one load after another: found or opened for each request,
//! by the setting for sharing.
//!
//! Not for: sending requests (`exchange`).

mod connection;
mod identity;
mod locations;
mod opened;
mod servers;

pub(crate) use connection::UpstreamConnection;
pub(crate) use opened::{SharedResolver, UpstreamConnections};
pub(crate) use servers::{CONNECTION_WINDOW_BYTES, STREAM_WINDOW_BYTES};
