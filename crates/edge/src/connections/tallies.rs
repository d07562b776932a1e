//! What the edge took and refused since it started, for its summary.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Tally(AtomicU64);

impl Tally {
    /// One more.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One for each thing counted; `EdgeSummaryRecord` says what they mean.
#[derive(Debug, Default)]
pub struct Tallies {
    /// TCP connections accepted.
    pub tcp_connections: Tally,
    /// QUIC connections accepted.
    pub quic_connections: Tally,
    /// DNS queries on connections.
    pub queries: Tally,
    /// Other HTTP requests.
    pub requests: Tally,
    /// Above the limit of all.
    pub refused_total: Tally,
    /// Above the limit of one address.
    pub refused_peer: Tally,
    /// No version of TLS in common.
    pub refused_tls_version: Tally,
    /// Handshakes given up.
    pub handshake_timeouts: Tally,
    /// Peers too slow.
    pub slow_peers: Tally,
}

/// Resident memory of this process, 0 where the system does not say.
pub fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1_024
}
