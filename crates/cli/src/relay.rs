//! `resolab-core relay`: makes a relay, reports on standard output, and runs until standard input
//! ends. Not for: making the relay; see `resolab_link::relay`.

use resolab_link::clock;
use resolab_link::relay::{MTU_BYTES, RELAY_HOST, Relay, RelayEnd, RelayError};
use resolab_record::{Record, RelayReadyRecord};
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::output;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;

/// The arguments of a relay.
#[derive(clap::Args)]
pub struct Arguments {
    /// Carry IPv6 as well; only for machines with IPv6.
    #[arg(long)]
    ipv6: bool,
    /// Continue after the end of standard input, until SIGINT or SIGTERM.
    #[arg(long)]
    serve: bool,
}

/// Runs until standard input ends, a signal arrives, or slirp4netns ends.
pub fn run(arguments: &Arguments) -> ExitCode {
    let relay = match Relay::open(arguments.ipv6) {
        Ok(relay) => relay,
        Err(error) => return output::fail(exit_code(&error), format!("failed to {error}")),
    };
    let ready = RelayReadyRecord {
        pid: std::process::id(),
        host: RELAY_HOST.to_owned(),
        ipv6: arguments.ipv6,
        mtu_bytes: MTU_BYTES,
    };
    let start = output::start_record("relay", clock::monotonic_ns());
    let written = output::write_record(&start)
        .and_then(|()| output::write_record(&Record::RelayReady(ready)));
    if let Err(error) = written {
        return CommandRefusal::unwritten(error).exit();
    }
    let input = io::stdin();
    match relay.wait((!arguments.serve).then(|| input.as_fd())) {
        Ok(RelayEnd::Asked) => ExitCode::SUCCESS,
        Ok(RelayEnd::Broken) => output::fail(
            output::EXIT_MACHINE,
            format!("the relay broke; slirp4netns said: {}", relay.last_words()),
        ),
        Err(error) => output::fail(
            output::EXIT_INTERNAL,
            format!("failed to wait for the relay's end: {error}"),
        ),
    }
}

fn exit_code(error: &RelayError) -> u8 {
    match error {
        RelayError::NoProgram
        | RelayError::Device(_)
        | RelayError::Namespaces(_)
        | RelayError::SetUp { .. }
        | RelayError::Slirp(_) => output::EXIT_MACHINE,
        RelayError::NoIpv6 => output::EXIT_CONFIGURATION,
    }
}
