//! The setting `[[site]]` and its subsections.
//!
//! For: the settings and their contradictions within a site. Not for: opening the named files.

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

/// The methods configurable for a site; the edge answers other methods itself.
const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// An entry of `[[site]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteConfig {
    /// The host name, or `*.` and a name for every name one label below.
    pub host: String,
    /// The addresses of the site's sockets and of the A and AAAA records.
    #[serde(alias = "address", deserialize_with = "one_or_more")]
    pub addresses: Vec<IpAddr>,
    /// The folder with the site's files; `None`: generated bodies only.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// The ticket policy of the site's name.
    #[serde(default = "default_policy")]
    pub ticket_policy: TicketPolicy,
    /// The maximum age of accepted tickets, in s; absent: 24 hours.
    #[serde(default)]
    pub ticket_lifetime_s: Option<u32>,
    /// The number of tickets issued by a handshake; absent: 2.
    #[serde(default)]
    pub tickets_per_handshake_count: Option<u32>,
    /// The HTTPS record in DNS, and its protocols.
    #[serde(default)]
    pub https_record: HttpsRecord,
    /// The setting replacing `alt_svc` of `[web]`.
    #[serde(default)]
    pub alt_svc: Option<bool>,
    /// The setting replacing `cache_control` of `[web]`.
    #[serde(default)]
    pub cache_control: Option<String>,
    /// The setting replacing `compression` of `[web]`.
    #[serde(default)]
    pub compression: Option<Vec<Encoding>>,
    /// True when the file `NAME.gz` is the gzip coding of the file `NAME`, instead of codings made
    /// by the edge.
    #[serde(default)]
    pub precoded: bool,
    /// The protocols offered by the site's names on the sockets of `[web]`; absent: all protocols
    /// of the sockets.
    #[serde(default)]
    pub protocols: Option<Vec<SiteProtocol>>,
    /// The wait before each answer.
    #[serde(default)]
    pub server_time_ms: Option<ServerTime>,
    /// The waits before the answers of some paths.
    #[serde(default, rename = "path")]
    pub paths: Vec<PathConfig>,
    /// The prefix of paths with generated bodies: `PREFIX` + `BYTES.EXT`.
    #[serde(default)]
    pub generated_prefix: Option<String>,
    /// The generated bodies of the site.
    #[serde(default)]
    pub generated: Vec<GeneratedConfig>,
    /// The answers of some paths beside or without a body.
    #[serde(default, rename = "response")]
    pub responses: Vec<ResponseConfig>,
    /// The accepted methods; other methods get 405.
    #[serde(default = "default_methods")]
    pub methods: Vec<String>,
    /// True when scripts of every origin may read the answers, with credentials and by any method.
    #[serde(default)]
    pub cors: bool,
    /// The seed of drawn waits and generated bodies.
    #[serde(default)]
    pub seed: u64,
}

impl SiteConfig {
    /// Returns true when the site has answers without a folder.
    pub fn serves_without_files(&self) -> bool {
        let has_bodies = !self.generated.is_empty() || self.generated_prefix.is_some();
        has_bodies || !self.responses.is_empty()
    }

    /// Returns the rules for issuing and accepting the site's tickets.
    pub fn ticket_terms(&self) -> TicketTerms {
        TicketTerms::new(self.ticket_policy)
            .with(self.ticket_lifetime_s, self.tickets_per_handshake_count)
    }
}

/// An entry of `[[site.path]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConfig {
    /// The path, or the beginning of a path and `*`; the longest match counts.
    pub path: String,
    /// The wait before the path's answers.
    pub server_time_ms: ServerTime,
}

/// An entry of `[[site.generated]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedConfig {
    /// The path of the body's URL.
    pub path: String,
    /// The size before content coding, in bytes.
    pub bytes: u64,
    /// The `content-type`; absent: by the extension.
    #[serde(default)]
    pub content_type: Option<String>,
    /// True for text, false for noise; absent: by the type.
    #[serde(default)]
    pub compressible: Option<bool>,
    /// The seed; absent: derived from the site's seed and the path.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The wait before the body's answers.
    #[serde(default)]
    pub server_time_ms: Option<ServerTime>,
}

/// The setting `site.https_record`: yes, no, or the protocols of the record.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum HttpsRecord {
    /// True for a record with `alpn=h3,h2`, false for no record.
    Standard(bool),
    /// A record with these protocols.
    Alpn(Vec<String>),
}

impl Default for HttpsRecord {
    fn default() -> Self {
        Self::Standard(false)
    }
}

impl HttpsRecord {
    /// Returns the protocols of the record; `None` without a record.
    pub fn alpn(&self) -> Option<Vec<&str>> {
        match self {
            Self::Standard(wanted) => wanted.then(|| vec!["h3", "h2"]),
            Self::Alpn(ids) => Some(ids.iter().map(String::as_str).collect()),
        }
    }
}

impl SiteConfig {
    /// Makes the site's folder relative to the configuration's folder.
    pub fn rebase(&mut self, base: &Path) {
        if let Some(folder) = &mut self.folder {
            *folder = base.join(&folder);
        }
    }

    /// Returns the contradiction in the site's settings, if any.
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
