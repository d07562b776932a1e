//! The outputs shared by the back ends: the ready record, the failure to start, answers to
//! commands, and gaps in a capture. Not for: later records (see `commands`).

use resolab_link::clock;
use resolab_link::hosts::{
    CLIENT_ADDRESS, CLIENT_ADDRESS_V6, PREFIX_LENGTH_V6, SERVER_ADDRESS, SERVER_ADDRESS_V6,
    SERVER_NETWORK, SERVER_NETWORK_PREFIX_LENGTH, SERVER_NETWORK_V6,
};
use resolab_link::observation::capture::CaptureReport;
use resolab_link::path::PathError;
use resolab_record::{CommandDoneRecord, LinkProfile, PathBackend, PathReadyRecord, Record};
use resolab_terminal::output;
use std::io;
use std::process::ExitCode;

/// The conditions common to all windows of the path.
#[derive(Clone, Copy)]
pub struct WindowConditions {
    pub ipv6: bool,
    pub backend: PathBackend,
    pub keep_awake: bool,
    pub realtime_scheduling: bool,
}

pub fn announce(
    profile: &LinkProfile,
    seed: u64,
    conditions: WindowConditions,
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

pub fn exit_code(error: &PathError) -> u8 {
    match error {
        PathError::Namespaces(_)
        | PathError::Tun(_)
        | PathError::Packet(_)
        | PathError::Network { .. } => output::EXIT_MACHINE,
        PathError::Start(_) | PathError::Forwarder(_) => output::EXIT_INTERNAL,
    }
}

pub fn fail(code: u8, what: impl std::fmt::Display) -> ExitCode {
    output::fail(code, format!("failed to {what}"))
}

/// Writes the answer to a command.
pub fn write_done(id: u64, error: Option<String>) -> io::Result<()> {
    output::write_record(&Record::CommandDone(CommandDoneRecord {
        id,
        monotonic_ns: clock::monotonic_ns(),
        error,
    }))
}

/// Warns people about a capture with gaps.
pub fn warn_of_capture_gaps(captured: Option<CaptureReport>) {
    let left_out_count = captured.map_or(0, |report| report.not_captured_count);
    if left_out_count > 0 {
        output::note(format!(
            "the capture lacks {left_out_count} packets: its file was too slow for them"
        ));
    }
}
