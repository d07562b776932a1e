//! The tests of `resolab-core` as a program: one test program, as linking takes longer than most tests.
//! Not for: `netem_guest`, with a program of its own.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

mod broken_output;
mod capture;
mod edge;
mod enter;
mod enter_here;
mod fetch_path;
mod gateway;
mod gateway_path;
mod internet;
mod packet_backend;
mod path;
#[cfg(feature = "netem")]
mod path_netem;
mod ping_command;
mod probe_command;
mod query_connections;
mod query_path;
mod query_trust;
mod relay;
mod small_pages;
mod stay;
mod tap;
