//! What the user chose for a stub.

use super::limits::ClientLimits;
use crate::upstream::ConnectionPolicy;
use std::time::Duration;

/// What the user chose for a stub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StubOptions {
    /// A query that took this long is answered SERVFAIL.
    pub deadline: Duration,
    /// Which queries share a connection.
    pub connections: ConnectionPolicy,
    /// Queries that come within this time of one another are asked in one message, as a client that takes
    /// partial responses; without, each leaves at once.
    pub gather: Option<Duration>,
    /// What it takes on for its clients.
    pub limits: ClientLimits,
}

impl From<Duration> for StubOptions {
    /// One connection, kept as long as the resolver keeps it.
    fn from(deadline: Duration) -> Self {
        Self {
            deadline,
            connections: ConnectionPolicy::default(),
            gather: None,
            limits: ClientLimits::default(),
        }
    }
}
