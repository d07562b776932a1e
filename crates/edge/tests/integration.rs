//! The tests of a running edge over loopback: one test program, as linking takes longer than most tests.
//! Not for: `many_connections`, `memory`, with programs of their own.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

mod address_validation;
mod announced;
mod coalesced;
mod control;
mod do53;
mod doq;
mod floods;
mod forgotten;
mod forward;
mod gathering;
mod hellos;
mod http1;
mod limits;
mod names;
mod partial;
mod quic_handshakes;
mod request_bodies;
mod tickets;
mod tls;
