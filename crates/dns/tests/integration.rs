//! The tests of the DNS clients and the stub against servers on loopback: one test program, as linking takes longer than most tests.
//! Not for: `hostile`, with a program of its own.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

mod broken_set_ups;
mod closing_resolvers;
mod connection_facts;
mod doudp;
mod edns;
mod handshake_failures;
mod kernel_receive;
mod partial;
mod partial_loss;
mod pipelined_tls;
mod quic_streams;
mod stub;
mod stub_limits;
mod stub_policies;
mod stub_pushed;
mod transports;
mod trust;
