//! `resolab-core internet`: makes an internet of many hosts, reports on standard output, and
//! carries out commands from standard input until the end of input. Not for: the internet itself;
//! see `resolab_link::star`.

mod commands;

use crate::packet_program::{final_exit_code, wait_for_last_record, warn_of_refused_capabilities};
use crate::path::warn_of_capture_gaps;
use commands::{InternetCommandsError, InternetController};
use resolab_link::clock;
use resolab_link::datapath::keep_awake;
use resolab_link::hosts::capabilities::Capabilities;
use resolab_link::hosts::rights;
use resolab_link::observation::capture::Capture;
use resolab_link::star::{Star, StarError, config};
use resolab_record::{InternetConfig, InternetReadyRecord, Record};
use resolab_terminal::command_lines::StayArgument;
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::output;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Instant;

/// The arguments of an internet.
#[derive(clap::Args)]
pub struct Arguments {
    /// The hosts: a TOML file (docs/formats/internet.md).
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Keep idle processors from halting: costs a full load of each, removes the wake-up time of
    /// virtual machines.
    #[arg(long)]
    keep_awake: bool,
    /// Write every packet into this pcapng file from the start: once on its sender's interface,
    /// once on its receiver's. The file must not exist.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    #[command(flatten)]
    stay: StayArgument,
}

/// Runs until standard input ends or a signal arrives.
pub fn run(arguments: &Arguments) -> ExitCode {
    let config = match config::load(&arguments.config) {
        Ok(config) => config,
        Err(error) => return fail(output::EXIT_CONFIGURATION, error),
    };
    let mut star = match Star::open(&config) {
        Ok(star) => star,
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
    if let Some(file) = &arguments.pcap {
        // Not before: until here there may be one thread only.
        let names = config.hosts.iter().map(|host| host.name.as_str());
        match Capture::start_among(file, names) {
            Ok(capture) => star.hub.capture(capture),
            Err(error) => return fail(output::EXIT_CONFIGURATION, error),
        }
    }
    warn_of_refused_capabilities(&star.capabilities);
    match announce(&config, &star.capabilities, arguments.keep_awake) {
        Ok(()) => carry(star, &config, arguments.stay),
        Err(error) => CommandRefusal::unwritten(error).exit(),
    }
}

fn announce(
    config: &InternetConfig,
    capabilities: &Capabilities,
    keep_awake: bool,
) -> io::Result<()> {
    output::write_record(&output::start_record("internet", clock::monotonic_ns()))?;
    output::write_record(&Record::InternetReady(Box::new(InternetReadyRecord {
        pid: std::process::id(),
        hosts: config.hosts.clone(),
        mtu_bytes: config.mtu_bytes.unwrap_or_default(),
        seed: config.seed.unwrap_or_default(),
        realtime_scheduling: capabilities.realtime_scheduling,
        keep_awake,
        rootless: capabilities.rootless,
    })))
}

/// Runs the hub on this thread with real-time scheduling, and commands on another thread.
fn carry(star: Star, config: &InternetConfig, stay: StayArgument) -> ExitCode {
    let writing = Arc::new(Mutex::new(()));
    let mut controller =
        InternetController::new(star.control, star.devices, config, Arc::clone(&writing));
    let (broken, failure) = mpsc::channel();
    let commands = thread::Builder::new()
        .name("commands".to_owned())
        .spawn(move || {
            let began = Instant::now();
            match controller.serve(io::stdin().lock()) {
                Ok(()) => stay.end(began),
                // A signal ended the hub first: nothing is left to serve.
                Err(InternetCommandsError::Ended(_)) => {}
                // The hub ends next, and then asks.
                Err(error) => drop(broken.send(error.into())),
            }
            controller.stop();
        });
    if let Err(error) = commands {
        return fail(
            output::EXIT_INTERNAL,
            format!("start the commands thread: {error}"),
        );
    }
    let ended = star.hub.run();
    drop(star.anchors);
    wait_for_last_record(&writing);
    match ended {
        Ok(captured) => {
            warn_of_capture_gaps(captured);
            final_exit_code(&failure)
        }
        Err(error) => fail(output::EXIT_INTERNAL, error),
    }
}

fn exit_code(error: &StarError) -> u8 {
    match error {
        StarError::Namespaces(_) | StarError::Tun(_) | StarError::Network { .. } => {
            output::EXIT_MACHINE
        }
        StarError::Start(_) => output::EXIT_INTERNAL,
    }
}

fn fail(code: u8, what: impl std::fmt::Display) -> ExitCode {
    output::fail(code, format!("failed to {what}"))
}
