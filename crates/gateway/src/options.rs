//! The user's options for a gateway.

use crate::names::AddressRange;
use resolab_record::{
    ConnectionSharing, GatewayTrigger, HandshakeMode, HttpVersion, KeyExchangeGroup,
};
use resolab_transport::client::Trust;
use std::time::Duration;

/// The user's options for a gateway.
#[derive(Debug, Clone)]
pub struct GatewayOptions {
    /// The addresses given to names; each address must belong to this host.
    pub range: AddressRange,
    /// The maximum number of names answered; each name takes two sockets.
    pub names_max_count: u32,
    /// The port of every name, over TCP and UDP.
    pub port: u16,
    /// The port of the names' servers.
    pub upstream_port: u16,
    /// The HTTP versions offered to the browser, of `h1`, `h2` and `h3`.
    pub leg_versions: Vec<HttpVersion>,
    /// The HTTP version used upstream: `h2` or `h3`.
    pub upstream_version: HttpVersion,
    /// The event opening connections upstream.
    pub trigger: GatewayTrigger,
    /// The setting for sharing connections upstream.
    pub sharing: ConnectionSharing,
    /// The handshake mode asked for upstream.
    pub handshake_mode: HandshakeMode,
    /// The key exchange groups offered upstream, the preferred group first.
    pub groups: Vec<KeyExchangeGroup>,
    /// The trust in upstream servers.
    pub trust: Trust,
    /// The maximum time of a look-up and of opening an upstream connection, each. Also limits the
    /// browser's time for a hello or a head.
    pub deadline: Duration,
}
