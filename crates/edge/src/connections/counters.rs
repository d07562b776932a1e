//! Counts of accepted and refused connections since the start of the edge, for the summary.

use std::sync::atomic::{AtomicU64, Ordering};

/// A count able only to grow.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one to the count.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the current count.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counts of the edge; `EdgeSummaryRecord` defines their meaning.
#[derive(Debug, Default)]
pub struct ConnectionCounters {
    /// The number of TCP connections accepted.
    pub tcp_connections: Counter,
    /// The number of QUIC connections accepted.
    pub quic_connections: Counter,
    /// The number of DNS queries on connections.
    pub queries: Counter,
    /// The number of other HTTP requests.
    pub requests: Counter,
    /// The number of connections refused by the limit for all.
    pub refused_total: Counter,
    /// The number of connections refused by the limit for an address.
    pub refused_peer: Counter,
    /// The number of connections without a common TLS version.
    pub refused_tls_version: Counter,
    /// The number of handshakes ended by the timeout.
    pub handshake_timeouts: Counter,
    /// The number of connections ended because of slow peers.
    pub slow_peers: Counter,
}

/// Returns the resident memory of this process, in bytes; 0 when the system does not report the
/// value.
pub fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1_024
}
