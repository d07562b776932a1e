//! The edge: DNS on all six transports and the web on HTTP/1.1, HTTP/2 and HTTP/3 in one process, with one
//! certificate authority and ticket policies that change live. It records what it saw of every
//! connection, query and request.
//!
//! For: the server side of every experiment. Not for: recursion, production, or printing: records
//! go to the sink it is given.

mod coalescing;
mod config;
mod connections;
mod dns;
mod doh;
mod edge;
mod forward;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod http;
mod http_message;
mod orders;
mod partial;
mod serve;
mod site_command;
mod web;
mod world;
mod zone_setup;

pub use config::{ConfigError, EdgeConfig};
pub use connections::RecordSink;
pub use edge::{Edge, EdgeError};
