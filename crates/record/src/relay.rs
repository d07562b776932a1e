//! The relay's record of itself. Not for: traffic; the relay counts no packets.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The relay is ready; programs can enter its host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RelayReadyRecord {
    /// Process id of the relay, for `enter --path` and `stub --listen-in`.
    pub pid: u32,
    /// Name of the relay's host, for `enter --host`.
    pub host: String,
    /// True when the relay carries IPv6.
    pub ipv6: bool,
    /// Largest IP packet inside, in bytes.
    pub mtu_bytes: u32,
}
