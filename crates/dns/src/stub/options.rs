//! The user's options for a stub.

use super::limits::ClientLimits;
use crate::upstream::ConnectionPolicy;
use std::time::Duration;

/// The user's options for a stub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StubOptions {
    /// The time after which a query is answered SERVFAIL.
    pub deadline: Duration,
    /// The rules for sharing connections among queries.
    pub connections: ConnectionPolicy,
    /// The time within which arriving queries are asked in one message, accepting partial
    /// responses. When absent, each query leaves at once.
    pub gather: Option<Duration>,
    /// The limits on the clients' load.
    pub limits: ClientLimits,
}

impl From<Duration> for StubOptions {
    /// Returns the default options: one connection, kept until the resolver closes it.
    fn from(deadline: Duration) -> Self {
        Self {
            deadline,
            connections: ConnectionPolicy::default(),
            gather: None,
            limits: ClientLimits::default(),
        }
    }
}
