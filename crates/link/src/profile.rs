//! Access-link profiles: reads profiles from TOML, checks every value, fills in missing values, and
//! finds profiles by name. Not for: the effect of the values (see `model`).
//!
//! A file names the elements on a packet's path, in the units of the keys. docs/formats/profile.md
//! lists the keys, `check` their permitted ranges.

mod check;
mod completion;
mod error;
mod files;
mod schedule;

pub use completion::DEFAULT_MTU_BYTES;
pub use error::ProfileError;
pub use files::folders;
#[cfg(any(test, fuzzing))]
pub(crate) use files::parse;

use check::{check_far, check_range};
use completion::Completion;
use files::{find, read};
use resolab_record::LinkProfile;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

const MTU_BYTES: RangeInclusive<f64> = 576.0..=65_535.0;

/// Finds, reads, checks and completes a profile. `wanted` is a path if the text has a slash or ends
/// in `.toml`. Otherwise `wanted` is the name of a file in one of `folders`; the first match
/// counts. `mtu_bytes`, if given, replaces the MTU of the file and of all profiles named in the
/// schedule.
pub fn load(
    wanted: &str,
    folders: &[PathBuf],
    mtu_bytes: Option<u32>,
) -> Result<LinkProfile, ProfileError> {
    let path = find(wanted, folders)?;
    let profile = read(&path)?;
    let beside = path.parent().map(Path::to_owned).unwrap_or_default();
    complete_beside(profile, &[&[beside], folders].concat(), mtu_bytes)
}

/// Checks every value and writes the defaults out. Records therefore show the values in force: the
/// MTU, the discipline with settings, the interval of jitter, and the queue of a direction with a
/// rate. The queue's default is rate x round trip (at least ten full packets, a thousand under
/// CoDel). A trace is searched in the folders of profiles, because the profile has no file.
pub fn complete(profile: LinkProfile) -> Result<LinkProfile, ProfileError> {
    complete_beside(profile, &folders(), None)
}

pub(crate) fn complete_beside(
    profile: LinkProfile,
    folders: &[PathBuf],
    mtu_instead_bytes: Option<u32>,
) -> Result<LinkProfile, ProfileError> {
    check_texts(&profile)?;
    let own_mtu_bytes = profile.mtu_bytes.unwrap_or(DEFAULT_MTU_BYTES);
    let mtu_bytes = mtu_instead_bytes.unwrap_or(own_mtu_bytes);
    check_range(&profile.name, "mtu_bytes", f64::from(mtu_bytes), MTU_BYTES)?;
    check_far(&profile.name, profile.far.as_deref().unwrap_or_default())?;
    let completion = Completion {
        profile: &profile.name,
        mtu_bytes,
        own_mtu_bytes,
        folders,
    };
    let (up, down) = completion.directions("", &profile.up, &profile.down)?;
    let schedule = schedule::complete(&completion, &profile)?;
    Ok(LinkProfile {
        mtu_bytes: Some(mtu_bytes),
        up,
        down,
        schedule,
        ..profile
    })
}

fn check_texts(profile: &LinkProfile) -> Result<(), ProfileError> {
    let identifier = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let bad = |key: &str, expected| {
        Err(ProfileError::BadText {
            profile: profile.name.clone(),
            key: key.to_owned(),
            expected,
        })
    };
    if profile.name.is_empty() || !profile.name.chars().all(identifier) {
        return bad(
            "name",
            "letters, digits, '-', '_' and '.' only, and at least one",
        );
    }
    if profile.source.trim().is_empty() {
        return bad("source", "a sentence that says where the numbers come from");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
