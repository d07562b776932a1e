//! Completes a profile's schedule. Each change is checked, and the directions of a named profile
//! are filled in. Records therefore show the values in force. Not for: carrying changes out (see
//! `schedule_run`).

use super::check::check_range;
use super::completion::{Completion, DEFAULT_MTU_BYTES};
use super::error::ProfileError;
use super::files::{find, read};
use resolab_record::{DirectionProfile, LinkProfile, ScheduledChange};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

const AFTER_MS: RangeInclusive<f64> = 0.0..=86_400_000.0;
const OUTAGE_MS: RangeInclusive<f64> = 0.0..=600_000.0;
/// Maximum number of changes. More are a mistake, or the task of a trace.
const CHANGES_LIMIT_COUNT: usize = 10_000;

type ProfileDirections = (DirectionProfile, DirectionProfile);

/// Completes the schedule of `profile`; the profile's other values must be checked already.
pub fn complete(
    completion: &Completion<'_>,
    profile: &LinkProfile,
) -> Result<Option<Vec<ScheduledChange>>, ProfileError> {
    let Some(changes) = &profile.schedule else {
        return Ok(None);
    };
    if changes.len() > CHANGES_LIMIT_COUNT {
        return Err(completion.bad("schedule".to_owned(), "of 10,000 changes at most"));
    }
    let mut last_ms = 0.0;
    let mut completed = Vec::with_capacity(changes.len());
    for (index, change) in changes.iter().enumerate() {
        let key = format!("schedule[{index}].");
        completion.check(&key, "after_ms", change.after_ms, AFTER_MS)?;
        let outage_ms = change.outage_ms.unwrap_or(0.0);
        completion.check(&key, "outage_ms", outage_ms, OUTAGE_MS)?;
        if change.after_ms < last_ms {
            return Err(completion.bad(key + "after_ms", "not before that of the change above"));
        }
        last_ms = change.after_ms;
        let (up, down) = completion.wanted(&key, profile, change)?.unzip();
        completed.push(ScheduledChange {
            up,
            down,
            ..change.clone()
        });
    }
    Ok(Some(completed))
}

impl Completion<'_> {
    /// Returns the directions of a change; `None` for an outage only.
    fn wanted(
        &self,
        key: &str,
        profile: &LinkProfile,
        change: &ScheduledChange,
    ) -> Result<Option<ProfileDirections>, ProfileError> {
        match (&change.up, &change.down, &change.profile) {
            (Some(up), Some(down), _) => self.directions(key, up, down).map(Some),
            (None, None, Some(name)) if *name == profile.name => {
                self.directions("", &profile.up, &profile.down).map(Some)
            }
            (None, None, Some(name)) => self.named(key, name).map(Some),
            (None, None, None) if change.outage_ms.is_some() => Ok(None),
            _ => Err(self.bad(
                key.trim_end_matches('.').to_owned(),
                "given with profile, with both up and down, or with outage_ms",
            )),
        }
    }

    /// Returns the directions of another profile. The schedule and far servers there are ignored.
    fn named(&self, key: &str, name: &str) -> Result<ProfileDirections, ProfileError> {
        let path = find(name, self.folders)?;
        let profile = read(&path)?;
        let own_mtu_bytes = profile.mtu_bytes.unwrap_or(DEFAULT_MTU_BYTES);
        if own_mtu_bytes != self.own_mtu_bytes {
            return Err(self.bad(
                format!("{key}profile = {name:?}"),
                "a profile with the same mtu_bytes",
            ));
        }
        let beside = path.parent().map(Path::to_owned).unwrap_or_default();
        let folders: Vec<PathBuf> = [&[beside], self.folders].concat();
        let completion = Completion {
            profile: &profile.name,
            mtu_bytes: self.mtu_bytes,
            own_mtu_bytes,
            folders: &folders,
        };
        completion.directions("", &profile.up, &profile.down)
    }

    fn check(
        &self,
        prefix: &str,
        key: &str,
        value: f64,
        range: RangeInclusive<f64>,
    ) -> Result<(), ProfileError> {
        check_range(self.profile, &format!("{prefix}{key}"), value, range)
    }

    fn bad(&self, key: String, expected: &'static str) -> ProfileError {
        ProfileError::BadText {
            profile: self.profile.to_owned(),
            key,
            expected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::complete_beside;
    use super::*;

    fn with_schedule(schedule: &str) -> Result<LinkProfile, ProfileError> {
        let text = format!(
            "name = 'x'\nsource = 'test'\n[up]\none_way_delay_ms = 1\n\
             [down]\none_way_delay_ms = 2\n{schedule}"
        );
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
        complete_beside(toml::from_str(&text).unwrap(), &[shipped], None)
    }

    fn error_of(schedule: &str) -> String {
        with_schedule(schedule).unwrap_err().to_string()
    }

    #[test]
    fn a_named_profile_is_filled_in_and_stays_so() {
        let profile = with_schedule(
            "[[schedule]]\nafter_ms = 5\nprofile = 'dsl'\noutage_ms = 7\n\
             [[schedule]]\nafter_ms = 9\nprofile = 'x'\n\
             [[schedule]]\nafter_ms = 9\noutage_ms = 1\n",
        )
        .unwrap();
        let changes = profile.schedule.as_deref().unwrap();
        let up = changes[0].up.as_ref().unwrap();
        assert_eq!(up.rate_bps, Some(842_152.0));
        assert!(up.queue_bytes.is_some());
        assert_eq!(changes[1].down.as_ref(), Some(&profile.down));
        assert_eq!((&changes[2].up, &changes[2].down), (&None, &None));
        assert_eq!(
            complete_beside(profile.clone(), &[], None).unwrap(),
            profile
        );
    }

    #[test]
    fn what_cannot_be_meant_is_named() {
        for (schedule, wanted) in [
            ("after_ms = -1\noutage_ms = 1", "schedule[0].after_ms = -1"),
            (
                "after_ms = 1\noutage_ms = 1e9",
                "schedule[0].outage_ms = 1000000000 is outside 0 to 600000",
            ),
            ("after_ms = 1", "schedule[0] must be given with profile"),
            (
                "after_ms = 1\nup = { one_way_delay_ms = 1 }",
                "schedule[0] must be given with profile, with both up and down",
            ),
            (
                "after_ms = 1\nup = { one_way_delay_ms = -1 }\ndown = { one_way_delay_ms = 1 }",
                "schedule[0].up.one_way_delay_ms = -1 is outside",
            ),
            (
                "after_ms = 1\nprofile = 'fibre'",
                "find profile \"fibre\": there is",
            ),
            (
                "after_ms = 2\noutage_ms = 1\n[[schedule]]\nafter_ms = 1\noutage_ms = 1",
                "schedule[1].after_ms must be not before",
            ),
        ] {
            let message = error_of(&format!("[[schedule]]\n{schedule}\n"));
            assert!(message.contains(wanted), "{message}");
        }
    }
}
