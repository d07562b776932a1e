//! The tests of a running gateway over loopback: one test program, as linking takes longer than most tests.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

mod broken;
mod loads;
mod passing;
mod priorities;
mod resolver_connection;
mod sharing;
mod speculation;
mod triggers;
