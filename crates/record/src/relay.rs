//! What a relay says of itself. Not for: traffic; it is not counted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The relay stands; its host can be entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RelayReadyRecord {
    /// Process id, for `enter --path` and `stub --listen-in`.
    pub pid: u32,
    /// Name of its host, for `enter --host`.
    pub host: String,
    /// Whether it carries IPv6.
    pub ipv6: bool,
    /// Largest IP packet inside.
    pub mtu_bytes: u32,
}
