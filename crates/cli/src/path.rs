//! `resolab-core path`: makes a path, says so on standard output, and carries out commands from
//! standard input until that ends. Not for: how a path works; that is `resolab_link`.

use crate::{output, path_netem};
use resolab_link::capture::{Capture, CaptureReport};
use resolab_link::ferry::{FerryControl, FerryError};
use resolab_link::hosts::{
    CLIENT_ADDRESS, CLIENT_ADDRESS_V6, Host, PREFIX_LENGTH_V6, SERVER_ADDRESS, SERVER_ADDRESS_V6,
    SERVER_NETWORK, SERVER_NETWORK_PREFIX_LENGTH, SERVER_NETWORK_V6,
};
use resolab_link::path::{Backend, Devices, Grants, Path, PathError, Wishes};
use resolab_link::profile;
use resolab_link::window::Window;
use resolab_link::{clock, schedule};
use resolab_record::{
    CommandDoneRecord, LinkProfile, PathBackend, PathCommand, PathReadyRecord, PathSummaryRecord,
    ProfileChangedRecord, Record,
};
use std::io::{self, BufRead};
use std::path::{Path as FilePath, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How long an end by signal waits for the record being written.
const LAST_RECORD_WAIT: Duration = Duration::from_millis(500);

/// Arguments.
#[allow(clippy::struct_excessive_bools)] // Each is a switch of its own.
#[derive(clap::Args)]
pub struct Arguments {
    /// Access network: a TOML file, or the name of one in `RESOLAB_PROFILES` or `profiles`.
    #[arg(long, value_name = "FILE|NAME")]
    profile: String,
    /// Seed of the loss processes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Keep idle processors from halting: costs a full load of each, removes the wake-up time of
    /// virtual machines.
    #[arg(long)]
    keep_awake: bool,
    /// Give both hosts IPv6 addresses too; clients then ask for AAAA beside A.
    #[arg(long)]
    ipv6: bool,
    /// Have the hosts' kernels finish checksums and cut TCP's trains of segments themselves: slower,
    /// the same packets.
    #[arg(long)]
    no_offloads: bool,
    /// Let the profile's schedule of changes wait for a `start_schedule` command.
    #[arg(long)]
    hold_schedule: bool,
    /// Largest IP packet, instead of the profile's.
    #[arg(long, value_name = "BYTES")]
    mtu: Option<u32>,
    /// Write every packet into this pcapng file, which must not exist, from the start.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// What makes the link: our model between TUN devices or between packet sockets with the kernel's
    /// arrival stamps, or the kernel's sch_netem.
    #[arg(long, value_enum, default_value_t = BackendName::Tun)]
    backend: BackendName,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum BackendName {
    Tun,
    Packet,
    Netem,
}

/// Run until standard input ends or a signal comes.
pub fn run(arguments: Arguments) -> ExitCode {
    let Arguments {
        profile: wanted,
        seed,
        keep_awake,
        ipv6,
        no_offloads,
        hold_schedule,
        mtu,
        backend,
        pcap,
    } = arguments;
    let profile = match profile::load(&wanted, &profile::folders(), mtu) {
        Ok(profile) => profile,
        Err(error) => return failed(output::EXIT_CONFIGURATION, error),
    };
    let (in_link, in_records) = match backend {
        BackendName::Tun => (Backend::Tun, PathBackend::Tun),
        BackendName::Packet => (Backend::Packet, PathBackend::Packet),
        BackendName::Netem => {
            let wishes = path_netem::Wishes {
                ipv6,
                keep_awake,
                captures: pcap.is_some(),
            };
            return path_netem::run(profile, seed, wishes);
        }
    };
    let wishes = Wishes {
        backend: in_link,
        ipv6,
        offloads: !no_offloads,
    };
    let mut path = match Path::open(&profile, seed, wishes) {
        Ok(path) => path,
        Err(error) => return failed(exit_code(&error), error),
    };
    if keep_awake && let Err(error) = schedule::keep_awake() {
        return failed(
            output::EXIT_MACHINE,
            format!("keep processors awake: {error}"),
        );
    }
    if let Some(file) = pcap {
        // Not before: until here there may be one thread only.
        match Capture::start(&file) {
            Ok(capture) => path.ferry.capture(capture),
            Err(error) => return failed(output::EXIT_CONFIGURATION, error),
        }
    }
    say_what_was_refused(&path.grants);
    let conditions = Conditions {
        ipv6,
        backend: in_records,
        keep_awake,
        realtime_scheduling: path.grants.realtime_scheduling,
    };
    match announce(&profile, seed, conditions, path.grants.rootless) {
        Ok(()) => carry(path, profile, conditions, !hold_schedule),
        Err(error) => failed(
            output::EXIT_INTERNAL,
            format!("write to standard output: {error}"),
        ),
    }
}

pub(crate) fn exit_code(error: &PathError) -> u8 {
    match error {
        PathError::Namespaces(_)
        | PathError::Tun(..)
        | PathError::Packet(_)
        | PathError::Network { .. } => output::EXIT_MACHINE,
        PathError::Start(_) | PathError::Ferry(_) => output::EXIT_INTERNAL,
    }
}

pub(crate) fn failed(code: u8, what: impl std::fmt::Display) -> ExitCode {
    output::fail(code, format!("failed to {what}"))
}

fn say_what_was_refused(grants: &Grants) {
    if !grants.realtime_scheduling {
        output::note(
            "no real-time scheduling: packets can be late by milliseconds on a busy machine; run \
             as root, or give this program cap_sys_nice (setcap cap_sys_nice+ep)",
        );
    }
    for setting in &grants.refused_settings {
        output::note(format!(
            "could not set {} in the hosts: {}",
            setting.name, setting.error
        ));
    }
}

fn say_what_was_not_captured(captured: Option<CaptureReport>) {
    let left_out_count = captured.map_or(0, |report| report.not_captured_count);
    if left_out_count > 0 {
        output::note(format!(
            "the capture lacks {left_out_count} packets: its file was too slow for them"
        ));
    }
}

/// What holds for every window of the path.
#[derive(Clone, Copy)]
pub(crate) struct Conditions {
    pub(crate) ipv6: bool,
    pub(crate) backend: PathBackend,
    pub(crate) keep_awake: bool,
    pub(crate) realtime_scheduling: bool,
}

pub(crate) fn announce(
    profile: &LinkProfile,
    seed: u64,
    conditions: Conditions,
    rootless: bool,
) -> io::Result<()> {
    output::write_record(&output::start_record("path", clock::monotonic_ns()))?;
    output::write_record(&Record::PathReady(Box::new(PathReadyRecord {
        pid: std::process::id(),
        client_address: CLIENT_ADDRESS.into(),
        server_address: SERVER_ADDRESS.into(),
        server_network: format!("{SERVER_NETWORK}/{SERVER_NETWORK_PREFIX_LENGTH}"),
        client_address_v6: conditions.ipv6.then_some(CLIENT_ADDRESS_V6.into()),
        server_address_v6: conditions.ipv6.then_some(SERVER_ADDRESS_V6.into()),
        server_network_v6: conditions
            .ipv6
            .then(|| format!("{SERVER_NETWORK_V6}/{PREFIX_LENGTH_V6}")),
        backend: conditions.backend,
        profile: profile.clone(),
        seed,
        realtime_scheduling: conditions.realtime_scheduling,
        keep_awake: conditions.keep_awake,
        rootless,
    })))
}

/// Run the ferry on this thread, the punctual one, and commands on another.
fn carry(
    path: Path,
    profile: LinkProfile,
    conditions: Conditions,
    start_schedule: bool,
) -> ExitCode {
    let writing = Arc::new(Mutex::new(()));
    let mut controller = Controller {
        control: path.control,
        devices: path.devices,
        profile,
        conditions,
        writing: Arc::clone(&writing),
    };
    let commands = thread::Builder::new()
        .name("commands".to_owned())
        .spawn(move || {
            let served = controller.serve(start_schedule, io::stdin().lock());
            match served {
                // A signal ended the ferry first: nothing is left to serve.
                Ok(()) | Err(ServeError::Ferry(FerryError::Gone)) => {}
                Err(error) => output::note(format!("failed to {error}")),
            }
            controller.control.stop();
        });
    if let Err(error) = commands {
        return failed(
            output::EXIT_INTERNAL,
            format!("start the commands thread: {error}"),
        );
    }
    let ended = path.ferry.run();
    drop(path.anchors);
    let patience = Instant::now();
    while writing.try_lock().is_err() && patience.elapsed() < LAST_RECORD_WAIT {
        thread::sleep(Duration::from_millis(1));
    }
    match ended {
        Ok(captured) => {
            say_what_was_not_captured(captured);
            ExitCode::SUCCESS
        }
        Err(error) => failed(output::EXIT_INTERNAL, error),
    }
}

/// Why commands cannot be served any longer; messages read after "failed to".
#[derive(Debug)]
enum ServeError {
    Ferry(FerryError),
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

/// The commands thread.
struct Controller {
    control: FerryControl,
    devices: Devices,
    profile: LinkProfile,
    conditions: Conditions,
    /// Held while a command's records are written.
    writing: Arc<Mutex<()>>,
}

impl Controller {
    fn serve(&mut self, start_schedule: bool, input: impl BufRead) -> Result<(), ServeError> {
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

    /// The profile complete, or why it cannot be put in force.
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

/// A file that cannot be written is the asker's trouble, not the path's.
fn answer_capture(
    id: u64,
    changed: Result<Option<CaptureReport>, FerryError>,
) -> Result<(), ServeError> {
    match changed {
        Ok(captured) => {
            say_what_was_not_captured(captured);
            write_done(id, None)
        }
        Err(FerryError::Capture(error)) => write_done(id, Some(format!("failed to {error}"))),
        Err(error) => Err(ServeError::Ferry(error)),
    }
}

/// The `id` of a command that is otherwise wrong; 0 without one.
pub(crate) fn id_of(line: &str) -> u64 {
    let parsed: Option<serde_json::Value> = serde_json::from_str(line).ok();
    parsed
        .and_then(|command| command.get("id")?.as_u64())
        .unwrap_or(0)
}

fn write_done(id: u64, error: Option<String>) -> Result<(), ServeError> {
    let monotonic_ns = clock::monotonic_ns();
    write(&Record::CommandDone(CommandDoneRecord {
        id,
        monotonic_ns,
        error,
    }))
}

fn write(record: &Record) -> Result<(), ServeError> {
    output::write_record(record).map_err(ServeError::Output)
}
