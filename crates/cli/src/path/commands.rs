//! Commands to a running path with the built-in link: read from standard input, carried out between
//! packets, answered on standard output. Not for: the packet forwarder.

use super::announce::{self, WindowConditions, warn_of_capture_gaps};
use resolab_link::datapath::forwarder::{ForwarderControl, ForwarderError};
use resolab_link::datapath::window::Window;
use resolab_link::hosts::Host;
use resolab_link::observation::capture::CaptureReport;
use resolab_link::path::{Devices, PathError};
use resolab_link::profile;
use resolab_record::{LinkProfile, PathCommand, PathSummaryRecord, ProfileChangedRecord, Record};
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::output;
use std::io::{self, BufRead};
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex};

/// The reason for the end of serving commands; messages follow "failed to".
#[derive(Debug)]
pub enum PathCommandsError {
    Forwarder(ForwarderError),
    Devices(PathError),
    Input(io::Error),
    Output(io::Error),
}

impl std::fmt::Display for PathCommandsError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Forwarder(error) => error.fmt(formatter),
            Self::Devices(error) => error.fmt(formatter),
            Self::Input(error) => write!(formatter, "read commands: {error}"),
            Self::Output(error) => write!(formatter, "write to standard output: {error}"),
        }
    }
}

impl From<PathCommandsError> for CommandRefusal {
    fn from(error: PathCommandsError) -> Self {
        match error {
            PathCommandsError::Output(error) => Self::unwritten(error),
            other @ (PathCommandsError::Forwarder(_)
            | PathCommandsError::Devices(_)
            | PathCommandsError::Input(_)) => Self::internal(other),
        }
    }
}

/// The state of the commands thread.
pub struct PathController {
    pub control: ForwarderControl,
    pub devices: Devices,
    pub profile: LinkProfile,
    pub conditions: WindowConditions,
    /// A lock held while a command's records are written.
    pub writing: Arc<Mutex<()>>,
}

impl PathController {
    pub fn serve(
        &mut self,
        start_schedule: bool,
        input: impl BufRead,
    ) -> Result<(), PathCommandsError> {
        if start_schedule {
            self.control
                .start_schedule()
                .map_err(PathCommandsError::Forwarder)?;
        }
        let writing = Arc::clone(&self.writing);
        for line in input.lines() {
            let line = line.map_err(PathCommandsError::Input)?;
            if line.trim().is_empty() {
                continue;
            }
            // A poisoned lock only means that this thread is ending.
            let _held = writing.lock();
            self.carry_out(&line)?;
        }
        Ok(())
    }

    fn carry_out(&mut self, line: &str) -> Result<(), PathCommandsError> {
        match serde_json::from_str(line) {
            Ok(PathCommand::Summary { id, label }) => {
                self.summarise(label)?;
                write_done(id, None)
            }
            Ok(PathCommand::StartSchedule { id }) => {
                self.control
                    .start_schedule()
                    .map_err(PathCommandsError::Forwarder)?;
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

    fn summarise(&mut self, label: Option<String>) -> Result<(), PathCommandsError> {
        let (mut window, window_end_ns) = self
            .control
            .close_window()
            .map_err(PathCommandsError::Forwarder)?;
        for host in [Host::Client, Host::Server] {
            let drops_count = self
                .devices
                .new_drops_count(host)
                .map_err(PathCommandsError::Devices)?;
            window.counts_mut(host).note_device_drops(drops_count);
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
    ) -> Result<(), PathCommandsError> {
        if profile.mtu_bytes != self.profile.mtu_bytes
            && let Some(mtu_bytes) = profile.mtu_bytes
        {
            self.devices
                .set_mtu(mtu_bytes)
                .map_err(PathCommandsError::Devices)?;
        }
        let changed = self.control.change_profile(&profile, seed, start_schedule);
        let monotonic_ns = changed.map_err(PathCommandsError::Forwarder)?;
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
) -> Result<(), PathCommandsError> {
    match changed {
        Ok(captured) => {
            warn_of_capture_gaps(captured);
            write_done(id, None)
        }
        Err(ForwarderError::Capture(error)) => write_done(id, Some(format!("failed to {error}"))),
        Err(error) => Err(PathCommandsError::Forwarder(error)),
    }
}

/// Returns the `id` of an invalid command; 0 without an id.
pub fn id_of(line: &str) -> u64 {
    let parsed: Option<serde_json::Value> = serde_json::from_str(line).ok();
    parsed
        .and_then(|command| command.get("id")?.as_u64())
        .unwrap_or(0)
}

fn write_done(id: u64, error: Option<String>) -> Result<(), PathCommandsError> {
    announce::write_done(id, error).map_err(PathCommandsError::Output)
}

fn write(record: &Record) -> Result<(), PathCommandsError> {
    output::write_record(record).map_err(PathCommandsError::Output)
}
