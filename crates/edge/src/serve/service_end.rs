//! The results of the protocols on QUIC at the end of a connection; `quic` converts a result to the
//! ending in the record.

use quinn::ConnectionError;

/// The end of a connection's service.
#[derive(Debug)]
pub enum ServiceEnd {
    /// The QUIC connection ended, with this error.
    Closed(ConnectionError),
    /// The client announced its end (GOAWAY).
    Done,
    /// The client broke the protocol, and the edge closed the connection.
    Violated(String),
}
