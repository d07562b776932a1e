//! Connections to the names' servers, for one load after another: found or opened for each request,
//! by the setting for sharing.
//!
//! Not for: sending requests (`exchange`).

mod connection;
mod connections;
mod identity;
mod locations;
mod servers;

pub(crate) use connection::UpstreamConnection;
pub(crate) use connections::{SharedResolver, UpstreamConnections};
pub(crate) use servers::{CONNECTION_WINDOW_BYTES, STREAM_WINDOW_BYTES};
