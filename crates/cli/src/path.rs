//! `resolab-core path`: makes a path, reports on standard output, and carries out commands from
//! standard input until the end of input. Not for: the path itself; see `resolab_link`.

mod announce;
mod commands;
mod netem;

use crate::command_lines::Stay;
use crate::output;
use crate::refusal::Refusal;
use crate::standing::{ending, say_what_was_refused, wait_for_last_record};
pub(crate) use announce::{say_what_was_not_captured, write_done};
pub(crate) use commands::id_of;

use announce::{Conditions, announce, exit_code, failed};
use commands::{Controller, ServeError};
use resolab_link::carrying::ferry::ForwarderError;
use resolab_link::carrying::keep_awake;
use resolab_link::hosts::rights;
use resolab_link::path::{Backend, Path, PathOptions};
use resolab_link::profile;
use resolab_link::seeing::capture::Capture;
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
    /// the kernel's arrival stamps, or the kernel's sch_netem.
    #[arg(long, value_enum, default_value_t = BackendName::Tun)]
    backend: BackendName,
    #[command(flatten)]
    stay: Stay,
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
        Err(error) => return failed(output::EXIT_CONFIGURATION, error),
    };
    match arguments.backend {
        BackendName::Tun => run_ours(arguments, profile, Backend::Tun, PathBackend::Tun),
        BackendName::Packet => run_ours(arguments, profile, Backend::Packet, PathBackend::Packet),
        BackendName::Netem => {
            let wishes = netem::Wishes {
                ipv6: arguments.ipv6,
                keep_awake: arguments.keep_awake,
                captures: arguments.pcap.is_some(),
                stay: arguments.stay,
            };
            netem::run(profile, arguments.seed, wishes)
        }
    }
}

/// Runs a path with the built-in link model.
fn run_ours(
    arguments: Arguments,
    profile: LinkProfile,
    backend: Backend,
    in_records: PathBackend,
) -> ExitCode {
    let wishes = PathOptions {
        backend,
        ipv6: arguments.ipv6,
        offloads: !arguments.no_offloads,
    };
    let mut path = match Path::open(&profile, arguments.seed, wishes) {
        Ok(path) => path,
        Err(error) => return failed(exit_code(&error), error),
    };
    if arguments.keep_awake
        && let Err(error) = keep_awake::start()
    {
        let what = format!("keep processors awake: {error}");
        return failed(output::EXIT_MACHINE, what);
    }
    if let Err(error) = rights::drop_capabilities() {
        return failed(output::EXIT_MACHINE, format!("give up rights: {error}"));
    }
    if let Some(file) = arguments.pcap {
        // Not before: until here there may be one thread only.
        match Capture::start(&file) {
            Ok(capture) => path.ferry.capture(capture),
            Err(error) => return failed(output::EXIT_CONFIGURATION, error),
        }
    }
    say_what_was_refused(&path.grants);
    let conditions = Conditions {
        ipv6: arguments.ipv6,
        backend: in_records,
        keep_awake: arguments.keep_awake,
        realtime_scheduling: path.grants.realtime_scheduling,
    };
    match announce(&profile, arguments.seed, conditions, path.grants.rootless) {
        Ok(()) => carry(
            path,
            profile,
            conditions,
            !arguments.hold_schedule,
            arguments.stay,
        ),
        Err(error) => Refusal::unwritten(error).exit(),
    }
}

/// Runs the packet forwarder on this punctual thread, and commands on another thread.
fn carry(
    path: Path,
    profile: LinkProfile,
    conditions: Conditions,
    start_schedule: bool,
    stay: Stay,
) -> ExitCode {
    let writing = Arc::new(Mutex::new(()));
    let mut controller = Controller {
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
                // A signal ended the ferry first: nothing is left to serve.
                Err(ServeError::Ferry(ForwarderError::Gone)) => {}
                // The ferry ends next, and then asks.
                Err(error) => drop(broken.send(error.into())),
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
    wait_for_last_record(&writing);
    match ended {
        Ok(captured) => {
            say_what_was_not_captured(captured);
            ending(&failure)
        }
        Err(error) => failed(output::EXIT_INTERNAL, error),
    }
}
