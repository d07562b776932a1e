//! Commands to a running path with the built-in link: read from standard input, carried out between
//! packets, answered on standard output. Not for: the packet forwarder.

use super::announce::{self, Conditions, say_what_was_not_captured};
use crate::output;
use crate::refusal::Refusal;
use resolab_link::carrying::ferry::{ForwarderControl, ForwarderError};
use resolab_link::carrying::window::Window;
use resolab_link::hosts::Host;
use resolab_link::path::{Devices, PathError};
use resolab_link::profile;
use resolab_link::seeing::capture::CaptureReport;
use resolab_record::{LinkProfile, PathCommand, PathSummaryRecord, ProfileChangedRecord, Record};
use std::io::{self, BufRead};
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex};

/// The reason for the end of serving commands; messages follow "failed to".
#[derive(Debug)]
pub enum ServeError {
    Ferry(ForwarderError),
    Devices(PathError),
    Input(io::Error),
    Output(io::Error),
}

impl std::fmt::Display for ServeError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ferry(error) => error.fmt(formatter),
            Self::Devices(error) => error.fmt(formatter),
            Self::Input(error) => write!(formatter, "read commands: {error}"),
            Self::Output(error) => write!(formatter, "write to standard output: {error}"),
        }
    }
}

impl From<ServeError> for Refusal {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Output(error) => Self::unwritten(error),
            other @ (ServeError::Ferry(_) | ServeError::Devices(_) | ServeError::Input(_)) => {
                Self::internal(other)
            }
        }
    }
}

/// The state of the commands thread.
pub struct Controller {
    pub control: ForwarderControl,
    pub devices: Devices,
    pub profile: LinkProfile,
    pub conditions: Conditions,
    /// A lock held while a command's records are written.
    pub writing: Arc<Mutex<()>>,
}

impl Controller {
    pub fn serve(&mut self, start_schedule: bool, input: impl BufRead) -> Result<(), ServeError> {
        if start_schedule {
            self.control.start_schedule().map_err(ServeError::Ferry)?;
        }
        let writing = Arc::clone(&self.writing);
        for line in input.lines() {
            let line = line.map_err(ServeError::Input)?;
            if line.trim().is_empty() {
                continue;
            }
            // A poisoned lock only means that this thread is ending.
            let _held = writing.lock();
            self.carry_out(&line)?;
        }
        Ok(())
    }

    fn carry_out(&mut self, line: &str) -> Result<(), ServeError> {
        match serde_json::from_str(line) {
            Ok(PathCommand::Summary { id, label }) => {
                self.summarise(label)?;
                write_done(id, None)
            }
            Ok(PathCommand::StartSchedule { id }) => {
                self.control.start_schedule().map_err(ServeError::Ferry)?;
                write_done(id, None)
            }
            Ok(PathCommand::StartCapture { id, file }) => {
                let changed = self.control.start_capture(FilePath::new(&file));
                answer_capture(id, changed)
            }
            Ok(PathCommand::StopCapture { id }) => answer_capture(id, self.control.stop_capture()),
            Ok(PathCommand::SetProfile {
                id,
                profile,
                seed,
                hold_schedule,
            }) => match self.check(*profile) {
                Ok(profile) => {
                    self.change(profile, seed, !hold_schedule)?;
                    write_done(id, None)
                }
                Err(error) => write_done(id, Some(error)),
            },
            Err(error) => write_done(
                id_of(line),
                Some(format!("failed to understand the command: {error}")),
            ),
        }
    }

    /// Returns the complete profile. Errors with the reason when the profile cannot be used.
    fn check(&self, profile: LinkProfile) -> Result<LinkProfile, String> {
        let profile = profile::complete(profile).map_err(|error| format!("failed to {error}"))?;
        let limit_bytes = self.devices.largest_mtu_bytes;
        match profile.mtu_bytes {
            Some(mtu_bytes) if mtu_bytes > limit_bytes => Err(format!(
                "failed to set mtu_bytes = {mtu_bytes}: this path's devices take at most \
                 {limit_bytes}; start it with --mtu {mtu_bytes}"
            )),
            _ => Ok(profile),
        }
    }

    fn summarise(&mut self, label: Option<String>) -> Result<(), ServeError> {
        let (mut window, window_end_ns) = self.control.close_window().map_err(ServeError::Ferry)?;
        for host in [Host::Client, Host::Server] {
            let drops_count = self
                .devices
                .new_drops_count(host)
                .map_err(ServeError::Devices)?;
            window.counts_mut(host).dropped_by_device(drops_count);
        }
        let flows = window.tap.records(label.as_deref());
        write(&Record::PathSummary(Box::new(self.summary(
            &window,
            window_end_ns,
            label,
        ))))?;
        flows
            .into_iter()
            .try_for_each(|flow| write(&Record::Flow(Box::new(flow))))
    }

    fn summary(
        &self,
        window: &Window,
        window_end_ns: u64,
        label: Option<String>,
    ) -> PathSummaryRecord {
        PathSummaryRecord {
            label,
            window_start_ns: window.started_ns,
            window_end_ns,
            profile: self.profile.name.clone(),
            up: window.up.summary(),
            down: window.down.summary(),
            unrecognised_packets_count: window.tap.unrecognised_packets_count(),
            backend: self.conditions.backend,
            keep_awake: self.conditions.keep_awake,
            realtime_scheduling: self.conditions.realtime_scheduling,
            applied_changes_ns: window
                .applied_changes
                .iter()
                .map(|change| change.0)
                .collect(),
            applied_change_indices: window
                .applied_changes
                .iter()
                .map(|change| change.1)
                .collect(),
        }
    }

    fn change(
        &mut self,
        profile: LinkProfile,
        seed: Option<u64>,
        start_schedule: bool,
    ) -> Result<(), ServeError> {
        if profile.mtu_bytes != self.profile.mtu_bytes
            && let Some(mtu_bytes) = profile.mtu_bytes
        {
            self.devices
                .set_mtu(mtu_bytes)
                .map_err(ServeError::Devices)?;
        }
        let changed = self.control.change_profile(&profile, seed, start_schedule);
        let monotonic_ns = changed.map_err(ServeError::Ferry)?;
        self.profile = profile.clone();
        write(&Record::ProfileChanged(Box::new(ProfileChangedRecord {
            monotonic_ns,
            profile,
        })))
    }
}

/// Answers a capture command. An unwritable file is an error of the command, not of the path.
fn answer_capture(
    id: u64,
    changed: Result<Option<CaptureReport>, ForwarderError>,
) -> Result<(), ServeError> {
    match changed {
        Ok(captured) => {
            say_what_was_not_captured(captured);
            write_done(id, None)
        }
        Err(ForwarderError::Capture(error)) => write_done(id, Some(format!("failed to {error}"))),
        Err(error) => Err(ServeError::Ferry(error)),
    }
}

/// Returns the `id` of an invalid command; 0 without an id.
pub fn id_of(line: &str) -> u64 {
    let parsed: Option<serde_json::Value> = serde_json::from_str(line).ok();
    parsed
        .and_then(|command| command.get("id")?.as_u64())
        .unwrap_or(0)
}

fn write_done(id: u64, error: Option<String>) -> Result<(), ServeError> {
    announce::write_done(id, error).map_err(ServeError::Output)
}

fn write(record: &Record) -> Result<(), ServeError> {
    output::write_record(record).map_err(ServeError::Output)
}
