//! `resolab-core path`: makes a path, reports on standard output, and carries out commands from
//! standard input until the end of input. Not for: the path itself; see `resolab_link`.

mod announce;
mod commands;
#[cfg(feature = "netem")]
mod netem;

use crate::packet_program::{final_exit_code, wait_for_last_record, warn_of_refused_capabilities};
pub(crate) use announce::{warn_of_capture_gaps, write_done};
pub(crate) use commands::id_of;
use resolab_terminal::command_lines::StayArgument;
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::output;

use announce::{WindowConditions, announce, exit_code, fail};
use commands::{PathCommandsError, PathController};
use resolab_link::datapath::forwarder::ForwarderError;
use resolab_link::datapath::keep_awake;
use resolab_link::hosts::rights;
use resolab_link::observation::capture::Capture;
use resolab_link::path::{Backend, Path, PathOptions};
use resolab_link::profile;
use resolab_record::{LinkProfile, PathBackend};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Instant;

/// The arguments of a path.
#[allow(clippy::struct_excessive_bools)] // Each is a switch of its own.
#[derive(clap::Args)]
pub struct Arguments {
    /// Access network: a TOML file, or the name of a file in `RESOLAB_PROFILES` or `profiles`.
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
    /// Make the hosts' kernels finish checksums and cut TCP's trains of segments: slower, the same
    /// packets.
    #[arg(long)]
    no_offloads: bool,
    /// Hold the profile's schedule of changes until a `start_schedule` command.
    #[arg(long)]
    hold_schedule: bool,
    /// Largest IP packet, instead of the profile's.
    #[arg(long, value_name = "BYTES")]
    mtu: Option<u32>,
    /// Write every packet into this pcapng file from the start. The file must not exist.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Back end of the link: the built-in model between TUN devices or between packet sockets with
    /// the kernel's arrival stamps, or the kernel's sch_netem (in the measured build only).
    #[arg(long, value_enum, default_value_t = BackendName::Tun)]
    backend: BackendName,
    #[command(flatten)]
    stay: StayArgument,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum BackendName {
    Tun,
    Packet,
    Netem,
}

/// Runs until standard input ends or a signal arrives.
pub fn run(arguments: Arguments) -> ExitCode {
    let folders = profile::folders();
    let profile = match profile::load(&arguments.profile, &folders, arguments.mtu) {
        Ok(profile) => profile,
        Err(error) => return fail(output::EXIT_CONFIGURATION, error),
    };
    match arguments.backend {
        BackendName::Tun => run_ours(arguments, profile, Backend::Tun, PathBackend::Tun),
        BackendName::Packet => run_ours(arguments, profile, Backend::Packet, PathBackend::Packet),
        BackendName::Netem => run_netem(&arguments, profile),
    }
}

#[cfg(feature = "netem")]
fn run_netem(arguments: &Arguments, profile: LinkProfile) -> ExitCode {
    let options = netem::NetemPathOptions {
        ipv6: arguments.ipv6,
        keep_awake: arguments.keep_awake,
        captures: arguments.pcap.is_some(),
        stay: arguments.stay,
    };
    netem::run(profile, arguments.seed, options)
}

#[cfg(not(feature = "netem"))]
fn run_netem(_: &Arguments, _: LinkProfile) -> ExitCode {
    let what = "use --backend netem: this build is without this back end; use --backend tun, or the \
                measured build (scripts/setup --measured, RESOLAB_CORE=target/measured/resolab-core)";
    fail(output::EXIT_UNSUPPORTED, what)
}

/// Runs a path with the built-in link model.
fn run_ours(
    arguments: Arguments,
    profile: LinkProfile,
    backend: Backend,
    in_records: PathBackend,
) -> ExitCode {
    let options = PathOptions {
        backend,
        ipv6: arguments.ipv6,
        offloads: !arguments.no_offloads,
    };
    let mut path = match Path::open(&profile, arguments.seed, options) {
        Ok(path) => path,
        Err(error) => return fail(exit_code(&error), error),
    };
    if arguments.keep_awake
        && let Err(error) = keep_awake::start()
    {
        let what = format!("keep processors awake: {error}");
        return fail(output::EXIT_MACHINE, what);
    }
    if let Err(error) = rights::drop_capabilities() {
        return fail(output::EXIT_MACHINE, format!("give up rights: {error}"));
    }
    if let Some(file) = arguments.pcap {
        // Not before: until here there may be one thread only.
        match Capture::start(&file) {
            Ok(capture) => path.forwarder.capture(capture),
            Err(error) => return fail(output::EXIT_CONFIGURATION, error),
        }
    }
    warn_of_refused_capabilities(&path.capabilities);
    let conditions = WindowConditions {
        ipv6: arguments.ipv6,
        backend: in_records,
        keep_awake: arguments.keep_awake,
        realtime_scheduling: path.capabilities.realtime_scheduling,
    };
    match announce(
        &profile,
        arguments.seed,
        conditions,
        path.capabilities.rootless,
    ) {
        Ok(()) => carry(
            path,
            profile,
            conditions,
            !arguments.hold_schedule,
            arguments.stay,
        ),
        Err(error) => CommandRefusal::unwritten(error).exit(),
    }
}

/// Runs the packet forwarder on this thread with real-time scheduling, and commands on another
/// thread.
fn carry(
    path: Path,
    profile: LinkProfile,
    conditions: WindowConditions,
    start_schedule: bool,
    stay: StayArgument,
) -> ExitCode {
    let writing = Arc::new(Mutex::new(()));
    let mut controller = PathController {
        control: path.control,
        devices: path.devices,
        profile,
        conditions,
        writing: Arc::clone(&writing),
    };
    let (broken, failure) = mpsc::channel();
    let commands = thread::Builder::new()
        .name("commands".to_owned())
        .spawn(move || {
            let began = Instant::now();
            let served = controller.serve(start_schedule, io::stdin().lock());
            match served {
                Ok(()) => stay.end(began),
                // A signal ended the forwarder first: nothing is left to serve.
                Err(PathCommandsError::Forwarder(ForwarderError::Gone)) => {}
                // The forwarder ends next, and then asks.
                Err(error) => drop(broken.send(error.into())),
            }
            controller.control.stop();
        });
    if let Err(error) = commands {
        return fail(
            output::EXIT_INTERNAL,
            format!("start the commands thread: {error}"),
        );
    }
    let ended = path.forwarder.run();
    drop(path.anchors);
    wait_for_last_record(&writing);
    match ended {
        Ok(captured) => {
            warn_of_capture_gaps(captured);
            final_exit_code(&failure)
        }
        Err(error) => fail(output::EXIT_INTERNAL, error),
    }
}
