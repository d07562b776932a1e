//! How much a stub takes on for its clients: it stands on a loopback address as a rule, but may be
//! told to listen where anybody can reach it. Not for: keeping to that; the listeners do.

use std::time::Duration;

/// What clients can make a stub hold at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientLimits {
    /// Queries being answered, of those that came over UDP and of those over TCP each. Beyond, none
    /// is read: they wait in the sockets' buffers, and the kernel drops datagrams that do not fit.
    pub queries_max_count: usize,
    /// Streams open. Others wait to be accepted.
    pub streams_max_count: usize,
    /// Queries of one stream being answered, and replies its client has not taken yet, together.
    /// Beyond, the stream is not read.
    pub stream_queries_max_count: usize,
    /// A stream is closed when for this long it brought no whole query and none of its queries was
    /// being answered, or its client took nothing of a reply (RFC 7766 section 6.2.3).
    pub stream_idle_timeout: Duration,
}

impl Default for ClientLimits {
    /// Far beyond what a host's programs ask of their stub. A reply has up to 64 KiB, so that
    /// clients that take none cost 256 MiB.
    fn default() -> Self {
        Self {
            queries_max_count: 4_096,
            streams_max_count: 256,
            stream_queries_max_count: 256,
            stream_idle_timeout: Duration::from_secs(30),
        }
    }
}
