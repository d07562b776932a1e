//! The edge's listeners and one module per protocol that reads, answers and records.
//!
//! Not for: what the answers are (`answer`, `http`, `site`).

mod datagrams;
mod doq;
mod framed;
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
