//! Words and shapes of the edge's control: address validation, and the summary of accepted and
//! refused connections.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rule for QUIC clients to prove their address by a Retry (RFC 9000 section 8.1.2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RetryMode {
    /// No Retry; the amplification limit alone protects (RFC 9000 section 8.1).
    #[default]
    Off,
    /// A Retry, unless the client brings a token of an earlier connection's NEW_TOKEN.
    WithoutToken,
    /// A Retry for every connection, with or without a token.
    Always,
}

/// The proof of a QUIC client's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AddressProof {
    /// The token of our Retry.
    RetryToken,
    /// A token from the NEW_TOKEN of an earlier connection.
    NewToken,
    /// No proof before the handshake itself.
    Handshake,
}

/// Connections accepted and refused by the edge since its start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ConnectionsSummary {
    /// Number of TCP connections accepted.
    pub tcp_connections_count: u64,
    /// Number of QUIC connections accepted.
    pub quic_connections_count: u64,
    /// Number of connections open now.
    pub open_connections_count: u64,
    /// Number of DNS queries on connections, without `doudp`.
    pub queries_count: u64,
    /// Number of HTTP requests other than DNS queries.
    pub requests_count: u64,
    /// Number of Retry packets sent.
    pub retries_count: u64,
    /// Number of connections refused at the limit of all connections.
    pub refused_total_count: u64,
    /// Number of connections refused at the limit of an address.
    pub refused_peer_count: u64,
    /// Number of QUIC connections refused by command.
    pub refused_command_count: u64,
    /// Number of handshakes refused because the client has no allowed version of TLS.
    pub refused_tls_version_count: u64,
    /// Number of handshakes given up after too long a time.
    pub handshake_timeouts_count: u64,
    /// Number of connections closed because a query or request was not complete in time, or no data
    /// moved.
    pub slow_peers_count: u64,
    /// Number of session tickets acceptable now.
    pub stored_tickets_count: u64,
    /// Resident memory of the process, in bytes.
    pub resident_bytes: u64,
}
