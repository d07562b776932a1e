//! The edge: DNS on all six transports and the web on HTTP/1.1, HTTP/2 and HTTP/3 in one process.
//! The edge has a certificate authority and live ticket policies, and records every connection,
//! query and request.
//!
//! For: the server side of every experiment. Not for: recursion, production, or printing: records
//! go to the given sink.

mod coalescing;
mod config;
mod connections;
mod control_commands;
mod dns;
mod doh;
mod edge;
mod forward;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod http;
mod http_message;
mod partial;
mod serve;
mod site_command;
mod state;
mod web;
mod zone_setup;

pub use config::{ConfigError, EdgeConfig};
pub use connections::RecordSink;
pub use edge::{Edge, EdgeError};
