//! Access-link profiles: reading them from TOML, checking every value, filling in what was left
//! out, and finding them by name. Not for: what the values do (that is `model`).
//!
//! A file names what a packet meets, in the units its keys say; docs/formats/profile.md lists the
//! keys, `profile_check` their allowed ranges.

use crate::codel::{DEFAULT_INTERVAL_MS, DEFAULT_TARGET_MS};
use crate::jitter::interval_ms;
use crate::profile_check::{QUEUE_BYTES, check_direction, check_far, check_range};
use crate::trace::{Trace, TraceError};
use resolab_record::{DirectionProfile, Jitter, LinkProfile, QueueDiscipline};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use thiserror::Error;

mod schedule;

/// IP packet size where the profile says nothing: Ethernet's.
pub const DEFAULT_MTU_BYTES: u32 = 1_500;
/// The default queue holds at least this many full packets.
const MIN_QUEUE_PACKETS: u64 = 10;
/// CoDel keeps the wait short itself: room for bursts, as in Linux.
const MIN_CODEL_PACKETS: u64 = 1_000;

const MTU_BYTES: RangeInclusive<f64> = 576.0..=65_535.0;

/// Why there is no profile; messages read after "failed to".
#[derive(Debug, Error)]
pub enum ProfileError {
    /// The file cannot be read.
    #[error("read profile {path}: {source}")]
    Unreadable {
        /// As tried.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Not TOML, or not these keys.
    #[error("read profile {path}, line {line}: {message}")]
    Malformed {
        /// As tried.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// A value that cannot be meant.
    #[error("use profile {profile:?}: {key} = {value} is outside {min} to {max}")]
    OutOfRange {
        /// Its name.
        profile: String,
        /// The key in full.
        key: String,
        /// As given.
        value: f64,
        /// Smallest allowed.
        min: f64,
        /// Largest allowed.
        max: f64,
    },
    /// A key that cannot serve its purpose, or goes badly with another.
    #[error("use profile {profile:?}: {key} must be {expected}")]
    BadText {
        /// Its name.
        profile: String,
        /// The key.
        key: String,
        /// What it must be.
        expected: &'static str,
    },
    /// The trace it names is missing or none.
    #[error("use profile {profile:?}: {key}: failed to {error}")]
    Trace {
        /// Its name.
        profile: String,
        /// The key in full.
        key: String,
        /// Why.
        error: TraceError,
    },
    /// No file of that name.
    #[error("find profile {name:?}: there is {known} (looked in {folders})")]
    Unknown {
        /// As asked for.
        name: String,
        /// What exists instead.
        known: String,
        /// Where.
        folders: String,
    },
}

/// Find, read, check and complete a profile. `wanted` is a path if it has a slash or ends in
/// `.toml`, else the name of a file in one of `folders`, the first that has it. `mtu_bytes`, if
/// given, stands in for the file's.
pub fn load(
    wanted: &str,
    folders: &[PathBuf],
    mtu_bytes: Option<u32>,
) -> Result<LinkProfile, ProfileError> {
    let path = find(wanted, folders)?;
    let profile = read(&path)?;
    let beside = path.parent().map(Path::to_owned).unwrap_or_default();
    complete_beside(
        LinkProfile {
            mtu_bytes: mtu_bytes.or(profile.mtu_bytes),
            ..profile
        },
        &[&[beside], folders].concat(),
    )
}

fn read(path: &Path) -> Result<LinkProfile, ProfileError> {
    let text = std::fs::read_to_string(path).map_err(|source| ProfileError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    parse(&text, path)
}

/// The folders profiles are looked for in: `RESOLAB_PROFILES`, `./profiles`, and the checkout's
/// own when the program lies in its `target/release` or `target/debug`.
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

/// Check every value and write the defaults out, so that records say what was in force: the MTU,
/// the discipline and its settings, the interval of jitter, and rate x round trip (at least ten full
/// packets, a thousand under CoDel) for the queue of a direction with a rate.
/// A trace is looked for in the folders of profiles, as the profile has no file.
pub fn complete(profile: LinkProfile) -> Result<LinkProfile, ProfileError> {
    complete_beside(profile, &folders())
}

pub(crate) fn complete_beside(
    profile: LinkProfile,
    folders: &[PathBuf],
) -> Result<LinkProfile, ProfileError> {
    check_texts(&profile)?;
    let mtu_bytes = profile.mtu_bytes.unwrap_or(DEFAULT_MTU_BYTES);
    check_range(&profile.name, "mtu_bytes", f64::from(mtu_bytes), MTU_BYTES)?;
    check_far(&profile.name, profile.far.as_deref().unwrap_or_default())?;
    let completion = Completion {
        profile: &profile.name,
        mtu_bytes,
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

/// What completing a direction needs to know of the profile it stands in.
struct Completion<'a> {
    profile: &'a str,
    mtu_bytes: u32,
    folders: &'a [PathBuf],
}

impl Completion<'_> {
    /// Check and complete both directions, whose keys start with `prefix`.
    fn directions(
        &self,
        prefix: &str,
        up: &DirectionProfile,
        down: &DirectionProfile,
    ) -> Result<(DirectionProfile, DirectionProfile), ProfileError> {
        let round_trip_ms = up.one_way_delay_ms + down.one_way_delay_ms;
        let complete = |name: &str, direction: &DirectionProfile| {
            let key = format!("{prefix}{name}");
            check_direction(self.profile, &key, direction)?;
            self.direction(&key, direction.clone(), round_trip_ms)
        };
        Ok((complete("up", up)?, complete("down", down)?))
    }

    fn direction(
        &self,
        key: &str,
        mut direction: DirectionProfile,
        round_trip_ms: f64,
    ) -> Result<DirectionProfile, ProfileError> {
        let rate_bps = match &mut direction.trace_file {
            None => direction.rate_bps,
            Some(file) => {
                Some(
                    find_trace(file, self.folders).map_err(|error| ProfileError::Trace {
                        profile: self.profile.to_owned(),
                        key: format!("{key}.trace_file"),
                        error,
                    })?,
                )
            }
        };
        Ok(complete_direction(
            direction,
            rate_bps,
            round_trip_ms,
            self.mtu_bytes,
        ))
    }
}

/// Make the name of a trace absolute and read it; returns its mean rate.
fn find_trace(file: &mut String, folders: &[PathBuf]) -> Result<f64, TraceError> {
    let found = folders
        .iter()
        .map(|folder| folder.join(&*file))
        .find(|path| path.is_file())
        .unwrap_or_else(|| PathBuf::from(&*file));
    let path = std::path::absolute(&found).unwrap_or(found);
    let rate_bps = Trace::load(&path)?.mean_rate_bps();
    *file = path.to_string_lossy().into_owned();
    Ok(rate_bps)
}

fn complete_direction(
    direction: DirectionProfile,
    rate_bps: Option<f64>,
    round_trip_ms: f64,
    mtu_bytes: u32,
) -> DirectionProfile {
    let is_codel = direction.queue_discipline == Some(QueueDiscipline::Codel);
    let least_packets = if is_codel {
        MIN_CODEL_PACKETS
    } else {
        MIN_QUEUE_PACKETS
    };
    let default_queue_bytes = rate_bps.map(|rate_bps| {
        let product_bytes = (rate_bps / 8.0 * round_trip_ms / 1_000.0).ceil() as u64;
        let limit = *QUEUE_BYTES.end() as u64;
        product_bytes.clamp(least_packets * u64::from(mtu_bytes), limit)
    });
    let codel_default = |value| is_codel.then_some(value);
    DirectionProfile {
        queue_bytes: match direction.queue_packets {
            // A limit in packets alone is meant as the only one.
            Some(_) => direction.queue_bytes,
            None => direction.queue_bytes.or(default_queue_bytes),
        },
        queue_discipline: direction
            .queue_discipline
            .or(Some(QueueDiscipline::Droptail)),
        codel_target_ms: direction
            .codel_target_ms
            .or(codel_default(DEFAULT_TARGET_MS)),
        codel_interval_ms: direction
            .codel_interval_ms
            .or(codel_default(DEFAULT_INTERVAL_MS)),
        jitter: direction.jitter.map(|jitter| Jitter {
            interval_ms: (!jitter.per_packet_reordering).then(|| interval_ms(&jitter)),
            ..jitter
        }),
        ..direction
    }
}

fn find(wanted: &str, folders: &[PathBuf]) -> Result<PathBuf, ProfileError> {
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

fn known_names(folders: &[PathBuf]) -> Vec<String> {
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
