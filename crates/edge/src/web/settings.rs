//! Settings of the web side: `[web]`, `[[site]]`, `[[certificate]]` (docs/formats/edge.md).
//!
//! For: shapes and what contradicts itself in them. Not for: opening what they name.

mod protocols;
mod response;
mod site;

pub use protocols::SiteProtocol;
pub use response::{Outcome, ResponseConfig};
pub use site::SiteConfig;

use super::encoding::Encoding;
use resolab_record::RetryMode;
use serde::Deserialize;
use std::collections::HashSet;

/// `[web]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WebConfig {
    /// TCP port of HTTP/1.1 and HTTP/2.
    pub h2_port: u16,
    /// UDP port of HTTP/3.
    pub h3_port: u16,
    /// What TLS over TCP offers, the favourite first.
    pub tcp_alpn: Vec<TcpAlpn>,
    /// Whether HTTP/1.1 and HTTP/2 answers advertise HTTP/3 (RFC 7838).
    pub alt_svc: bool,
    /// `cache-control` of every answer with a body.
    pub cache_control: String,
    /// Content codings offered, the favourite first.
    pub compression: Vec<Encoding>,
    /// Address validation on the sites' listeners.
    pub retry: RetryMode,
}

/// A protocol of the web over TLS over TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum TcpAlpn {
    /// HTTP/2.
    #[serde(rename = "h2")]
    H2,
    /// HTTP/1.1.
    #[serde(rename = "http/1.1")]
    H1,
}

impl TcpAlpn {
    /// The identifier.
    pub const fn id(self) -> &'static str {
        match self {
            Self::H2 => "h2",
            Self::H1 => "http/1.1",
        }
    }
}

impl Default for WebConfig {
    fn default() -> Self {
        Self {
            h2_port: 443,
            h3_port: 443,
            tcp_alpn: vec![TcpAlpn::H2, TcpAlpn::H1],
            alt_svc: false,
            cache_control: "max-age=0".to_owned(),
            compression: vec![Encoding::Br, Encoding::Gzip],
            retry: RetryMode::Off,
        }
    }
}

/// `[[certificate]]`: names that share one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertificateConfig {
    /// Names, wildcards and addresses.
    pub names: Vec<String>,
    /// Whether HTTP/3 under it names the origins of the sites it covers (RFC 9412).
    #[serde(default)]
    pub origin_frame: bool,
}

/// What cannot be meant by the sites and certificates of one configuration.
pub fn contradiction(sites: &[SiteConfig], certificates: &[CertificateConfig]) -> Option<String> {
    let mut hosts = HashSet::new();
    for site in sites {
        if let Some(reason) = site.contradiction() {
            return Some(reason);
        }
        if !hosts.insert(site.host.to_ascii_lowercase()) {
            return Some(format!("site {} stands twice", site.host));
        }
    }
    let mut names = HashSet::new();
    for certificate in certificates {
        if certificate.names.is_empty() {
            return Some("a [[certificate]] has no names".to_owned());
        }
        for name in &certificate.names {
            if !names.insert(name.to_ascii_lowercase()) {
                return Some(format!("{name} stands on two certificates"));
            }
        }
    }
    None
}
