//! The edge: DNS on all six transports and the web on HTTP/1.1, HTTP/2 and HTTP/3 in one process, with one
//! certificate authority and ticket policies that change live. It records what it saw of every
//! connection, query and request.
//!
//! For: the server side of every experiment. Not for: recursion, production, or printing: records
//! go to the sink it is given.

mod answer;
mod behaviour;
mod coalescing;
mod config;
mod connections;
mod doh;
mod early_data;
mod edge;
mod ending;
mod forward;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod http;
mod limits;
mod memory;
mod name_config;
mod orders;
mod resolver;
mod serve;
mod site_command;
mod tallies;
mod web;
mod wire;
mod wire_cache;
mod world;
mod zone;
mod zone_setup;

pub use config::{ConfigError, EdgeConfig};
pub use connections::RecordSink;
pub use edge::{Edge, EdgeError};
