//! What the protocols on QUIC say when they are done with a connection; `quic` makes its record's
//! ending of it.

use quinn::ConnectionError;

/// How the serving of a connection ended.
#[derive(Debug)]
pub enum Served {
    /// The connection ended.
    Closed(ConnectionError),
    /// The client said it was done (GOAWAY).
    Done,
    /// The client broke the protocol, and the connection was closed for it.
    Violated(String),
}
