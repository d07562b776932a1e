//! Sockets that never block: batches of datagrams, TCP and TLS connections, and waiting for many of
//! them at once. Not for: what their bytes mean.

pub mod datagrams;
pub mod readiness;
pub mod stream;
