//! The edge's listeners and one module per protocol that reads, answers and records.
//!
//! Not for: what the answers are (`answer`, `http`, `site`).

mod coalesced;
mod datagrams;
mod doq;
mod exchange;
mod framed;
mod h1;
mod h1_body;
mod h1_stream;
mod h2;
mod h3;
mod http_record;
mod listener;
mod quic;
mod tcp;
mod udp;

pub use listener::{ListenError, ListenerSpec, Listeners};

use std::time::Duration;

/// Silence after which the edge closes a connection, the same on every transport.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest DNS message or DoH body.
const MESSAGE_LIMIT_BYTES: usize = 65_535;
/// Largest head of an HTTP request, as each version counts it; above it 431.
const HEADER_LIMIT_BYTES: usize = 16_384;
