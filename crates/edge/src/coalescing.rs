//! DNS and pages on one connection: what the resolver's connections may be used for beside DNS, and
//! what they are told of it (docs/formats/edge.md, docs/formats/private-alpn.md).
//!
//! For: the `[coalescing]` section in force. Not for: streams; those are `serve::coalesced`'s.

use crate::config::{CoalescingConfig, EdgeConfig};
use crate::connections::OpenConnection;
use bytes::Bytes;
use resolab_http::{https_origin, origin_frame, private_alpn};

/// The section in force.
#[derive(Debug, Clone, Default)]
pub struct Coalescing {
    config: CoalescingConfig,
    /// Name of the resolver, lower case; empty without one.
    resolver: String,
    /// Sites on the resolver's certificate, lower case.
    hosts: Vec<String>,
    origin_frame: Bytes,
}

impl Coalescing {
    /// Of a configuration: its sites, not those loaded later, which no certificate of the resolver
    /// covers.
    pub fn new(config: &EdgeConfig) -> Self {
        let Some(resolver) = &config.resolver else {
            return Self::default();
        };
        let section = config.coalescing.clone();
        let sites = config.sites.iter().filter(|_| section.is_wanted());
        let hosts: Vec<_> = sites.map(|site| site.host.to_ascii_lowercase()).collect();
        let port = resolver.ports.doh3.unwrap_or(443);
        let names = std::iter::once(&resolver.name).chain(&hosts);
        let origins: Vec<_> = names.map(|host| https_origin(host, port)).collect();
        let frame = origin_frame(origins.iter().map(String::as_str));
        Self {
            origin_frame: frame.unwrap_or_default(),
            resolver: resolver.name.to_ascii_lowercase(),
            hosts,
            config: section,
        }
    }

    /// Names on the resolver's certificate besides its own.
    pub fn certificate_names(&self) -> &[String] {
        &self.hosts
    }

    /// Whether a connection may be asked for this host. One for the resolver's name may be asked for
    /// the sites only if told so; everything else is for the sites themselves to say.
    pub fn admits(&self, connection: &OpenConnection, host: &str) -> bool {
        let (name, alpn) = connection.name_and_alpn();
        let is_resolver = name.is_some_and(|name| name == self.resolver);
        if !is_resolver || host.eq_ignore_ascii_case(&self.resolver) {
            return true;
        }
        let is_covered = self
            .hosts
            .iter()
            .any(|known| known.eq_ignore_ascii_case(host));
        is_covered && self.is_on(alpn)
    }

    /// What HTTP/3 on a connection says after SETTINGS.
    pub fn control_frames(&self, connection: &OpenConnection) -> Bytes {
        let (name, alpn) = connection.name_and_alpn();
        let is_resolver = name.is_some_and(|name| name == self.resolver);
        if is_resolver && self.config.origin_frame && self.is_on(alpn) {
            self.origin_frame.clone()
        } else {
            Bytes::new()
        }
    }

    fn is_on(&self, alpn: Option<&str>) -> bool {
        match alpn {
            Some(private_alpn::ALPN) => self.config.private_alpn,
            _ => self.config.shared_connection,
        }
    }
}
