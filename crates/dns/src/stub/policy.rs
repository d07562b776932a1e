//! How the stub uses connections: its numbers. Not for: keeping to them; that is `upstream`.

use std::num::NonZeroU32;
use std::time::Duration;

/// What the user chose for a stub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StubOptions {
    /// After so long a query is answered SERVFAIL.
    pub deadline: Duration,
    /// Which queries share a connection.
    pub connections: ConnectionPolicy,
}

/// Which queries share a connection; means nothing to `doudp`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConnectionPolicy {
    /// Each query gets a connection of its own, which is closed after it; the rest means nothing
    /// then.
    pub is_cold: bool,
    /// A connection on which nothing was asked for so long is closed; without, only the resolver
    /// ends it.
    pub idle_timeout: Option<Duration>,
    /// A connection gets so many queries at most, and the next one opens another.
    pub max_queries_count: Option<NonZeroU32>,
}

impl From<Duration> for StubOptions {
    /// One connection, kept as long as the resolver keeps it.
    fn from(deadline: Duration) -> Self {
        Self {
            deadline,
            connections: ConnectionPolicy::default(),
        }
    }
}
