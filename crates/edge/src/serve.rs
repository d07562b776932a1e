//! The edge's listeners and one module per protocol that reads, answers and records.
//!
//! Not for: what the answers are (`answer`, `http`, `site`).

mod ahead;
mod coalesced;
mod datagrams;
mod deadlines;
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
mod request_body;
mod served;
mod tcp;
mod udp;

pub use listener::{ListenError, ListenerSpec, Listeners};
