//! A site's files, read once and served from memory, byte for byte.
//!
//! For: what a path is answered with. Not for: HTTP versions, compression or caching.

use bytes::Bytes;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// `content-type`.
    pub content_type: &'static str,
    /// Contents.
    pub body: Bytes,
}

/// A site.
#[derive(Debug, Clone, Default)]
pub struct Site {
    resources: HashMap<String, Resource>,
}

const INDEX: &str = "index.html";

/// `content-type` by extension; what is not here is `application/octet-stream`.
const CONTENT_TYPES: [(&str, &str); 23] = [
    ("avif", "image/avif"),
    ("css", "text/css; charset=utf-8"),
    ("gif", "image/gif"),
    ("htm", "text/html; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("ico", "image/x-icon"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("mp4", "video/mp4"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("ttf", "font/ttf"),
    ("txt", "text/plain; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("xml", "application/xml"),
];

impl Site {
    /// Read every file below a folder.
    pub fn load(folder: &Path) -> io::Result<Self> {
        let mut site = Self::default();
        site.load_folder(folder, "/")?;
        Ok(site)
    }

    fn load_folder(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            if fs::metadata(&path)?.is_dir() {
                self.load_folder(&path, &format!("{prefix}{name}/"))?;
                continue;
            }
            let resource = Resource {
                content_type: content_type(&name),
                body: Bytes::from(fs::read(&path)?),
            };
            if name == INDEX {
                self.resources.insert(prefix.to_owned(), resource.clone());
            }
            self.resources.insert(format!("{prefix}{name}"), resource);
        }
        Ok(())
    }

    /// Files, an index counted once.
    pub fn file_count(&self) -> usize {
        self.resources
            .keys()
            .filter(|path| !path.ends_with('/'))
            .count()
    }

    /// What a request target names: a file called exactly like it, query included, else the file
    /// of its path.
    pub fn find(&self, target: &str) -> Option<&Resource> {
        let whole = percent_decode(target);
        let path = percent_decode(target.split_once('?').map_or(target, |(path, _)| path));
        self.resources
            .get(&whole)
            .or_else(|| self.resources.get(&path))
    }
}

fn content_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let extension = extension.to_ascii_lowercase();
    let known = CONTENT_TYPES
        .iter()
        .find(|(candidate, _)| *candidate == extension);
    known.map_or("application/octet-stream", |(_, content_type)| content_type)
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = tail.get(..2).filter(|_| first == b'%');
        let decoded = hex
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(decoded.unwrap_or(first));
        rest = if decoded.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_path_index_and_query() {
        let folder = std::env::temp_dir().join(format!("resolab-site-{}", std::process::id()));
        fs::create_dir_all(folder.join("img")).unwrap();
        fs::write(folder.join("index.html"), "root").unwrap();
        fs::write(folder.join("img/a b.PNG"), [0, 255, 10]).unwrap();
        fs::write(folder.join("load.php?lang=en"), "x").unwrap();
        let site = Site::load(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(site.file_count(), 3);
        assert_eq!(site.find("/").unwrap().body, "root");
        assert_eq!(
            site.find("/index.html?v=3").unwrap().content_type,
            "text/html; charset=utf-8"
        );
        let image = site.find("/img/a%20b.PNG").unwrap();
        assert_eq!(
            (image.content_type, &image.body[..]),
            ("image/png", &[0, 255, 10][..])
        );
        assert_eq!(
            site.find("/load.php?lang=en").unwrap().content_type,
            "application/octet-stream"
        );
        assert!(site.find("/img").is_none() && site.find("/../etc/passwd").is_none());
        assert!(Site::load(&folder).is_err());
    }

    #[test]
    fn a_bad_escape_stays_as_it_is() {
        assert_eq!(percent_decode("/100%/%zz/%41"), "/100%/%zz/A");
    }
}
