//! Finds profiles by name and reads profiles as TOML. Not for: permitted values (see `check`), nor
//! defaults (see `completion`).

use super::error::ProfileError;
use resolab_record::LinkProfile;
use std::path::{Path, PathBuf};

/// Returns the folders of profiles: `RESOLAB_PROFILES`, `./profiles`, and the checkout's folder
/// when the program is in the checkout's `target/PROFILE`, such as `target/release`.
pub fn folders() -> Vec<PathBuf> {
    let named = std::env::var_os("RESOLAB_PROFILES").map(PathBuf::from);
    let checkout = std::env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.parent()?.parent()?.join("profiles")));
    named
        .into_iter()
        .chain([PathBuf::from("profiles")])
        .chain(checkout)
        .collect()
}

pub(super) fn find(wanted: &str, folders: &[PathBuf]) -> Result<PathBuf, ProfileError> {
    if wanted.contains('/')
        || Path::new(wanted)
            .extension()
            .is_some_and(|end| end == "toml")
    {
        return Ok(PathBuf::from(wanted));
    }
    let file_name = format!("{wanted}.toml");
    if let Some(path) = folders
        .iter()
        .map(|folder| folder.join(&file_name))
        .find(|p| p.is_file())
    {
        return Ok(path);
    }
    let known = known_names(folders);
    Err(ProfileError::Unknown {
        name: wanted.to_owned(),
        known: if known.is_empty() {
            "none".to_owned()
        } else {
            known.join(", ")
        },
        folders: folders
            .iter()
            .map(|f| f.display().to_string())
            .collect::<Vec<_>>()
            .join(", "),
    })
}

pub(super) fn known_names(folders: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names.dedup();
    names
}

pub(super) fn read(path: &Path) -> Result<LinkProfile, ProfileError> {
    let text = std::fs::read_to_string(path).map_err(|source| ProfileError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    parse(&text, path)
}

pub(crate) fn parse(text: &str, path: &Path) -> Result<LinkProfile, ProfileError> {
    toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let line = text.get(..offset).unwrap_or_default().matches('\n').count() + 1;
        let message = error.message().replace('\n', "; ");
        ProfileError::Malformed {
            path: path.to_owned(),
            line,
            message,
        }
    })
}
