//! `resolab-core enter`: runs a program in a host of a path, or on the machine's network. The exit
//! code is the program's. Not for: entering a host; see `resolab_link::enter`.

use resolab_link::enter::{
    self, Account, EnterError, ExitCause, HostProgram, Program, RunningProgram,
};
use resolab_link::hosts::{HOSTS, SERVER_ADDRESS};
use resolab_terminal::output;
use std::ffi::OsString;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit code of a shell for a killed program: 128 + SIGKILL.
const KILLED: u8 = 137;

/// The arguments of a program in a host.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("place").required(true))]
pub struct Arguments {
    /// Process id of the path, as in its path_ready record, or of an internet (internet_ready).
    #[arg(long, value_name = "PID", group = "place", requires = "host",
          value_parser = clap::value_parser!(i32).range(1..))]
    path: Option<i32>,
    /// Host of the path (client or server) or of the internet.
    #[arg(long, value_name = "NAME", requires = "path", conflicts_with = "here")]
    host: Option<String>,
    /// No path: the machine's own network, for measuring the real network. The program is killed
    /// when the parent of this process ends.
    #[arg(long, group = "place")]
    here: bool,
    /// The only name server in the program's resolver configuration. Default: the path's server
    /// host, in an internet 127.0.0.1, or with --here the machine's own.
    #[arg(long, value_name = "ADDR")]
    nameserver: Option<IpAddr>,
    /// With --here, as root: the user to run the program as. The program's environment is
    /// unchanged.
    #[arg(long, value_name = "NAME", requires = "here")]
    user: Option<String>,
    /// The program's /etc/hosts. Default: a file with localhost and this machine's name.
    #[arg(long, value_name = "FILE")]
    hosts: Option<PathBuf>,
    /// The program with its arguments.
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// Runs the program and returns the program's exit code.
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
    match start(arguments, hosts_text) {
        Ok(guest) => accompany(guest),
        Err(error) => output::fail(exit_code(&error), format!("failed to {error}")),
    }
}

fn start(arguments: Arguments, hosts_text: String) -> Result<RunningProgram, EnterError> {
    let account = arguments
        .user
        .as_deref()
        .map(Account::find_by_name)
        .transpose()?;
    let mut program = Program {
        nameserver: arguments.nameserver,
        hosts_text,
        account,
        command: arguments.command,
    };
    let (Some(path), Some(host)) = (arguments.path, arguments.host) else {
        return enter::start_on_machine(&program);
    };
    program.nameserver.get_or_insert(default_nameserver(&host));
    enter::start(&HostProgram {
        path,
        host,
        program,
    })
}

/// Returns the default name server. In a path, the name server is the server host. In an internet,
/// no host is special. The address is then the program's loopback, without a listener unless the
/// program listens.
fn default_nameserver(host: &str) -> IpAddr {
    let in_a_path = HOSTS.iter().any(|known| known.name() == host);
    let address = if in_a_path {
        SERVER_ADDRESS
    } else {
        Ipv4Addr::LOCALHOST
    };
    address.into()
}

fn accompany(guest: RunningProgram) -> ExitCode {
    if !guest.own_processes {
        output::note(
            "no pid namespace here: if this process is killed, processes the program has started \
             may live on",
        );
    }
    match guest.wait() {
        Ok(ExitCause::Program(code)) => ExitCode::from(code),
        Ok(ExitCause::CallerEnded) => output::fail(
            KILLED,
            "the process that started this one ended, so the program was killed",
        ),
        Ok(ExitCause::PathEnded) => {
            output::fail(KILLED, "the path ended, so the program was killed")
        }
        Err(error) => output::fail(
            output::EXIT_INTERNAL,
            format!("failed to wait for the program: {error}"),
        ),
    }
}

fn exit_code(error: &EnterError) -> u8 {
    match error {
        EnterError::NoPath(_)
        | EnterError::NoHost { .. }
        | EnterError::Program(_)
        | EnterError::Account(_) => output::EXIT_CONFIGURATION,
        EnterError::OtherUser { .. }
        | EnterError::Join { .. }
        | EnterError::NoUserNamespace(_)
        | EnterError::View(_) => output::EXIT_MACHINE,
    }
}

/// Returns the default hosts file. The file has the machine's name, because many programs look up
/// this name when starting.
fn default_hosts() -> String {
    let localhost = Ipv4Addr::LOCALHOST;
    let own_name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let own_name = own_name.trim();
    format!("{localhost} localhost {own_name}\n::1 localhost {own_name}\n")
}
