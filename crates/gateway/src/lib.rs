//! The gateway: stands in the client's host between an unmodified browser and everything it looks up,
//! and speaks to the network with our clients, so that their connections, handshakes and tickets are
//! factors of a browser's page load.
//!
//! For: names answered with addresses of its own, legs of every HTTP version towards the browser,
//! connections upstream shared as told, and records of what was held for how long.
//! Not for: asking resolvers (`resolab-dns`), clients and servers of one connection
//! (`resolab-http`, `resolab-transport`), or caching: every byte comes from upstream.

mod answering;
mod exchange;
mod gateway;
mod leg;
#[deny(clippy::disallowed_methods)] // pure
pub mod names;
mod options;
mod serving;
#[deny(clippy::disallowed_methods)] // pure
pub mod sharing;
mod speculation;
mod upstream;
mod world;

pub use gateway::{Gateway, GatewayError};
pub use options::GatewayOptions;
