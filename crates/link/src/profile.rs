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
    let text = std::fs::read_to_string(&path).map_err(|source| ProfileError::Unreadable {
        path: path.clone(),
        source,
    })?;
    let profile = parse(&text, &path)?;
    let beside = path.parent().map(Path::to_owned).unwrap_or_default();
    complete_beside(
        LinkProfile {
            mtu_bytes: mtu_bytes.or(profile.mtu_bytes),
            ..profile
        },
        &[beside],
    )
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

fn complete_beside(profile: LinkProfile, folders: &[PathBuf]) -> Result<LinkProfile, ProfileError> {
    check_texts(&profile)?;
    let mtu_bytes = profile.mtu_bytes.unwrap_or(DEFAULT_MTU_BYTES);
    check_range(&profile.name, "mtu_bytes", f64::from(mtu_bytes), MTU_BYTES)?;
    check_direction(&profile.name, "up", &profile.up)?;
    check_direction(&profile.name, "down", &profile.down)?;
    check_far(&profile.name, profile.far.as_deref().unwrap_or_default())?;
    let round_trip_ms = profile.up.one_way_delay_ms + profile.down.one_way_delay_ms;
    let complete = |key: &str, mut direction: DirectionProfile| {
        let rate_bps = match &mut direction.trace_file {
            None => direction.rate_bps,
            Some(file) => Some(
                find_trace(file, folders).map_err(|error| ProfileError::Trace {
                    profile: profile.name.clone(),
                    key: format!("{key}.trace_file"),
                    error,
                })?,
            ),
        };
        Ok(complete_direction(
            direction,
            rate_bps,
            round_trip_ms,
            mtu_bytes,
        ))
    };
    let up = complete("up", profile.up)?;
    let down = complete("down", profile.down)?;
    Ok(LinkProfile {
        mtu_bytes: Some(mtu_bytes),
        up,
        down,
        ..profile
    })
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
        queue_bytes: direction.queue_bytes.or(default_queue_bytes),
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

fn parse(text: &str, path: &Path) -> Result<LinkProfile, ProfileError> {
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
mod tests {
    use super::*;
    use resolab_record::JitterDistribution;

    fn shipped() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles")
    }

    fn read(text: &str) -> Result<LinkProfile, ProfileError> {
        complete(parse(text, Path::new("test.toml"))?)
    }

    fn with(up: &str) -> String {
        format!(
            "name = 'x'\nsource = 'test'\n[up]\none_way_delay_ms = 1\n{up}\n\
             [down]\none_way_delay_ms = 2\n"
        )
    }

    /// Round trip in ms, down and up in bit/s: the study's own numbers.
    const STUDY: [(&str, f64, f64, f64); 5] = [
        ("fiber", 14.767_147, 99_859_576.0, 109_103_380.0),
        ("cable", 25.176_65, 165_046_798.0, 11_634_674.0),
        ("dsl", 42.359_79, 10_734_760.0, 842_152.0),
        ("4g", 91.852_311, 53_954_872.0, 21_181_033.0),
        ("4g-medium", 104.504_141, 28_648_298.0, 4_224_283.0),
    ];

    #[test]
    fn shipped_profiles_are_the_studys() {
        for (name, round_trip_ms, down_bps, up_bps) in STUDY {
            let profile = load(name, &[shipped()], None).unwrap();
            assert_eq!(profile.name, name);
            let delays = (profile.up.one_way_delay_ms, profile.down.one_way_delay_ms);
            assert_eq!(delays, (round_trip_ms / 2.0, round_trip_ms / 2.0), "{name}");
            let rates = (profile.down.rate_bps, profile.up.rate_bps);
            assert_eq!(rates, (Some(down_bps), Some(up_bps)), "{name}");
        }
    }

    /// Round trip and its deviation in ms, loss, up and down in bit/s.
    const EARLIER_STUDY: [(&str, [f64; 5]); 3] = [
        ("4g-h20", [53.3, 1.0, 0.005, 7.44e6, 22.1e6]),
        ("lossy-4g-h20", [53.3, 1.0, 0.015, 7.44e6, 22.1e6]),
        ("3g-h20", [150.0, 8.0, 0.021, 1e6, 1e6]),
    ];

    fn numbers(profile: &LinkProfile) -> [f64; 5] {
        let deviation = |way: &DirectionProfile| {
            let jitter = way.jitter.as_ref().unwrap();
            jitter.standard_deviation_ms.unwrap()
        };
        let (up, down) = (&profile.up, &profile.down);
        assert!((up.loss_ratio - down.loss_ratio).abs() < 1e-12);
        [
            up.one_way_delay_ms + down.one_way_delay_ms,
            deviation(up).hypot(deviation(down)),
            up.loss_ratio,
            up.rate_bps.unwrap(),
            down.rate_bps.unwrap(),
        ]
    }

    fn assert_near(got: [f64; 5], wanted: [f64; 5]) {
        for (got, wanted) in got.into_iter().zip(wanted) {
            assert!((got - wanted).abs() <= wanted * 1e-4, "{got} for {wanted}");
        }
    }

    #[test]
    fn shipped_profiles_are_the_earlier_studys() {
        for (name, wanted) in EARLIER_STUDY {
            assert_near(numbers(&load(name, &[shipped()], None).unwrap()), wanted);
        }
    }

    #[test]
    fn the_mobile_networks_are_all_there() {
        let names = known_names(&[shipped()]);
        let mobile = names.iter().filter(|name| name.starts_with("errant-"));
        assert_eq!(mobile.count(), 26);
        let one = load("errant-net1-norway-4g-bad", &[shipped()], None).unwrap();
        let wanted = [112.902_371, 82.044_727, 0.0, 149_747.0, 3_295_667.0];
        assert_near(numbers(&one), wanted);
        assert_eq!(
            one.up.jitter.unwrap().distribution,
            Some(JitterDistribution::Lognormal)
        );
    }

    #[test]
    fn every_shipped_profile_loads_under_its_own_name() {
        let names = known_names(&[shipped()]);
        assert!(names.contains(&"ideal".to_owned()));
        for name in names {
            assert_eq!(load(&name, &[shipped()], None).unwrap().name, name);
        }
    }

    #[test]
    fn defaults_are_written_out() {
        let profile = read(&with("rate_bps = 80_000_000")).unwrap();
        assert_eq!(profile.mtu_bytes, Some(1_500));
        assert_eq!(profile.up.queue_bytes, Some(30_000));
        assert_eq!(profile.up.queue_discipline, Some(QueueDiscipline::Droptail));
        assert_eq!(profile.down.queue_bytes, None);
        let slow = read(&with("rate_bps = 80_000")).unwrap();
        assert_eq!(slow.up.queue_bytes, Some(15_000));
        let codel = read(&with("rate_bps = 80_000\nqueue_discipline = 'codel'")).unwrap();
        assert_eq!(codel.up.queue_bytes, Some(1_500_000));
        assert_eq!(
            (codel.up.codel_target_ms, codel.up.codel_interval_ms),
            (Some(5.0), Some(100.0))
        );
        let given = read(&with("rate_bps = 80_000\nqueue_bytes = 7")).unwrap();
        assert_eq!(given.up.queue_bytes, Some(7));
    }

    #[test]
    fn absurd_values_are_named_with_their_range() {
        for (text, wanted) in [
            (
                "rate_bps = -5",
                "up.rate_bps = -5 is outside 1000 to 100000000000",
            ),
            ("rate_bps = nan", "up.rate_bps = NaN is outside"),
            ("loss_ratio = 1.5", "up.loss_ratio = 1.5 is outside 0 to 1"),
            (
                "cross_traffic = { model = 'on_off', rate_bps = 1e6 }",
                "up.cross_traffic must be given with both on_ms and off_ms",
            ),
            (
                "cross_traffic = { model = 'poisson', rate_bps = 1 }",
                "up.cross_traffic.rate_bps = 1 is outside 1000 to",
            ),
            (
                "jitter = { standard_deviation_ms = 0.5 }",
                "up.jitter.standard_deviation_ms = 0.5 is outside 0 to 0.333",
            ),
            (
                "jitter = { standard_deviation_ms = 0.3, interval_ms = 1 }",
                "up.jitter.interval_ms = 1 is outside 1.5 to",
            ),
            (
                "jitter = { interval_ms = 20 }",
                "up.jitter must be given by either standard_deviation_ms or quantiles_ms",
            ),
            (
                "jitter = { quantiles_ms = [3, 2] }",
                "up.jitter.quantiles_ms must be 2 to 1001 values",
            ),
            (
                "jitter = { quantiles_ms = [-2, 2] }",
                "up.jitter.quantiles_ms = -2 is outside -1 to 10000",
            ),
            (
                "gilbert_elliott = { good_to_bad_ratio = 2, bad_to_good_ratio = 0.3 }",
                "up.gilbert_elliott.good_to_bad_ratio = 2 is outside 0 to 1",
            ),
            (
                "queue_bytes = 999999999999",
                "up.queue_bytes = 999999999999 is outside 0 to",
            ),
        ] {
            let message = read(&with(text)).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
        let late = with("").replace("one_way_delay_ms = 2", "one_way_delay_ms = 20000");
        let message = read(&late).unwrap_err().to_string();
        assert!(message.contains("down.one_way_delay_ms = 20000 is outside 0 to 10000"));
    }

    #[test]
    fn a_trace_is_found_beside_the_profile() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        let wanted = parse(&with("trace_file = 'tiny.trace'"), Path::new("x.toml")).unwrap();
        let profile = complete_beside(wanted.clone(), std::slice::from_ref(&folder)).unwrap();
        let path = folder.join("tiny.trace").to_string_lossy().into_owned();
        assert_eq!(profile.up.trace_file, Some(path));
        assert_eq!(profile.up.queue_bytes, Some(15_000));
        assert_eq!(complete(profile.clone()).unwrap(), profile);
        let message = complete_beside(wanted, &[]).unwrap_err().to_string();
        assert!(
            message.contains("up.trace_file: failed to read trace /"),
            "{message}"
        );
    }

    #[test]
    fn a_trace_goes_without_a_rate() {
        let message = read(&with("trace_file = 'x'\nrate_bps = 5000"))
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("up.trace_file must be given without rate_bps"),
            "{message}"
        );
    }

    #[test]
    fn far_servers_are_checked() {
        let far = |network: &str, delay_ms: i32| {
            let table =
                format!("[[far]]\nnetwork = '{network}'\nextra_one_way_delay_ms = {delay_ms}\n");
            read(&(with("") + &table))
        };
        assert_eq!(far("10.77.1.16/28", 20).unwrap().far.unwrap().len(), 1);
        let message = far("10.77.1.17/28", 20).unwrap_err().to_string();
        assert!(
            message.contains("far.network = \"10.77.1.17/28\" must be the first"),
            "{message}"
        );
        let message = far("10.77.1.16/28", -1).unwrap_err().to_string();
        assert!(
            message.contains("far.extra_one_way_delay_ms = -1 is outside 0 to"),
            "{message}"
        );
    }

    #[test]
    fn unknown_keys_are_named_with_their_line() {
        let message = read(&with("rate_mbps = 5")).unwrap_err().to_string();
        assert!(
            message.contains("test.toml, line 5") && message.contains("rate_mbps"),
            "{message}"
        );
        assert!(
            message.contains("rate_bps") && !message.contains('\n'),
            "{message}"
        );
    }

    #[test]
    fn a_name_and_a_source_are_wanted() {
        let nameless = with("").replace("'x'", "'a b'");
        assert!(
            read(&nameless)
                .unwrap_err()
                .to_string()
                .contains("name must be")
        );
        let sourceless = with("").replace("'test'", "' '");
        assert!(
            read(&sourceless)
                .unwrap_err()
                .to_string()
                .contains("source must be")
        );
    }

    #[test]
    fn an_unknown_name_lists_what_exists() {
        let message = load("fibre", &[shipped()], None).unwrap_err().to_string();
        assert!(
            message.contains("fiber, ideal") || message.contains("fiber"),
            "{message}"
        );
        assert!(message.contains("4g-medium, cable, dsl"), "{message}");
    }

    #[test]
    fn the_mtu_can_be_given_beside_the_file() {
        let profile = load("ideal", &[shipped()], Some(1_280)).unwrap();
        assert_eq!(profile.mtu_bytes, Some(1_280));
        assert!(load("ideal", &[shipped()], Some(100)).is_err());
    }
}
