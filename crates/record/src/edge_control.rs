//! Words and shapes of the edge's control: address validation, and the summary of the connections it
//! took and refused.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a QUIC client must show, by a Retry (RFC 9000 section 8.1.2), that it owns its address.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RetryMode {
    /// Never; the amplification limit alone protects (RFC 9000 section 8.1).
    #[default]
    Off,
    /// Unless the client brings a token of an earlier connection's NEW_TOKEN.
    WithoutToken,
    /// Every connection, whatever token it brings.
    Always,
}

/// What showed that a QUIC client owns its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AddressProof {
    /// The token of our Retry.
    RetryToken,
    /// A token from the NEW_TOKEN of an earlier connection.
    NewToken,
    /// Nothing before the handshake itself.
    Handshake,
}

/// Connections the edge took and refused since it started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionsSummary {
    /// TCP connections accepted.
    pub tcp_connections_count: u64,
    /// QUIC connections accepted.
    pub quic_connections_count: u64,
    /// Connections open now.
    pub open_connections_count: u64,
    /// DNS queries on connections; those of `doudp` are not in it.
    pub queries_count: u64,
    /// HTTP requests other than DNS queries.
    pub requests_count: u64,
    /// Retry packets sent.
    pub retries_count: u64,
    /// Connections refused because the limit of all was reached.
    pub refused_total_count: u64,
    /// Connections refused because the limit of one address was reached.
    pub refused_peer_count: u64,
    /// QUIC connections refused by command.
    pub refused_command_count: u64,
    /// Handshakes refused because the client has no version of TLS that is allowed here.
    pub refused_tls_version_count: u64,
    /// Handshakes given up because they took too long.
    pub handshake_timeouts_count: u64,
    /// Connections closed because a query or request did not become complete in time, or nothing
    /// moved.
    pub slow_peers_count: u64,
    /// Session tickets that can be taken back now.
    pub stored_tickets_count: u64,
    /// Resident memory of the process.
    pub resident_bytes: u64,
}
