//! `[[site]]` and what stands below it.
//!
//! For: its shape and what contradicts itself in one site. Not for: opening what it names.

use super::protocols::SiteProtocol;
use super::response::{self, ResponseConfig};
use crate::web::encoding::Encoding;
use crate::web::server_time::ServerTime;
use http::HeaderValue;
use resolab_record::TicketPolicy;
use resolab_transport::server::TicketTerms;
use serde::{Deserialize, Deserializer};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// Methods a site can be told to answer; the edge has its own answers to others.
const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

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
    /// Whether `NAME.gz` is the gzip coding of the file `NAME`, instead of codings made of it.
    #[serde(default)]
    pub precoded: bool,
    /// What its names offer on the sockets of `[web]`; absent: all that these do.
    #[serde(default)]
    pub protocols: Option<Vec<SiteProtocol>>,
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
    /// What some paths are answered with beside or without a body.
    #[serde(default, rename = "response")]
    pub responses: Vec<ResponseConfig>,
    /// Methods it answers; others get 405.
    #[serde(default = "default_methods")]
    pub methods: Vec<String>,
    /// Whether scripts of every origin may read its answers, with credentials and by any method.
    #[serde(default)]
    pub cors: bool,
    /// Seed of what is drawn and generated.
    #[serde(default)]
    pub seed: u64,
}

impl SiteConfig {
    /// Whether it has answers that need no folder.
    pub fn serves_without_files(&self) -> bool {
        let has_bodies = !self.generated.is_empty() || self.generated_prefix.is_some();
        has_bodies || !self.responses.is_empty()
    }

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
        let mut times = self.server_times();
        let fault = self
            .address_fault()
            .or_else(|| self.content_fault())
            .or_else(|| self.value_fault())
            .or_else(|| self.method_fault())
            .or_else(|| response::contradiction(&self.responses))
            .or_else(|| times.find_map(ServerTime::contradiction));
        fault.map(|reason| format!("site {}: {reason}", self.host))
    }

    fn address_fault(&self) -> Option<String> {
        if self.addresses.is_empty() {
            return Some("it has no address".to_owned());
        }
        let wildcard = self.addresses.iter().any(IpAddr::is_unspecified);
        wildcard.then(|| "address is a wildcard".to_owned())
    }

    fn content_fault(&self) -> Option<String> {
        if self.folder.is_none() && self.precoded {
            return Some("precoded says how files are coded, and there is no folder".to_owned());
        }
        if self.folder.is_none() && !self.serves_without_files() {
            let reason =
                "neither folder, generated bodies nor responses: there is nothing to serve";
            return Some(reason.to_owned());
        }
        let path = self.foreign_path()?;
        Some(format!("path `{path}` does not begin with /"))
    }

    fn value_fault(&self) -> Option<String> {
        if self.protocols.as_ref().is_some_and(Vec::is_empty) {
            return Some("protocols is empty: nobody could be served".to_owned());
        }
        let alpn = self.https_record.alpn().unwrap_or_default();
        if alpn.iter().any(|id| !(1..=255).contains(&id.len())) {
            let reason = "https_record holds no ALPN identifier of 1 to 255 bytes";
            return Some(reason.to_owned());
        }
        let generated = self.generated.iter();
        let media = generated.filter_map(|body| body.content_type.as_ref());
        let mut values = media.chain(&self.cache_control);
        let text = values.find(|text| HeaderValue::from_str(text).is_err())?;
        Some(format!("`{text}` is no header value"))
    }

    fn method_fault(&self) -> Option<String> {
        if !self.methods.iter().any(|method| method == "GET") {
            return Some("methods are without GET".to_owned());
        }
        let mut methods = self.methods.iter();
        let foreign = methods.find(|method| !METHODS.contains(&method.as_str()))?;
        Some(format!(
            "method `{foreign}` is none of {}",
            METHODS.join(", ")
        ))
    }

    fn foreign_path(&self) -> Option<&str> {
        let paths = self.paths.iter().map(|path| &path.path);
        let generated = self.generated.iter().map(|generated| &generated.path);
        let responses = self.responses.iter().map(|response| &response.path);
        let named = paths.chain(generated).chain(responses);
        let mut all = named.chain(&self.generated_prefix);
        all.find(|path| !path.starts_with('/')).map(String::as_str)
    }

    fn server_times(&self) -> impl Iterator<Item = &ServerTime> {
        let generated = self.generated.iter();
        let generated = generated.filter_map(|body| body.server_time_ms.as_ref());
        let responses = self.responses.iter();
        let responses = responses.filter_map(|response| response.server_time_ms.as_ref());
        let paths = self.paths.iter().map(|path| &path.server_time_ms);
        let of_site = self.server_time_ms.iter().chain(paths);
        of_site.chain(generated).chain(responses)
    }
}

fn default_policy() -> TicketPolicy {
    TicketPolicy::EarlyData
}

fn default_methods() -> Vec<String> {
    vec!["GET".to_owned(), "HEAD".to_owned()]
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
        methods = ["GET", "POST"]
        cors = true
        [[path]]
        path = "/api/*"
        server_time_ms = 5
        [[generated]]
        path = "/big.bin"
        bytes = 10000000000
        [[response]]
        path = "/gone"
        status = 404
        server_time_ms = 3
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
        assert_eq!((site.responses[0].status, site.cors), (Some(404), true));
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
            ("[\"GET\", \"POST\"]", "[\"POST\"]", "without GET"),
            ("\"POST\"", "\"OPTIONS\"", "method `OPTIONS` is none of"),
            ("\"/gone\"", "\"gone\"", "`gone` does not begin with /"),
            ("status = 404", "status = 999", "999"),
            (
                "\n        server_time_ms = 3",
                "\n        server_time_ms = -3",
                "-3",
            ),
        ] {
            let error = read(&GOOD.replace(from, to)).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        let bare = "host = \"a.test\"\naddress = \"10.0.0.1\"";
        for (more, part) in [
            ("", "nothing to serve"),
            (
                "precoded = true\ngenerated_prefix = '/'",
                "there is no folder",
            ),
            (
                "protocols = []\ngenerated_prefix = '/'",
                "protocols is empty",
            ),
            (
                "protocols = ['h4']\ngenerated_prefix = '/'",
                "unknown variant `h4`",
            ),
        ] {
            let error = read(&format!("{bare}\n{more}")).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
