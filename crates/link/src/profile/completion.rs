//! Fills in the values missing in a direction's profile. Not for: schedules (see `schedule`), nor
//! the permitted values (see `check`).

use super::check::{QUEUE_BYTES, check_direction};
use super::error::ProfileError;
use crate::elements::codel::{DEFAULT_INTERVAL_MS, DEFAULT_TARGET_MS};
use crate::elements::jitter::interval_ms;
use crate::elements::trace::{Trace, TraceError};
use resolab_record::{DirectionProfile, Jitter, QueueDiscipline};
use std::path::PathBuf;

/// Default IP packet size, in bytes: Ethernet's.
pub const DEFAULT_MTU_BYTES: u32 = 1_500;
/// Minimum of the default queue, in full packets.
const MIN_QUEUE_PACKETS: u64 = 10;
/// Minimum of CoDel's default queue, in full packets. CoDel keeps the wait short by itself: the
/// room is for bursts, as in Linux.
const MIN_CODEL_PACKETS: u64 = 1_000;

/// The profile's data for completing a direction.
pub(super) struct Completion<'a> {
    pub(super) profile: &'a str,
    /// The MTU in force, in bytes.
    pub(super) mtu_bytes: u32,
    /// The MTU written in the profile, in bytes.
    pub(super) own_mtu_bytes: u32,
    pub(super) folders: &'a [PathBuf],
}

impl Completion<'_> {
    /// Checks and completes both directions; their keys start with `prefix`.
    pub(super) fn directions(
        &self,
        prefix: &str,
        up: &DirectionProfile,
        down: &DirectionProfile,
    ) -> Result<(DirectionProfile, DirectionProfile), ProfileError> {
        let round_trip_ms = up.one_way_delay_ms + down.one_way_delay_ms;
        let complete = |name: &str, direction: &DirectionProfile| {
            let key = format!("{prefix}{name}");
            check_direction(self.profile, &key, direction, self.mtu_bytes)?;
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

/// Makes the name of a trace absolute and reads the trace; returns the mean rate.
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
