//! Settings of the web side: `[web]`, `[[site]]`, `[[certificate]]` (docs/formats/edge.md).
//!
//! For: the settings and their contradictions. Not for: opening the named files.

mod protocols;
mod response;
mod site;

pub use protocols::SiteProtocol;
pub use response::{ResponseConfig, ResponseOutcome};
pub use site::SiteConfig;

use super::encoding::Encoding;
use resolab_record::RetryMode;
use serde::Deserialize;
use std::collections::HashSet;

/// The section `[web]`: the common settings of all sites.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WebConfig {
    /// The TCP port of HTTP/1.1 and HTTP/2.
    pub h2_port: u16,
    /// The UDP port of HTTP/3.
    pub h3_port: u16,
    /// The protocols offered by TLS over TCP, in order of preference.
    pub tcp_alpn: Vec<TcpAlpn>,
    /// True when HTTP/1.1 and HTTP/2 answers advertise HTTP/3 (RFC 7838).
    pub alt_svc: bool,
    /// The `cache-control` field of every answer with a body.
    pub cache_control: String,
    /// The offered content codings, in order of preference.
    pub compression: Vec<Encoding>,
    /// The address validation on the sites' listeners.
    pub retry: RetryMode,
}

/// A web protocol over TLS over TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum TcpAlpn {
    /// HTTP/2, with the identifier `h2`.
    #[serde(rename = "h2")]
    H2,
    /// HTTP/1.1, with the identifier `http/1.1`.
    #[serde(rename = "http/1.1")]
    H1,
}

impl TcpAlpn {
    /// Returns the ALPN identifier.
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

/// An entry of `[[certificate]]`: a certificate shared by several names.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertificateConfig {
    /// The names, wildcards and addresses on the certificate.
    pub names: Vec<String>,
    /// True when HTTP/3 under the certificate announces the origins of the covered sites (RFC
    /// 9412).
    #[serde(default)]
    pub origin_frame: bool,
}

/// Returns the contradiction between the sites and certificates of a configuration, if any.
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
