//! The files of the authority's folder: key and certificate, made together or not at all.
//!
//! For: programs starting in one folder at the same time; they get the same pair.
//! Not for: the content of the files.

use super::error::AuthorityError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const CERTIFICATE_FILE: &str = "ca.pem";
const KEY_FILE: &str = "ca-key.pem";

/// A key and its certificate, both in PEM.
pub(super) struct AuthorityFiles {
    pub(super) key: String,
    pub(super) certificate: String,
}

/// Reads the pair of a folder. If a file of the pair is missing, `make` makes a new pair. The
/// folder's lock is held meanwhile, so no other caller sees the files of two different pairs.
pub(super) fn read_or_make(
    folder: &Path,
    make: impl FnOnce() -> Result<AuthorityFiles, AuthorityError>,
) -> Result<AuthorityFiles, AuthorityError> {
    fs::create_dir_all(folder).map_err(|source| file_error(folder, source))?;
    let lock = File::open(folder).and_then(|lock| lock.lock().map(|()| lock));
    let lock = lock.map_err(|source| file_error(folder, source))?;
    let (key_file, certificate_file) = (folder.join(KEY_FILE), certificate_file(folder));
    let pair = if key_file.exists() && certificate_file.exists() {
        AuthorityFiles {
            key: read(&key_file)?,
            certificate: read(&certificate_file)?,
        }
    } else {
        let pair = make()?;
        // One that is left over would belong to another key until the last of these steps.
        remove(&certificate_file)?;
        write(&key_file, &pair.key, 0o600)?;
        write(&certificate_file, &pair.certificate, 0o644)?;
        pair
    };
    drop(lock);
    Ok(pair)
}

/// Returns the path of a folder's certificate.
pub(super) fn certificate_file(folder: &Path) -> PathBuf {
    folder.join(CERTIFICATE_FILE)
}

fn read(path: &Path) -> Result<String, AuthorityError> {
    fs::read_to_string(path).map_err(|source| file_error(path, source))
}

/// Writes a file completely and with this mode, or leaves the former file. The former file's mode
/// has no effect.
fn write(path: &Path, text: &str, mode: u32) -> Result<(), AuthorityError> {
    let unfinished = path.with_extension("unfinished");
    remove(&unfinished)?;
    let open = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&unfinished);
    open.and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&unfinished, path))
        .map_err(|source| file_error(path, source))
}

fn remove(path: &Path) -> Result<(), AuthorityError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(file_error(path, source)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn file_error(path: &Path, source: io::Error) -> AuthorityError {
    AuthorityError::File {
        path: path.display().to_string(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scratch;
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::{Arc, Barrier};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn pair(name: &str) -> AuthorityFiles {
        AuthorityFiles {
            key: format!("key of {name}"),
            certificate: format!("certificate of {name}"),
        }
    }

    #[test]
    fn the_key_is_its_owners_alone_even_where_a_file_was() {
        let folder = scratch("mode");
        fs::create_dir_all(&folder).unwrap();
        let key_file = folder.join(KEY_FILE);
        fs::write(&key_file, "an old key").unwrap();
        fs::set_permissions(&key_file, fs::Permissions::from_mode(0o666)).unwrap();
        read_or_make(&folder, || Ok(pair("mode"))).unwrap();
        assert_eq!(
            (mode(&key_file), mode(&certificate_file(&folder)) & 0o600),
            (0o600, 0o600)
        );
        assert_eq!(fs::read_to_string(&key_file).unwrap(), "key of mode");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn who_begins_at_the_same_time_gets_the_same_pair() {
        let folder = scratch("race");
        let begin = Arc::new(Barrier::new(8));
        let starters = (0..8).map(|number| {
            let (folder, begin) = (folder.clone(), Arc::clone(&begin));
            std::thread::spawn(move || {
                begin.wait();
                let made = || {
                    // Time for the others to find nothing.
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    Ok(pair(&number.to_string()))
                };
                let pair = read_or_make(&folder, made).unwrap();
                (pair.key, pair.certificate)
            })
        });
        let starters: Vec<_> = starters.collect();
        let pairs: Vec<_> = starters
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect();
        assert!(pairs.iter().all(|pair| *pair == pairs[0]), "{pairs:?}");
        fs::remove_dir_all(folder).unwrap();
    }
}
