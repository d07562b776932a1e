//! Reads and checks the edge's configuration file (docs/formats/edge.md).
//!
//! For: an error line naming the fault. Not for: opening the named files.

pub mod limits;
pub mod names;

use crate::config::limits::{Limits, TlsConfig};
use crate::config::names::{ForwardConfig, NameConfig, RecordOutputConfig};
use crate::web::settings::{self, CertificateConfig, SiteConfig, WebConfig};
use resolab_record::{RetryMode, TicketPolicy};
use serde::Deserialize;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// The reasons to reject a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The configuration file cannot be read.
    #[error("read {path}: {source}")]
    Read {
        /// The path of the file, unchanged.
        path: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The text is not a configuration.
    #[error("read {path}, line {line}: {reason}")]
    Syntax {
        /// The path of the file, unchanged.
        path: String,
        /// The line number, from 1.
        line: usize,
        /// The fault in the line.
        reason: String,
    },
    /// A value is invalid or contradicts another value.
    #[error("use {path}: {reason}")]
    Value {
        /// The path of the file, unchanged.
        path: String,
        /// The fault of the value.
        reason: String,
    },
}

/// The whole configuration file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeConfig {
    /// The certificate authority (`[ca]`).
    pub ca: CaConfig,
    /// The DNS side; without a resolver the edge is a web server only.
    pub resolver: Option<ResolverConfig>,
    /// The common settings of all sites.
    #[serde(default)]
    pub web: WebConfig,
    /// The limits on clients' resources.
    #[serde(default)]
    pub limits: Limits,
    /// The TLS versions and groups.
    #[serde(default)]
    pub tls: TlsConfig,
    /// The settings for DNS and pages on one connection.
    #[serde(default)]
    pub coalescing: CoalescingConfig,
    /// The configured sites, from `[[site]]` entries.
    #[serde(default, rename = "site")]
    pub sites: Vec<SiteConfig>,
    /// The certificates shared by several names.
    #[serde(default, rename = "certificate")]
    pub certificates: Vec<CertificateConfig>,
    /// The additional records, beside the records of sites and resolver.
    #[serde(default, rename = "zone")]
    pub records: Vec<ZoneRecordConfig>,
    /// The names with a delay or failure.
    #[serde(default, rename = "name")]
    pub names: Vec<NameConfig>,
    /// The choice of records to write.
    #[serde(default, rename = "records")]
    pub written: RecordOutputConfig,
}

/// The section `[ca]`: the certificate authority.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaConfig {
    /// The folder of `ca.pem` and `ca-key.pem`, made if missing.
    pub folder: PathBuf,
}

/// The section `[resolver]`: the DNS side.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolverConfig {
    /// The name on the resolver's certificate.
    pub name: String,
    /// The listening addresses of the resolver.
    pub addresses: Vec<IpAddr>,
    /// The offered transports with their ports; absent: all at their standard ports.
    #[serde(default = "PortsConfig::standard")]
    pub ports: PortsConfig,
    /// The URL path of DoH and DoH3.
    #[serde(default = "default_doh_path")]
    pub doh_path: String,
    /// The origins of the zone. Names below exist or are NXDOMAIN; all other names are refused.
    #[serde(default = "default_origins")]
    pub origins: Vec<String>,
    /// The zone files, read at the start.
    #[serde(default)]
    pub zone_files: Vec<PathBuf>,
    /// True when encoded answers are cached.
    #[serde(default = "default_true")]
    pub wire_cache: bool,
    /// The padding block: responses on encrypted transports to padded queries are padded to
    /// multiples of this length, in bytes.
    #[serde(default = "default_padding_block_bytes")]
    pub padding_block_bytes: u16,
    /// The scope of answers, in bits of the client's address, for clients with a client subnet
    /// option (RFC 7871). Absent: answers have no option, as from a server without support.
    pub client_subnet_scope: Option<u8>,
    /// True when messages with several questions are answered, for clients accepting partial
    /// responses. Otherwise, and for all other clients, the answer is FORMERR (RFC 9619).
    #[serde(default = "default_true")]
    pub partial_responses: bool,
    /// The upstream resolver for names outside the origins; absent: these names are refused.
    #[serde(default)]
    pub forward: Option<ForwardConfig>,
    /// The ticket policy of the resolver's name.
    #[serde(default = "default_policy")]
    pub ticket_policy: TicketPolicy,
    /// The maximum age of accepted tickets, in s; absent: 24 hours.
    pub ticket_lifetime_s: Option<u32>,
    /// The number of tickets issued by a handshake; absent: 2.
    pub tickets_per_handshake_count: Option<u32>,
    /// The address validation on the listeners of DoQ and DoH3.
    #[serde(default)]
    pub retry: RetryMode,
}

/// The section `[resolver.ports]`: a transport without a port is not offered.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortsConfig {
    /// The port of DoUDP and DoTCP.
    pub do53: Option<u16>,
    /// The port of DoT.
    pub dot: Option<u16>,
    /// The port of DoH over HTTP/2.
    pub doh: Option<u16>,
    /// The port of DoH over HTTP/3.
    pub doh3: Option<u16>,
    /// The port of DoQ.
    pub doq: Option<u16>,
}

impl PortsConfig {
    fn standard() -> Self {
        Self {
            do53: Some(53),
            dot: Some(853),
            doh: Some(443),
            doh3: Some(443),
            doq: Some(853),
        }
    }
}

/// An entry of `[[zone]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneRecordConfig {
    /// The owner name of the records.
    pub name: String,
    /// The record type, by name or as `TYPE65535`.
    #[serde(rename = "type")]
    pub record_type: String,
    /// The record data as in a zone file.
    pub value: String,
    /// The time to live, in s.
    #[serde(default = "default_ttl_s")]
    pub ttl_s: u32,
}

/// The section `[coalescing]`: DNS and pages on one connection.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CoalescingConfig {
    /// True when connections for the resolver's name also serve the sites.
    pub shared_connection: bool,
    /// True when the private ALPN is offered on DoH3's sockets.
    pub private_alpn: bool,
    /// True when HTTP/3 announces the origins (RFC 9412).
    pub origin_frame: bool,
}

impl Default for CoalescingConfig {
    fn default() -> Self {
        Self {
            shared_connection: false,
            private_alpn: false,
            origin_frame: true,
        }
    }
}

impl CoalescingConfig {
    /// Returns true when the resolver's certificate covers the sites.
    pub fn is_wanted(&self) -> bool {
        self.shared_connection || self.private_alpn
    }

    /// Returns the contradiction with the rest of the configuration, if any.
    fn contradiction(&self, config: &EdgeConfig) -> Option<String> {
        let has_doh3 = config
            .resolver
            .as_ref()
            .is_some_and(|resolver| resolver.ports.doh3.is_some());
        (self.is_wanted() && !has_doh3).then(|| {
            "[coalescing] needs [resolver] with a port for doh3: pages share its connections"
                .to_owned()
        })
    }
}

fn default_true() -> bool {
    true
}

fn default_padding_block_bytes() -> u16 {
    crate::dns::resolver::ResolverSettings::default().padding_block_bytes
}

fn default_doh_path() -> String {
    "/dns-query".to_owned()
}

fn default_origins() -> Vec<String> {
    vec!["resolab.test".to_owned()]
}

fn default_policy() -> TicketPolicy {
    TicketPolicy::EarlyData
}

fn default_ttl_s() -> u32 {
    crate::dns::zone::DEFAULT_TTL_S
}

impl EdgeConfig {
    /// Reads a configuration file; relative folders are relative to the file's folder.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
            path: shown.clone(),
            source,
        })?;
        let mut config = Self::parse(&text, &shown)?;
        let base = path.parent().unwrap_or(Path::new(""));
        config.ca.folder = base.join(&config.ca.folder);
        for file in config
            .resolver
            .iter_mut()
            .flat_map(|resolver| &mut resolver.zone_files)
        {
            *file = base.join(&file);
        }
        let forward = config
            .resolver
            .iter_mut()
            .flat_map(|resolver| &mut resolver.forward);
        for file in forward.flat_map(|forward| &mut forward.ca_file) {
            *file = base.join(&file);
        }
        for site in &mut config.sites {
            site.rebase(base);
        }
        Ok(config)
    }

    /// Reads the text of the file `path`.
    pub fn parse(text: &str, path: &str) -> Result<Self, ConfigError> {
        let config: Self = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start).min(text.len());
            ConfigError::Syntax {
                path: path.to_owned(),
                line: 1 + text[..at].matches('\n').count(),
                reason: error.message().replace('\n', " "),
            }
        })?;
        match config.contradiction() {
            Some(reason) => Err(ConfigError::Value {
                path: path.to_owned(),
                reason,
            }),
            None => Ok(config),
        }
    }

    fn contradiction(&self) -> Option<String> {
        if self.resolver.is_none() && self.sites.is_empty() {
            return Some("neither [resolver] nor [[site]]: there is nothing to serve".to_owned());
        }
        if let Some(reason) = self
            .limits
            .contradiction()
            .or_else(|| self.tls.contradiction())
        {
            return Some(reason);
        }
        let wildcard = |address: &IpAddr| address.is_unspecified();
        if let Some(resolver) = &self.resolver {
            if resolver.addresses.is_empty() {
                return Some("[resolver] addresses is empty".to_owned());
            }
            if resolver.addresses.iter().any(wildcard) {
                return Some(
                    "[resolver] addresses holds a wildcard: answers would leave from an \
                             address nobody asked; name each address"
                        .to_owned(),
                );
            }
        }
        if let Some(reason) = self.names.iter().find_map(NameConfig::contradiction) {
            return Some(reason);
        }
        settings::contradiction(&self.sites, &self.certificates)
            .or_else(|| self.coalescing.contradiction(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        [ca]
        folder = "ca"
        [resolver]
        name = "dns.resolab.test"
        addresses = ["10.77.0.1"]
        ports = { do53 = 5300, doq = 8530 }
        ticket_policy = "resume"
        [[site]]
        host = "example.resolab.test"
        address = "10.77.1.1"
        folder = "pages/example"
        https_record = true
        [[zone]]
        name = "x.resolab.test"
        type = "A"
        value = "10.77.1.9"
    "#;

    #[test]
    fn a_good_file_is_read_with_its_defaults() {
        let config = EdgeConfig::parse(GOOD, "edge.toml").unwrap();
        let resolver = config.resolver.unwrap();
        assert_eq!(
            (resolver.ports.do53, resolver.ports.doh),
            (Some(5300), None)
        );
        assert_eq!(resolver.ticket_policy, TicketPolicy::Resume);
        assert_eq!(resolver.doh_path, "/dns-query");
        assert_eq!(config.sites[0].ticket_policy, TicketPolicy::EarlyData);
        assert_eq!((config.web.h2_port, config.web.h3_port), (443, 443));
        assert_eq!(config.records[0].ttl_s, 300);
        let all = GOOD.replace("ports = { do53 = 5300, doq = 8530 }", "");
        let resolver = EdgeConfig::parse(&all, "edge.toml")
            .unwrap()
            .resolver
            .unwrap();
        assert_eq!(
            (resolver.ports.do53, resolver.ports.doh),
            (Some(53), Some(443))
        );
    }

    #[test]
    fn errors_are_one_line_and_name_the_culprit() {
        let cases = [
            (
                GOOD.replace("https_record", "https_recrod"),
                "unknown field `https_recrod`",
            ),
            (
                GOOD.replace("\"resume\"", "\"sometimes\""),
                "unknown variant `sometimes`",
            ),
            (GOOD.replace("10.77.1.1", "10.77.1.1.1"), "IP address"),
            (GOOD.replace("10.77.0.1", "0.0.0.0"), "wildcard"),
            (GOOD.replace("[ca]", "[cb]"), "`cb`"),
            ("[ca]\nfolder = \"x\"\n".to_owned(), "nothing to serve"),
            (
                format!(
                    "{GOOD}\n[[site]]\nhost=\"EXAMPLE.resolab.test\"\naddress=\"10.77.1.2\"\nfolder=\"x\""
                ),
                "stands twice",
            ),
        ];
        for (text, part) in cases {
            let line = EdgeConfig::parse(&text, "edge.toml")
                .unwrap_err()
                .to_string();
            assert!(line.contains(part) && line.contains("edge.toml"), "{line}");
            assert!(!line.contains('\n'), "{line}");
        }
        let line = EdgeConfig::parse(&GOOD.replace("https_record", "oops"), "e").unwrap_err();
        assert!(line.to_string().contains("line 13"), "{line}");
    }
}
