//! `resolab-core enter`: runs a program in one of a path's hosts and ends as it ends. Not for: how
//! that is done; that is `resolab_link::enter`.

use crate::output;
use resolab_link::enter::{self, Ending, EnterError, Order};
use resolab_link::hosts::{Host, SERVER_ADDRESS};
use std::ffi::OsString;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::ExitCode;

/// What a shell would say of a program that was killed: 128 + SIGKILL.
const KILLED: u8 = 137;

/// Arguments of a program in a host.
#[derive(clap::Args)]
pub struct Arguments {
    /// Process id of the path, as in its path_ready record.
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    path: i32,
    /// Which of its hosts.
    #[arg(long)]
    host: HostName,
    /// The only name server the program's resolver knows.
    #[arg(long, value_name = "ADDR", default_value_t = IpAddr::V4(SERVER_ADDRESS))]
    nameserver: IpAddr,
    /// The program's /etc/hosts; without it, the program knows localhost and this machine's name.
    #[arg(long, value_name = "FILE")]
    hosts: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum HostName {
    Client,
    Server,
}

/// Run the program; its exit code is ours.
pub fn run(arguments: Arguments) -> ExitCode {
    let hosts_text = match &arguments.hosts {
        None => default_hosts(),
        Some(file) => match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("failed to read hosts file {}: {error}", file.display());
                return output::fail(output::EXIT_CONFIGURATION, message);
            }
        },
    };
    let order = Order {
        path: arguments.path,
        host: match arguments.host {
            HostName::Client => Host::Client,
            HostName::Server => Host::Server,
        },
        nameserver: arguments.nameserver,
        hosts_text,
        command: arguments.command,
    };
    match enter::start(&order) {
        Ok(guest) => accompany(guest),
        Err(error) => output::fail(exit_code(&error), format!("failed to {error}")),
    }
}

fn accompany(guest: enter::Guest) -> ExitCode {
    if !guest.own_processes {
        output::note(
            "no pid namespace here: if this process is killed, processes the program has started \
             may live on",
        );
    }
    match guest.wait() {
        Ok(Ending::Program(code)) => ExitCode::from(code),
        Ok(Ending::PathEnded) => output::fail(KILLED, "the path ended, so the program was killed"),
        Err(error) => output::fail(
            output::EXIT_INTERNAL,
            format!("failed to wait for the program: {error}"),
        ),
    }
}

fn exit_code(error: &EnterError) -> u8 {
    match error {
        EnterError::NoPath(_) | EnterError::Program(_) => output::EXIT_CONFIGURATION,
        EnterError::OtherUser { .. } | EnterError::Join { .. } | EnterError::View(_) => {
            output::EXIT_MACHINE
        }
    }
}

/// The machine's own name is in it because many programs look it up when they start.
fn default_hosts() -> String {
    let localhost = Ipv4Addr::LOCALHOST;
    let own_name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let own_name = own_name.trim();
    format!("{localhost} localhost {own_name}\n::1 localhost {own_name}\n")
}
