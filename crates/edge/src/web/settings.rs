//! Settings of the web side: `[web]`, `[[site]]`, `[[certificate]]` (docs/formats/edge.md).
//!
//! For: shapes and what contradicts itself in them. Not for: opening what they name.

use super::encoding::Encoding;
use super::server_time::ServerTime;
use http::HeaderValue;
use resolab_record::{RetryMode, TicketPolicy};
use resolab_transport::server::TicketTerms;
use serde::{Deserialize, Deserializer};
use std::collections::HashSet;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

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

/// `[[site]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteConfig {
    /// Host name, or `*.` and a name for every name one label below it.
    pub host: String,
    /// Addresses it is served on and its A and AAAA records say.
    #[serde(alias = "address", deserialize_with = "one_or_more")]
    pub addresses: Vec<IpAddr>,
    /// Folder with its files; `None`: generated bodies only.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// Session tickets for its name.
    #[serde(default = "default_policy")]
    pub ticket_policy: TicketPolicy,
    /// Age up to which they are taken back; absent: 24 hours.
    #[serde(default)]
    pub ticket_lifetime_s: Option<u32>,
    /// How many a handshake gives out; absent: 2.
    #[serde(default)]
    pub tickets_per_handshake_count: Option<u32>,
    /// Whether DNS has an HTTPS record for it, and of which protocols.
    #[serde(default)]
    pub https_record: HttpsRecord,
    /// Instead of that of `[web]`.
    #[serde(default)]
    pub alt_svc: Option<bool>,
    /// Instead of that of `[web]`.
    #[serde(default)]
    pub cache_control: Option<String>,
    /// Instead of that of `[web]`.
    #[serde(default)]
    pub compression: Option<Vec<Encoding>>,
    /// Time before each answer.
    #[serde(default)]
    pub server_time_ms: Option<ServerTime>,
    /// Time before the answers of some paths.
    #[serde(default, rename = "path")]
    pub paths: Vec<PathConfig>,
    /// Answer `PREFIX` + `BYTES.EXT` with a generated body.
    #[serde(default)]
    pub generated_prefix: Option<String>,
    /// Generated bodies.
    #[serde(default)]
    pub generated: Vec<GeneratedConfig>,
    /// Seed of what is drawn and generated.
    #[serde(default)]
    pub seed: u64,
}

impl SiteConfig {
    /// How its tickets are given out and taken back.
    pub fn ticket_terms(&self) -> TicketTerms {
        TicketTerms::new(self.ticket_policy)
            .with(self.ticket_lifetime_s, self.tickets_per_handshake_count)
    }
}

/// `[[site.path]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConfig {
    /// Path, or its beginning and `*`; the longest that fits counts.
    pub path: String,
    /// Time before its answers.
    pub server_time_ms: ServerTime,
}

/// `[[site.generated]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedConfig {
    /// Path of its URLs.
    pub path: String,
    /// Size before content coding.
    pub bytes: u64,
    /// `content-type`; absent: by the extension.
    #[serde(default)]
    pub content_type: Option<String>,
    /// Text or noise; absent: by the type.
    #[serde(default)]
    pub compressible: Option<bool>,
    /// Seed; absent: from that of the site and the path.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Time before its answers.
    #[serde(default)]
    pub server_time_ms: Option<ServerTime>,
}

/// `[[certificate]]`: names that share one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertificateConfig {
    /// Names, wildcards and addresses.
    pub names: Vec<String>,
}

/// `site.https_record`: yes, no, or the protocols it says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum HttpsRecord {
    /// `alpn=h3,h2`, or no record.
    Standard(bool),
    /// These protocols.
    Alpn(Vec<String>),
}

impl Default for HttpsRecord {
    fn default() -> Self {
        Self::Standard(false)
    }
}

impl HttpsRecord {
    /// The protocols of the record, `None` without one.
    pub fn alpn(&self) -> Option<Vec<&str>> {
        match self {
            Self::Standard(wanted) => wanted.then(|| vec!["h3", "h2"]),
            Self::Alpn(ids) => Some(ids.iter().map(String::as_str).collect()),
        }
    }
}

impl SiteConfig {
    /// Make its folder relative to that of the configuration.
    pub fn rebase(&mut self, base: &Path) {
        if let Some(folder) = &mut self.folder {
            *folder = base.join(&folder);
        }
    }

    /// What cannot be meant.
    pub fn contradiction(&self) -> Option<String> {
        let wrong = |reason: String| Some(format!("site {}: {reason}", self.host));
        if self.addresses.is_empty() {
            return wrong("it has no address".to_owned());
        }
        if self.addresses.iter().any(IpAddr::is_unspecified) {
            return wrong("address is a wildcard".to_owned());
        }
        if self.folder.is_none() && self.generated.is_empty() && self.generated_prefix.is_none() {
            return wrong(
                "neither folder nor generated bodies: there is nothing to serve".to_owned(),
            );
        }
        let alpn = self.https_record.alpn().unwrap_or_default();
        if alpn.iter().any(|id| !(1..=255).contains(&id.len())) {
            return wrong("https_record holds no ALPN identifier of 1 to 255 bytes".to_owned());
        }
        let media = self
            .generated
            .iter()
            .filter_map(|body| body.content_type.as_ref());
        let mut values = media.chain(&self.cache_control);
        if let Some(text) = values.find(|text| HeaderValue::from_str(text).is_err()) {
            return wrong(format!("`{text}` is no header value"));
        }
        if let Some(path) = self.foreign_path() {
            return wrong(format!("path `{path}` does not begin with /"));
        }
        let mut times = self.server_times();
        times.find_map(ServerTime::contradiction).and_then(wrong)
    }

    fn foreign_path(&self) -> Option<&str> {
        let paths = self.paths.iter().map(|path| &path.path);
        let generated = self.generated.iter().map(|generated| &generated.path);
        let mut all = paths.chain(generated).chain(&self.generated_prefix);
        all.find(|path| !path.starts_with('/')).map(String::as_str)
    }

    fn server_times(&self) -> impl Iterator<Item = &ServerTime> {
        let generated = self.generated.iter();
        let generated = generated.filter_map(|body| body.server_time_ms.as_ref());
        let paths = self.paths.iter().map(|path| &path.server_time_ms);
        self.server_time_ms.iter().chain(paths).chain(generated)
    }
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

fn default_policy() -> TicketPolicy {
    TicketPolicy::EarlyData
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected an IP address or a list of them")]
enum OneOrMore {
    One(IpAddr),
    More(Vec<IpAddr>),
}

fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<IpAddr>, D::Error> {
    OneOrMore::deserialize(deserializer).map(|value| match value {
        OneOrMore::One(address) => vec![address],
        OneOrMore::More(addresses) => addresses,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        host = "a.resolab.test"
        addresses = ["10.77.1.1", "fd77::1"]
        https_record = ["h3", "http/1.1"]
        compression = ["gzip"]
        server_time_ms = { distribution = "lognormal", median_ms = 20, sigma = 0.5 }
        generated_prefix = "/generated/"
        [[path]]
        path = "/api/*"
        server_time_ms = 5
        [[generated]]
        path = "/big.bin"
        bytes = 10000000000
    "#;

    fn read(text: &str) -> Result<SiteConfig, String> {
        let site: SiteConfig = toml::from_str(text).map_err(|error| error.to_string())?;
        site.contradiction().map_or(Ok(site), Err)
    }

    #[test]
    fn a_site_is_read_with_everything() {
        let site = read(GOOD).unwrap();
        assert_eq!(site.addresses.len(), 2);
        assert_eq!(site.https_record.alpn().unwrap(), ["h3", "http/1.1"]);
        assert_eq!(site.compression.as_deref(), Some(&[Encoding::Gzip][..]));
        assert!(matches!(site.server_time_ms, Some(ServerTime::Drawn(_))));
        assert_eq!(site.paths[0].server_time_ms, ServerTime::Constant(5.0));
    }

    #[test]
    fn what_cannot_be_meant_is_named() {
        for (from, to, part) in [
            ("[\"10.77.1.1\", \"fd77::1\"]", "[]", "no address"),
            ("10.77.1.1", "0.0.0.0", "wildcard"),
            ("10.77.1.1", "10.77.1.1.1", "IP address"),
            ("\"/api/*\"", "\"api\"", "`api` does not begin with /"),
            (
                "median_ms = 20",
                "median_ms = -1",
                "median_ms -1 is not between",
            ),
            ("\"gzip\"", "\"zip\"", "unknown variant `zip`"),
            ("\"http/1.1\"", "\"\"", "ALPN"),
        ] {
            let error = read(&GOOD.replace(from, to)).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        let bare = "host = \"a.test\"\naddress = \"10.0.0.1\"";
        assert!(read(bare).unwrap_err().contains("nothing to serve"));
    }
}
