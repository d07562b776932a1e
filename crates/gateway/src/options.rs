//! What the user chose for a gateway.

use crate::names::AddressRange;
use resolab_record::{
    ConnectionSharing, GatewayTrigger, HandshakeMode, HttpVersion, KeyExchangeGroup,
};
use resolab_transport::client::Trust;
use std::time::Duration;

/// What the user chose for a gateway.
#[derive(Debug, Clone)]
pub struct GatewayOptions {
    /// Addresses it gives to names; each must be one of this host's.
    pub range: AddressRange,
    /// Names it answers for at most; each takes two sockets.
    pub names_max_count: u32,
    /// Port of every name, over TCP and UDP.
    pub port: u16,
    /// Port of the names' servers.
    pub upstream_port: u16,
    /// HTTP versions offered to the browser, of `h1`, `h2` and `h3`.
    pub leg_versions: Vec<HttpVersion>,
    /// HTTP version spoken upstream: `h2` or `h3`.
    pub upstream_version: HttpVersion,
    /// When connections upstream are opened.
    pub trigger: GatewayTrigger,
    /// Which of them are shared.
    pub sharing: ConnectionSharing,
    /// Handshake asked for upstream.
    pub handshake_mode: HandshakeMode,
    /// Key exchange groups offered upstream, the one preferred first.
    pub groups: Vec<KeyExchangeGroup>,
    /// Whom to trust upstream.
    pub trust: Trust,
    /// How long a look-up and a connection upstream may take, each, and how long the browser may for
    /// a hello or a head.
    pub deadline: Duration,
}
