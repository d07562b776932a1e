//! A site: its files, served from memory byte for byte, its generated bodies and its responses.
//!
//! For: the answer of a path, and the wait before the answer. Not for: HTTP.

use super::folder::{self, CodingSource};
use super::generated::{GeneratedBody, split_mix64};
use super::media_types::content_type;
use super::resource::{Resource, texture_of};
use super::response::ConfiguredResponse;
use super::server_time::WaitSequence;
use super::settings::{SiteConfig, SiteProtocol, WebConfig};
use http::HeaderValue;
use percent_encoding::percent_decode_str;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// A loaded site, ready to be served.
#[derive(Debug)]
pub struct Site {
    /// The `cache-control` field of the site's answers.
    pub cache_control: HeaderValue,
    /// The `alt-svc` field of the site's answers over TCP.
    pub alt_svc: Option<HeaderValue>,
    /// The accepted methods, in the form of the field `allow`.
    pub methods: Vec<String>,
    /// True when scripts of every origin may read the site's answers.
    pub cors: bool,
    responses: HashMap<String, ConfiguredResponse>,
    resources: HashMap<String, Arc<Resource>>,
    waits: Option<WaitSequence>,
    path_waits: Vec<(String, WaitSequence)>,
    generated_prefix: Option<String>,
    seed: u64,
}

/// The largest body requested by a path, in bytes.
const GENERATED_LIMIT_BYTES: u64 = 1 << 40;

impl Site {
    /// Reads every file, makes every body, and compresses compressible bodies. The call takes long:
    /// do not call in a task serving others.
    pub fn build(config: &SiteConfig, web: &WebConfig) -> Result<Self, String> {
        let compression = config.compression.as_ref().unwrap_or(&web.compression);
        let codings = if config.precoded {
            CodingSource::Beside
        } else {
            CodingSource::Made(compression)
        };
        let mut site = Self::empty(config, web)?;
        if let Some(folder) = &config.folder {
            let shown = folder.display();
            site.resources = folder::load(folder, codings)
                .map_err(|error| format!("site {}: read {shown}: {error}", config.host))?;
            // A host of redirects alone has an empty one.
            if site.resources.is_empty() && !config.serves_without_files() {
                return Err(format!("site {}: {shown} holds no file", config.host));
            }
        }
        for body in &config.generated {
            let media = body.content_type.as_deref();
            let media = media.unwrap_or_else(|| content_type(&body.path));
            let seed = body
                .seed
                .unwrap_or_else(|| seed_of(config.seed, &body.path));
            let content =
                GeneratedBody::new(seed, texture_of(media, body.compressible), body.bytes);
            let mut resource = Resource::from_generated(media, content, compression);
            let waits = body.server_time_ms.as_ref();
            resource.waits = waits
                .map(|time| WaitSequence::new(time, seed))
                .transpose()?;
            site.resources.insert(body.path.clone(), Arc::new(resource));
        }
        Ok(site)
    }

    fn empty(config: &SiteConfig, web: &WebConfig) -> Result<Self, String> {
        let header = |text: &str| {
            HeaderValue::from_str(text)
                .map_err(|_| format!("site {}: `{text}` is no header value", config.host))
        };
        let cache_control = config.cache_control.as_ref().unwrap_or(&web.cache_control);
        if let Some(protocol) = config.protocol_without_socket(web) {
            let reason = format!("protocols holds `{protocol}`, which [web] tcp_alpn does not");
            return Err(format!("site {}: {reason}", config.host));
        }
        let h3_offered = config.offers(SiteProtocol::H3);
        let alt_svc = config.alt_svc.unwrap_or(web.alt_svc && h3_offered);
        let alt_svc = alt_svc.then(|| header(&format!("h3=\":{}\"; ma=86400", web.h3_port)));
        let path_waits = config.paths.iter().map(|path| {
            let seed = seed_of(config.seed, &path.path);
            let waits = WaitSequence::new(&path.server_time_ms, seed)?;
            Ok::<_, String>((path.path.clone(), waits))
        });
        let responses = config.responses.iter().map(|response| {
            let seed = seed_of(config.seed, &response.path);
            Ok::<_, String>((
                response.path.clone(),
                ConfiguredResponse::new(response, seed)?,
            ))
        });
        let waits = config.server_time_ms.as_ref();
        Ok(Self {
            cache_control: header(cache_control)?,
            alt_svc: alt_svc.transpose()?,
            methods: config.methods.clone(),
            cors: config.cors,
            responses: responses.collect::<Result<_, _>>()?,
            resources: HashMap::new(),
            waits: waits
                .map(|time| WaitSequence::new(time, config.seed))
                .transpose()?,
            path_waits: path_waits.collect::<Result<_, _>>()?,
            generated_prefix: config.generated_prefix.clone(),
            seed: config.seed,
        })
    }

    /// Returns the resource of a request target. The first match counts: a file with exactly this
    /// name, including the query; the file of the path; a body of the size in the path.
    pub fn find(&self, target: &str) -> Option<Arc<Resource>> {
        let whole = percent_decode(target);
        let path = percent_decode(path_of(target));
        let known = self.resources.get(&whole);
        known
            .or_else(|| self.resources.get(&path))
            .cloned()
            .or_else(|| self.generate(&path))
    }

    /// Returns the configured response of a request target: for exactly this target, including the
    /// query, else for its path.
    pub fn response(&self, target: &str) -> Option<&ConfiguredResponse> {
        let known = self.responses.get(&percent_decode(target));
        known.or_else(|| self.responses.get(&percent_decode(path_of(target))))
    }

    /// Returns the wait before this answer, from the response, else the body, else the path.
    pub fn wait(
        &self,
        target: &str,
        response: Option<&ConfiguredResponse>,
        resource: Option<&Resource>,
    ) -> Option<Duration> {
        let path = percent_decode(path_of(target));
        let of_path = self.path_waits.iter().filter(|(pattern, _)| {
            let beginning = pattern.strip_suffix('*');
            beginning.map_or(*pattern == path, |beginning| path.starts_with(beginning))
        });
        let of_path = of_path.max_by_key(|(pattern, _)| pattern.len());
        response
            .and_then(|response| response.waits.as_ref())
            .or_else(|| resource.and_then(|resource| resource.waits.as_ref()))
            .or(of_path.map(|(_, waits)| waits))
            .or(self.waits.as_ref())
            .map(WaitSequence::next)
    }

    fn generate(&self, path: &str) -> Option<Arc<Resource>> {
        let name = path.strip_prefix(self.generated_prefix.as_deref()?)?;
        let digits = name.split('.').next()?;
        let only_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let bytes: u64 = digits.parse().ok().filter(|_| only_digits)?;
        if bytes > GENERATED_LIMIT_BYTES {
            return None;
        }
        let media = content_type(name);
        let seed = seed_of(self.seed, path);
        let content = GeneratedBody::new(seed, texture_of(media, None), bytes);
        Some(Arc::new(Resource::from_stream(media, content)))
    }
}

fn path_of(target: &str) -> &str {
    target.split_once('?').map_or(target, |(path, _)| path)
}

fn seed_of(seed: u64, path: &str) -> u64 {
    let step = |state: u64, byte: u8| split_mix64(state ^ u64::from(byte));
    path.bytes().fold(split_mix64(seed), step)
}

fn percent_decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::body::Body;
    use super::*;
    use bytes::Bytes;
    use std::fs;
    use std::path::PathBuf;

    fn build(folder: Option<PathBuf>, more: &str) -> Result<Site, String> {
        let text = format!("host = \"a.test\"\naddress = \"10.0.0.1\"\n{more}");
        let mut config: SiteConfig = toml::from_str(&text).unwrap();
        config.folder = folder;
        Site::build(&config, &WebConfig::default())
    }

    fn body(site: &Site, target: &str) -> Bytes {
        site.find(target)
            .unwrap()
            .identity
            .body
            .clone()
            .next(usize::MAX)
    }

    #[test]
    fn files_are_found_by_path_index_and_query() {
        let folder = std::env::temp_dir().join(format!("resolab-site-{}", std::process::id()));
        fs::create_dir_all(folder.join("img")).unwrap();
        fs::write(folder.join("index.html"), "root").unwrap();
        fs::write(folder.join("img/a b.PNG"), [0, 255, 10]).unwrap();
        fs::write(folder.join("load.php?lang=en"), "x").unwrap();
        let site = build(Some(folder.clone()), "").unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(body(&site, "/"), "root");
        let index = site.find("/index.html?v=3").unwrap();
        assert_eq!(index.content_type, "text/html; charset=utf-8");
        assert!(index.last_modified.is_some());
        let image = site.find("/img/a%20b.PNG").unwrap();
        assert_eq!(image.content_type, "image/png");
        assert_eq!(body(&site, "/img/a%20b.PNG"), &[0, 255, 10][..]);
        let odd = site.find("/load.php?lang=en").unwrap();
        assert_eq!(odd.content_type, "application/octet-stream");
        assert!(site.find("/img").is_none() && site.find("/../etc/passwd").is_none());
        assert!(build(Some(folder), "").is_err());
    }

    #[test]
    fn generated_bodies_need_no_folder() {
        let more = "generated_prefix = \"/g/\"\n[[generated]]\npath = \"/a.css\"\nbytes = 5000\n\
                    [[generated]]\npath = \"/big.bin\"\nbytes = 99000000000";
        let site = build(None, more).unwrap();
        let style = site.find("/a.css").unwrap();
        assert_eq!((style.identity.body.len(), style.encoded.len()), (5_000, 2));
        let big = site.find("/big.bin").unwrap();
        assert!(matches!(big.identity.body, Body::Generated(_)));
        assert_eq!(big.identity.body.len(), 99_000_000_000);
        let asked = site.find("/g/777.js?x").unwrap();
        assert_eq!(asked.content_type, "text/javascript; charset=utf-8");
        assert_eq!(body(&site, "/g/777.js").len(), 777);
        assert_ne!(body(&site, "/g/777.js"), body(&site, "/g/777.txt"));
        for target in [
            "/g/",
            "/g/x.js",
            "/g/-1.js",
            "/g/+1",
            "/g/9999999999999999.bin",
        ] {
            assert!(site.find(target).is_none(), "{target}");
        }
    }

    #[test]
    fn http3_is_advertised_where_it_is_offered() {
        let web: WebConfig = toml::from_str("alt_svc = true").unwrap();
        for (more, is_said) in [
            ("", true),
            ("protocols = ['h2', 'h3']", true),
            ("protocols = ['h2']", false),
            ("protocols = ['h2']\nalt_svc = true", true),
            ("alt_svc = false", false),
        ] {
            let text = format!("host = 'a.test'\naddress = '10.0.0.1'\n{more}");
            let site = Site::build(&toml::from_str(&text).unwrap(), &web).unwrap();
            assert_eq!(site.alt_svc.is_some(), is_said, "{more}");
        }
        let old: WebConfig = toml::from_str("tcp_alpn = ['http/1.1']").unwrap();
        let text = "host = 'a.test'\naddress = '10.0.0.1'\nprotocols = ['h2']";
        let error = Site::build(&toml::from_str(text).unwrap(), &old).unwrap_err();
        assert!(error.contains("a.test: protocols holds `h2`"), "{error}");
    }

    #[test]
    fn a_response_is_for_its_query_before_its_path() {
        let more = "server_time_ms = 1\n\
                    [[response]]\npath = \"/a\"\nstatus = 404\nserver_time_ms = 7\n\
                    [[response]]\npath = \"/a?b=1\"\nstatus = 503";
        let site = build(None, more).unwrap();
        for (target, status, ms) in [("/a", 404, 7), ("/a?b=2", 404, 7), ("/a?b=1", 503, 1)] {
            let response = site.response(target).unwrap();
            assert_eq!(response.status.as_u16(), status, "{target}");
            let wait = site.wait(target, Some(response), None);
            assert_eq!(wait, Some(Duration::from_millis(ms)), "{target}");
        }
        assert!(site.response("/b").is_none());
        let wait = site.wait("/a", None, None);
        assert_eq!(wait, Some(Duration::from_millis(1)), "a preflight's");
    }

    #[test]
    fn the_nearest_server_time_counts() {
        let more = "server_time_ms = 1\ngenerated_prefix = \"/\"\n\
                    [[path]]\npath = \"/a/*\"\nserver_time_ms = 2\n\
                    [[path]]\npath = \"/a/b/*\"\nserver_time_ms = 3\n\
                    [[generated]]\npath = \"/a/b/c\"\nbytes = 1\nserver_time_ms = 4";
        let site = build(None, more).unwrap();
        for (target, ms) in [("/9", 1), ("/a/9", 2), ("/a/b/9?q", 3), ("/a/b/c", 4)] {
            let wait = site.wait(target, site.response(target), site.find(target).as_deref());
            assert_eq!(wait, Some(Duration::from_millis(ms)), "{target}");
        }
    }

    #[test]
    fn a_bad_escape_stays_as_it_is() {
        assert_eq!(percent_decode("/100%/%zz/%+f/%41"), "/100%/%zz/%+f/A");
    }
}
