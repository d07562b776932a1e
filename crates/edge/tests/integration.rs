//! The tests of a running edge over loopback: one test program, as linking takes longer than most tests.
//! Not for: `limits`, `many_connections`, `memory` and `request_bodies`, which measure their process, or `web`; each is
//! a program of its own.
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
mod names;
mod partial;
mod quic_handshakes;
mod tickets;
mod tls;
