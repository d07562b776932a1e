//! What the user chose for a client. Not for: what comes of it; that is in `preparation`.

use crate::edns::EdnsOptions;
use crate::transports::retry::UdpRetryPolicy;
use resolab_record::{DohMethod, HandshakeMode, KeyExchangeGroup};
use resolab_transport::client::Sha256;
use std::path::PathBuf;

/// What is the same for all queries of a client.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// Handshake asked for; means nothing to transports without one.
    pub handshake_mode: HandshakeMode,
    /// Key exchange groups offered, the one preferred first; none is no client.
    pub groups: Vec<KeyExchangeGroup>,
    /// DoH by POST or GET.
    pub doh_method: DohMethod,
    /// What DoUDP does when no response comes. Round trips are learnt by client.
    pub udp_retry_policy: UdpRetryPolicy,
    /// TCP Fast Open; means nothing to DoUDP and QUIC.
    pub tcp_fast_open: bool,
    /// EDNS(0) of the queries.
    pub edns: EdnsOptions,
    /// PEM file of the authorities to trust; the system's without one.
    pub ca_file: Option<PathBuf>,
    /// The public key of the resolver's certificate must be one of them, unless there are none.
    pub pins: Vec<Sha256>,
    /// Nothing else than `pins` is checked of certificates: no authority, no name, no hash of a
    /// stamp.
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
