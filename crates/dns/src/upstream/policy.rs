//! The rules for sharing connections among queries: the user's numbers. Not for: applying the rules
//! (`upstream`).

use std::num::NonZeroU32;
use std::time::Duration;

/// The rules for sharing connections among queries, without effect on `doudp`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConnectionPolicy {
    /// True to give each query a separate connection, closed after the query. The other fields then
    /// have no effect.
    pub is_cold: bool,
    /// The time without any query after which a connection is closed. When absent, only the
    /// resolver ends connections.
    pub idle_timeout: Option<Duration>,
    /// The maximum number of queries on a connection; the next query opens another connection.
    pub max_queries_count: Option<NonZeroU32>,
    /// True to fail a query whose new connection ends without any answer, for measuring cold
    /// queries. Otherwise the query is asked once more on another connection.
    pub takes_first_end: bool,
}
