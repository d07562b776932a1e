//! Connection coalescing: further uses of the resolver's connections beside DNS, and the
//! announcement of these uses to clients (docs/formats/edge.md, docs/formats/private-alpn.md).
//!
//! For: the active `[coalescing]` section, and the connections announcing their origins.
//! Not for: streams, see `serve::private_alpn`.

use crate::config::{CoalescingConfig, EdgeConfig};
use crate::connections::OpenConnection;
use bytes::Bytes;
use resolab_http::{https_origin, origin_frame, private_alpn};
use resolab_transport::server::covers;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// The active `[coalescing]` section.
#[derive(Debug, Default)]
pub struct Coalescing {
    config: CoalescingConfig,
    /// The resolver's name in lower case; empty without a resolver.
    resolver: String,
    resolver_port: u16,
    site_port: u16,
    /// The additional names on the resolver's certificate.
    covered: RwLock<CertificateNames>,
    /// The certificates with ORIGIN frames on their connections, unless silenced.
    origin_frame_names: Vec<CertificateNames>,
    is_silent: AtomicBool,
}

/// The names and wildcards of one certificate, in lower case.
#[derive(Debug, Default)]
struct CertificateNames(Vec<String>);

impl CertificateNames {
    fn new<'a>(names: impl IntoIterator<Item = &'a String>) -> Self {
        Self(
            names
                .into_iter()
                .map(|name| name.to_ascii_lowercase())
                .collect(),
        )
    }

    /// Returns true for a name (in lower case) in the list or below a wildcard of the list.
    fn cover(&self, host: &str) -> bool {
        self.0.iter().any(|name| covers(name, host))
    }
}

impl Coalescing {
    /// Makes the state for a configuration. The configuration's sites are on the resolver's
    /// certificate; sites loaded later are not.
    pub fn new(config: &EdgeConfig) -> Self {
        let section = config.coalescing.clone();
        let origin_frame_names = config
            .certificates
            .iter()
            .filter(|certificate| certificate.origin_frame);
        let coalescing = Self {
            site_port: config.web.h3_port,
            origin_frame_names: origin_frame_names
                .map(|certificate| CertificateNames::new(&certificate.names))
                .collect(),
            ..Self::default()
        };
        let Some(resolver) = &config.resolver else {
            return coalescing;
        };
        let sites = config.sites.iter().filter(|_| section.is_wanted());
        Self {
            resolver: resolver.name.to_ascii_lowercase(),
            resolver_port: resolver.ports.doh3.unwrap_or(443),
            covered: RwLock::new(CertificateNames::new(sites.map(|site| &site.host))),
            config: section,
            ..coalescing
        }
    }

    /// Returns true when the resolver's connections carry pages.
    pub fn is_wanted(&self) -> bool {
        self.config.is_wanted()
    }

    /// Returns the additional names on the resolver's certificate.
    pub fn certificate_names(&self) -> Vec<String> {
        self.covered().0.clone()
    }

    /// Sets the sites served on the resolver's connections: the sites covered by these names.
    pub fn cover(&self, names: &[String]) {
        *self.covered.write().unwrap_or_else(PoisonError::into_inner) =
            CertificateNames::new(names);
    }

    /// Switches the ORIGIN frames of certificates with `origin_frame` on or off.
    pub fn set_telling(&self, origin_frame_names: bool) {
        self.is_silent.store(!origin_frame_names, Ordering::Relaxed);
    }

    /// Returns true when a connection may serve this host. A connection for the resolver's name may
    /// serve the sites only if configured. For other connections, the sites decide.
    pub fn admits(&self, connection: &OpenConnection, host: &str) -> bool {
        let (name, alpn) = connection.name_and_alpn();
        if !self.is_resolver(name) || host.eq_ignore_ascii_case(&self.resolver) {
            return true;
        }
        self.covered().cover(&host.to_ascii_lowercase()) && self.is_on(alpn)
    }

    /// Returns the HTTP/3 control frames after SETTINGS. `hosts` returns the sites, and is called
    /// only if there is a frame.
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
        let mut origin_frame_names = self.origin_frame_names.iter().filter(|_| !is_silent);
        let certificate = origin_frame_names.find(|names| names.cover(name));
        certificate.map_or_else(Bytes::new, |names| {
            frame(None, names, &hosts(), self.site_port)
        })
    }

    fn covered(&self) -> RwLockReadGuard<'_, CertificateNames> {
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

/// Returns the ORIGIN frame with the hosts served under a certificate's names; empty without a
/// host. Wildcards are not origins.
fn frame(own: Option<&String>, covered: &CertificateNames, hosts: &[String], port: u16) -> Bytes {
    let served = hosts.iter().filter(|host| covered.cover(host));
    let named = served.filter(|host| !host.starts_with("*."));
    let origins: Vec<_> = own
        .into_iter()
        .chain(named)
        .map(|host| https_origin(host, port))
        .collect();
    origin_frame(origins.iter().map(String::as_str)).unwrap_or_default()
}
