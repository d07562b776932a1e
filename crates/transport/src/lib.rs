//! Timed TCP, TLS and QUIC in both roles: the clock, certificate authority, session tickets, early
//! data, and sockets without effect on the measured traffic.
//!
//! For: connections with two instants for every phase and with the actual handshake mode.
//! Not for: the data on the connections, see `resolab-http` and `resolab-dns`.

pub mod answering_socket;
pub mod client;
pub mod clock;
mod crypto;
pub mod exact_timer;
mod flights;
mod hellos;
pub mod ping;
mod plain_handshake;
pub mod receive_stamp;
pub mod server;
mod session_forwarding;
pub mod socket;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod split_mix;
pub mod stamped_udp;

pub use crypto::provider;
pub use hellos::Hellos;
