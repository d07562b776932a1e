//! `resolab-core path --backend netem`: the same records and commands, for a path with the kernel's
//! link. Not for: the path itself; see `resolab_link::netem`.

use super::announce::{self, WindowConditions, exit_code, fail};
use super::commands::id_of;
use resolab_link::datapath::forwarder::ending_signals;
use resolab_link::datapath::keep_awake;
use resolab_link::netem::{NetemCapabilities, NetemError, NetemPath, NetemWindow};
use resolab_link::profile;
use resolab_record::{
    LinkProfile, PathBackend, PathCommand, PathSummaryRecord, ProfileChangedRecord, Record,
};
use resolab_terminal::command_lines::StayArgument;
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::output;
use std::io::{self, BufRead};
use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Instant;

/// The error text of commands supported only by the built-in link.
const UNABLE: &str = "the netem back end cannot; use --backend tun";

/// The options of the command line besides the link.
#[derive(Clone, Copy)]
pub struct NetemPathOptions {
    /// True for addresses of both IP families.
    pub ipv6: bool,
    /// True to keep processors from halting.
    pub keep_awake: bool,
    /// True for a capture from the start.
    pub captures: bool,
    /// The option to stay after the end of standard input.
    pub stay: StayArgument,
}

/// Runs until standard input ends or a signal arrives.
pub fn run(profile: LinkProfile, seed: u64, options: NetemPathOptions) -> ExitCode {
    let NetemPathOptions {
        ipv6,
        keep_awake,
        captures,
        stay,
    } = options;
    if captures {
        let what = format!("capture packets: {UNABLE}");
        return fail(output::EXIT_UNSUPPORTED, what);
    }
    let path = match NetemPath::open(&profile, seed, ipv6) {
        Ok(path) => path,
        Err(error) => return fail(code(&error), error),
    };
    if keep_awake && let Err(error) = keep_awake::start() {
        let what = format!("keep processors awake: {error}");
        return fail(output::EXIT_MACHINE, what);
    }
    warn_of_refused_capabilities(&path.capabilities);
    let conditions = WindowConditions {
        ipv6,
        backend: PathBackend::Netem,
        keep_awake,
        realtime_scheduling: false,
    };
    let served = announce::announce(&profile, seed, conditions, path.capabilities.rootless)
        .map_err(NetemCommandsError::Output)
        .and_then(|()| {
            NetemController {
                path,
                profile,
                conditions,
            }
            .serve(stay)
        });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(NetemCommandsError::Output(error)) => CommandRefusal::unwritten(error).exit(),
        Err(error) => fail(output::EXIT_INTERNAL, error),
    }
}

fn code(error: &NetemError) -> u8 {
    match error {
        NetemError::Unsupported { .. } => output::EXIT_UNSUPPORTED,
        NetemError::Path(error) => exit_code(error),
        NetemError::NoNetem(_)
        | NetemError::NoTool { .. }
        | NetemError::Refused { .. }
        | NetemError::Middle(_) => output::EXIT_MACHINE,
        NetemError::Unreadable(_) => output::EXIT_INTERNAL,
    }
}

fn warn_of_refused_capabilities(capabilities: &NetemCapabilities) {
    if !capabilities.seeded {
        output::note(
            "the random draws do not follow from the seed: that takes Linux 6.6 and iproute2 6.6",
        );
    }
    for setting in &capabilities.refused_settings {
        let (name, error) = (setting.name, setting.error);
        output::note(format!("could not set {name} in the hosts: {error}"));
    }
}

/// The reason for the end of serving commands; messages follow "failed to".
#[derive(Debug)]
enum NetemCommandsError {
    Netem(NetemError),
    Threads(io::Error),
    Input(io::Error),
    Output(io::Error),
}

impl std::fmt::Display for NetemCommandsError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Netem(error) => error.fmt(formatter),
            Self::Threads(error) => write!(formatter, "start a thread: {error}"),
            Self::Input(error) => write!(formatter, "read commands: {error}"),
            Self::Output(error) => write!(formatter, "write to standard output: {error}"),
        }
    }
}

/// An event of a running path.
enum NetemEvent {
    Line(io::Result<String>),
    End,
}

/// The handler of commands, on the thread inside the namespace of the link.
struct NetemController {
    path: NetemPath,
    profile: LinkProfile,
    conditions: WindowConditions,
}

impl NetemController {
    fn serve(&mut self, stay: StayArgument) -> Result<(), NetemCommandsError> {
        let (sender, events) = channel();
        let signals = sender.clone();
        start("signals", move || wait_for_signal(&signals))?;
        start("commands", move || read_lines(&sender, stay))?;
        for event in events {
            let NetemEvent::Line(line) = event else {
                break;
            };
            let line = line.map_err(NetemCommandsError::Input)?;
            if !line.trim().is_empty() {
                self.carry_out(&line)?;
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, line: &str) -> Result<(), NetemCommandsError> {
        let unable = |id, what: &str| write_done(id, Some(format!("failed to {what}: {UNABLE}")));
        match serde_json::from_str(line) {
            Ok(PathCommand::Summary { id, label }) => {
                let window = self
                    .path
                    .close_window()
                    .map_err(NetemCommandsError::Netem)?;
                write(&Record::PathSummary(Box::new(self.summary(window, label))))?;
                write_done(id, None)
            }
            Ok(PathCommand::SetProfile {
                id, profile, seed, ..
            }) => self.set_profile(id, *profile, seed),
            Ok(PathCommand::StartSchedule { id }) => unable(id, "start the schedule"),
            Ok(PathCommand::StartCapture { id, .. } | PathCommand::StopCapture { id }) => {
                unable(id, "capture packets")
            }
            Err(error) => {
                let message = format!("failed to understand the command: {error}");
                write_done(id_of(line), Some(message))
            }
        }
    }

    fn set_profile(
        &mut self,
        id: u64,
        wanted: LinkProfile,
        seed: Option<u64>,
    ) -> Result<(), NetemCommandsError> {
        let refused = |error: String| write_done(id, Some(format!("failed to {error}")));
        let profile = match profile::complete(wanted) {
            Ok(profile) => profile,
            Err(error) => return refused(error.to_string()),
        };
        match self.path.change(&profile, seed) {
            Ok(monotonic_ns) => {
                self.profile = profile.clone();
                write(&Record::ProfileChanged(Box::new(ProfileChangedRecord {
                    monotonic_ns,
                    profile,
                })))?;
                write_done(id, None)
            }
            Err(error @ NetemError::Unsupported { .. }) => refused(error.to_string()),
            Err(error) => Err(NetemCommandsError::Netem(error)),
        }
    }

    fn summary(&self, window: NetemWindow, label: Option<String>) -> PathSummaryRecord {
        PathSummaryRecord {
            label,
            window_start_ns: window.started_ns,
            window_end_ns: window.ended_ns,
            profile: self.profile.name.clone(),
            up: window.up,
            down: window.down,
            // There are no flow records for them to stand in.
            unrecognised_packets_count: 0,
            backend: self.conditions.backend,
            keep_awake: self.conditions.keep_awake,
            realtime_scheduling: self.conditions.realtime_scheduling,
            applied_changes_ns: Vec::new(),
            applied_change_indices: Vec::new(),
        }
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), NetemCommandsError> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(drop).map_err(NetemCommandsError::Threads)
}

/// Waits for a signal to end the path; these signals are blocked in every thread.
fn wait_for_signal(events: &Sender<NetemEvent>) {
    while ending_signals().wait().is_err() {}
    // Nobody listens any more if the path has ended by itself.
    let _ = events.send(NetemEvent::End);
}

fn read_lines(events: &Sender<NetemEvent>, stay: StayArgument) {
    let began = Instant::now();
    for line in io::stdin().lock().lines() {
        if events.send(NetemEvent::Line(line)).is_err() {
            return;
        }
    }
    stay.end(began);
    let _ = events.send(NetemEvent::End);
}

fn write_done(id: u64, error: Option<String>) -> Result<(), NetemCommandsError> {
    announce::write_done(id, error).map_err(NetemCommandsError::Output)
}

fn write(record: &Record) -> Result<(), NetemCommandsError> {
    output::write_record(record).map_err(NetemCommandsError::Output)
}
