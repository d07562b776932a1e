//! Non-blocking sockets: batches of datagrams, TCP and TLS connections, and waiting for many
//! sockets at once. Not for: the meaning of the bytes.

pub mod datagrams;
pub mod readiness;
pub mod stream;
