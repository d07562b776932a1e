//! Which queries share a connection: the user's numbers. Not for: keeping to them; that is the
//! module above.

use std::num::NonZeroU32;
use std::time::Duration;

/// Which queries share a connection; means nothing to `doudp`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConnectionPolicy {
    /// Each query gets a connection of its own, which is closed after it; the rest means nothing
    /// then.
    pub is_cold: bool,
    /// A connection on which nothing was asked for this long is closed; without, only the resolver
    /// ends it.
    pub idle_timeout: Option<Duration>,
    /// Queries a connection gets at most; the next one opens another.
    pub max_queries_count: Option<NonZeroU32>,
    /// A query whose new connection ends without any answer has failed: for those who measure cold
    /// queries. Others ask it once more on another.
    pub takes_first_end: bool,
}
