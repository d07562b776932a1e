//! The load limits of a stub. A stub usually listens on a loopback address, but may listen on an
//! address open to everyone. Not for: applying the limits (the listeners).

use std::time::Duration;

/// The maximum load clients can put on a stub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientLimits {
    /// The maximum number of queries being answered, separately for UDP and TCP. Beyond the limit
    /// no query is read: queries wait in the sockets' buffers, and the kernel drops datagrams when
    /// a buffer is full.
    pub queries_max_count: usize,
    /// The maximum number of open streams. Further streams wait to be accepted.
    pub streams_max_count: usize,
    /// The maximum number of a stream's queries being answered and replies not yet taken by its
    /// client, together. Beyond the limit the stream is not read.
    pub stream_queries_max_count: usize,
    /// The time after which a stream is closed: either without a whole query and without a pending
    /// query, or with a client taking nothing of a reply (RFC 7766 section 6.2.3).
    pub stream_idle_timeout: Duration,
}

impl Default for ClientLimits {
    /// Returns limits far beyond a host's usual load. A reply has up to 64 KiB, so clients taking
    /// no replies cost 256 MiB.
    fn default() -> Self {
        Self {
            queries_max_count: 4_096,
            streams_max_count: 256,
            stream_queries_max_count: 256,
            stream_idle_timeout: Duration::from_secs(30),
        }
    }
}
