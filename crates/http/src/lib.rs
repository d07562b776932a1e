//! One timed HTTP exchange over HTTP/2 or HTTP/3, client side.
//!
//! For: requests with small bodies (a DNS message) on a connection somebody else opened and timed.
//! Not for: opening connections (`resolab-transport`), what the bodies mean (`resolab-dns`), pages.

mod h2_client;
mod h3_client;

pub use h2_client::H2Client;
pub use h3_client::H3Client;

/// The error code of an orderly end of an HTTP/3 connection (RFC 9114 section 8.1).
pub const H3_NO_ERROR: u32 = 0x0100;

pub mod server_quic;
