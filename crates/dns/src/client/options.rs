//! The user's options for a client. Not for: preparing the client with these options
//! (`preparation`).

use crate::edns::EdnsOptions;
use crate::transports::retry::UdpRetryPolicy;
use resolab_record::{DohMethod, HandshakeMode, KeyExchangeGroup};
use resolab_transport::client::Sha256;
use std::path::PathBuf;

/// The options shared by all queries of a client.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// The handshake mode asked for, without effect on transports without a handshake.
    pub handshake_mode: HandshakeMode,
    /// The key exchange groups to offer, the preferred group first. An empty list makes no client.
    pub groups: Vec<KeyExchangeGroup>,
    /// The HTTP method of DoH: POST or GET.
    pub doh_method: DohMethod,
    /// DoUDP's policy when no response comes. Each client learns round trips separately.
    pub udp_retry_policy: UdpRetryPolicy,
    /// True to use TCP Fast Open, without effect on DoUDP and QUIC.
    pub tcp_fast_open: bool,
    /// The EDNS(0) options of the queries.
    pub edns: EdnsOptions,
    /// The PEM file of trusted authorities; the system's authorities when absent.
    pub ca_file: Option<PathBuf>,
    /// The accepted public keys of the resolver's certificate; empty accepts all keys.
    pub pins: Vec<Sha256>,
    /// True to check only `pins` of certificates: no authority, no name, no hash from a stamp.
    pub is_insecure: bool,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            handshake_mode: HandshakeMode::Full,
            groups: KeyExchangeGroup::ALL.to_vec(),
            doh_method: DohMethod::Post,
            udp_retry_policy: UdpRetryPolicy::default(),
            tcp_fast_open: false,
            edns: EdnsOptions::default(),
            ca_file: None,
            pins: Vec::new(),
            is_insecure: false,
        }
    }
}
