//! Several names on one connection: what the resolver's connections may be used for beside DNS, and
//! what connections are told of it (docs/formats/edge.md, docs/formats/private-alpn.md).
//!
//! For: the `[coalescing]` section in force, and whose connections tell their origins. Not for:
//! streams; those are `serve::coalesced`'s.

use crate::config::{CoalescingConfig, EdgeConfig};
use crate::connections::OpenConnection;
use bytes::Bytes;
use resolab_http::{https_origin, origin_frame, private_alpn};
use resolab_transport::server::covers;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// The section in force.
#[derive(Debug, Default)]
pub struct Coalescing {
    config: CoalescingConfig,
    /// Name of the resolver, lower case; empty without one.
    resolver: String,
    resolver_port: u16,
    site_port: u16,
    /// On the resolver's certificate besides its own names.
    covered: RwLock<Names>,
    /// The certificates whose connections tell their origins, unless silenced.
    telling: Vec<Names>,
    is_silent: AtomicBool,
}

/// Names and wildcards of one certificate, lower case.
#[derive(Debug, Default)]
struct Names(Vec<String>);

impl Names {
    fn new<'a>(names: impl IntoIterator<Item = &'a String>) -> Self {
        Self(
            names
                .into_iter()
                .map(|name| name.to_ascii_lowercase())
                .collect(),
        )
    }

    /// Whether a name, in lower case, is among them or below a wildcard among them.
    fn cover(&self, host: &str) -> bool {
        self.0.iter().any(|name| covers(name, host))
    }
}

impl Coalescing {
    /// Of a configuration: its sites are on the resolver's certificate, not those loaded later.
    pub fn new(config: &EdgeConfig) -> Self {
        let section = config.coalescing.clone();
        let telling = config.certificates.iter().filter(|one| one.origin_frame);
        let coalescing = Self {
            site_port: config.web.h3_port,
            telling: telling.map(|one| Names::new(&one.names)).collect(),
            ..Self::default()
        };
        let Some(resolver) = &config.resolver else {
            return coalescing;
        };
        let sites = config.sites.iter().filter(|_| section.is_wanted());
        Self {
            resolver: resolver.name.to_ascii_lowercase(),
            resolver_port: resolver.ports.doh3.unwrap_or(443),
            covered: RwLock::new(Names::new(sites.map(|site| &site.host))),
            config: section,
            ..coalescing
        }
    }

    /// Whether the resolver's connections carry pages at all.
    pub fn is_wanted(&self) -> bool {
        self.config.is_wanted()
    }

    /// Names on the resolver's certificate besides its own.
    pub fn certificate_names(&self) -> Vec<String> {
        self.covered().0.clone()
    }

    /// Have the resolver's connections serve the sites that these names cover, instead of others.
    pub fn cover(&self, names: &[String]) {
        *self.covered.write().unwrap_or_else(PoisonError::into_inner) = Names::new(names);
    }

    /// Whether connections under the certificates that are to tell their origins do.
    pub fn set_telling(&self, telling: bool) {
        self.is_silent.store(!telling, Ordering::Relaxed);
    }

    /// Whether a connection may be asked for this host. One for the resolver's name may be asked for
    /// the sites only if told so; everything else is for the sites themselves to say.
    pub fn admits(&self, connection: &OpenConnection, host: &str) -> bool {
        let (name, alpn) = connection.name_and_alpn();
        if !self.is_resolver(name) || host.eq_ignore_ascii_case(&self.resolver) {
            return true;
        }
        self.covered().cover(&host.to_ascii_lowercase()) && self.is_on(alpn)
    }

    /// What HTTP/3 on a connection says after SETTINGS; `hosts` are the sites, asked for only where
    /// something is said.
    pub fn control_frames(
        &self,
        connection: &OpenConnection,
        hosts: impl FnOnce() -> Vec<String>,
    ) -> Bytes {
        let (name, alpn) = connection.name_and_alpn();
        if self.is_resolver(name) {
            if !self.config.origin_frame || !self.is_on(alpn) {
                return Bytes::new();
            }
            return frame(
                Some(&self.resolver),
                &self.covered(),
                &hosts(),
                self.resolver_port,
            );
        }
        let name = name.unwrap_or_default();
        let is_silent = self.is_silent.load(Ordering::Relaxed);
        let mut telling = self.telling.iter().filter(|_| !is_silent);
        let certificate = telling.find(|names| names.cover(name));
        certificate.map_or_else(Bytes::new, |names| {
            frame(None, names, &hosts(), self.site_port)
        })
    }

    fn covered(&self) -> RwLockReadGuard<'_, Names> {
        self.covered.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_resolver(&self, name: Option<&str>) -> bool {
        name.is_some_and(|name| name == self.resolver)
    }

    fn is_on(&self, alpn: Option<&str>) -> bool {
        match alpn {
            Some(private_alpn::ALPN) => self.config.private_alpn,
            _ => self.config.shared_connection,
        }
    }
}

/// The ORIGIN frame of what is served under a certificate's names; nothing where nothing is. No
/// wildcard is an origin.
fn frame(own: Option<&String>, covered: &Names, hosts: &[String], port: u16) -> Bytes {
    let served = hosts.iter().filter(|host| covered.cover(host));
    let named = served.filter(|host| !host.starts_with("*."));
    let origins: Vec<_> = own
        .into_iter()
        .chain(named)
        .map(|host| https_origin(host, port))
        .collect();
    origin_frame(origins.iter().map(String::as_str)).unwrap_or_default()
}
