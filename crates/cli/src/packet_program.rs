//! The code shared by paths and internets: programs with a packet thread and a commands thread. Not
//! for: commands themselves.

use resolab_link::hosts::capabilities::Capabilities;
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::output;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

/// The wait for the record being written, at an end by signal.
const LAST_RECORD_WAIT: Duration = Duration::from_millis(500);

/// Prints the drawbacks of capabilities not granted by the machine.
pub fn warn_of_refused_capabilities(capabilities: &Capabilities) {
    if !capabilities.realtime_scheduling {
        output::note(
            "no real-time scheduling: packets can be late by milliseconds on a busy machine; run \
             as root, or give this program cap_sys_nice (setcap cap_sys_nice+ep)",
        );
    }
    for setting in &capabilities.refused_settings {
        output::note(format!(
            "could not set {} in the hosts: {}",
            setting.name, setting.error
        ));
    }
}

/// Returns the exit code: the refusal reported by the commands thread, else success.
pub fn final_exit_code(failure: &Receiver<CommandRefusal>) -> ExitCode {
    failure
        .try_recv()
        .map_or(ExitCode::SUCCESS, CommandRefusal::exit)
}

/// Lets the commands thread finish the current record; the thread holds `writing` meanwhile.
pub fn wait_for_last_record(writing: &Mutex<()>) {
    let patience = Instant::now();
    while writing.try_lock().is_err() && patience.elapsed() < LAST_RECORD_WAIT {
        thread::sleep(Duration::from_millis(1));
    }
}
