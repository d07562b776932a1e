//! A folder's files as resources, by their URL paths.
//!
//! For: reading files once, with their content codings. Not for: choosing a resource for a request.

use super::encoding::Encoding;
use super::media_types::content_type;
use super::resource::Resource;
use bytes::Bytes;
use std::collections::{HashMap, HashSet};
use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;
use std::sync::Arc;

const INDEX: &str = "index.html";
const CODED: &str = ".gz";

/// The source of the files' content codings.
#[derive(Debug, Clone, Copy)]
pub enum CodingSource<'a> {
    /// The edge makes these codings of compressible files, in order of preference.
    Made(&'a [Encoding]),
    /// The file `NAME.gz` beside `NAME` is the gzip coding.
    Beside,
}

/// Loads every file in a folder and below.
pub fn load(
    folder: &Path,
    codings: CodingSource<'_>,
) -> io::Result<HashMap<String, Arc<Resource>>> {
    let mut resources = HashMap::new();
    load_folder(folder, "/", codings, &mut resources)?;
    Ok(resources)
}

fn load_folder(
    folder: &Path,
    prefix: &str,
    codings: CodingSource<'_>,
    resources: &mut HashMap<String, Arc<Resource>>,
) -> io::Result<()> {
    let entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    let names: HashSet<_> = entries.iter().map(name_of).collect();
    for entry in &entries {
        let (name, path) = (name_of(entry), entry.path());
        if fs::metadata(&path)?.is_dir() {
            load_folder(&path, &format!("{prefix}{name}/"), codings, resources)?;
            continue;
        }
        let is_beside = matches!(codings, CodingSource::Beside);
        if is_beside
            && name
                .strip_suffix(CODED)
                .is_some_and(|stem| names.contains(stem))
        {
            continue;
        }
        let gzip = format!("{name}{CODED}");
        let gzip = (is_beside && names.contains(&gzip)).then(|| folder.join(gzip));
        let resource = Arc::new(read(&path, &name, codings, gzip.as_deref())?);
        if name == INDEX {
            resources.insert(prefix.to_owned(), Arc::clone(&resource));
        }
        resources.insert(format!("{prefix}{name}"), resource);
    }
    Ok(())
}

fn read(
    path: &Path,
    name: &str,
    codings: CodingSource<'_>,
    gzip: Option<&Path>,
) -> io::Result<Resource> {
    let bytes = Bytes::from(fs::read(path)?);
    let resource = match codings {
        CodingSource::Made(compression) => {
            Resource::from_bytes(content_type(name), bytes, compression)
        }
        CodingSource::Beside => {
            let gzip = gzip.map(fs::read).transpose()?.map(Bytes::from);
            Resource::with_gzip(content_type(name), bytes, gzip)
        }
    };
    Ok(resource.modified(fs::metadata(path)?.modified()?))
}

fn name_of(entry: &DirEntry) -> String {
    entry.file_name().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coding_beside_its_file_is_no_resource_of_its_own() {
        let folder = std::env::temp_dir().join(format!("resolab-folder-{}", std::process::id()));
        fs::create_dir_all(folder.join("deep")).unwrap();
        for (name, text) in [
            ("index.html", "<p>whole</p>"),
            ("index.html.gz", "coded page"),
            ("deep/a.css", "p{}"),
            ("deep/a.css.gz", "longer than the file itself"),
            ("b.js", "1"),
            ("alone.gz", "archive"),
        ] {
            fs::write(folder.join(name), text).unwrap();
        }
        let beside = load(&folder, CodingSource::Beside).unwrap();
        let made = load(&folder, CodingSource::Made(&[])).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let mut paths: Vec<_> = beside.keys().map(String::as_str).collect();
        paths.sort_unstable();
        assert_eq!(
            paths,
            ["/", "/alone.gz", "/b.js", "/deep/a.css", "/index.html"]
        );
        for (path, coded) in [
            ("/", Some("coded page")),
            ("/deep/a.css", Some("longer than the file itself")),
            ("/b.js", None),
            ("/alone.gz", None),
        ] {
            let encoded = &beside[path].encoded;
            let bytes = encoded.first().map(|(encoding, each)| {
                assert_eq!(*encoding, Encoding::Gzip);
                each.body.clone().next(usize::MAX)
            });
            assert_eq!(bytes.as_deref(), coded.map(str::as_bytes), "{path}");
        }
        let style = &beside["/deep/a.css"];
        assert_eq!(style.content_type, "text/css; charset=utf-8");
        assert_ne!(style.identity.etag, style.encoded[0].1.etag);
        assert!(made.contains_key("/deep/a.css.gz") && made["/"].encoded.is_empty());
    }
}
