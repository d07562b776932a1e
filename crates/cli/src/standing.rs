//! What programs share that stand, carry packets on one thread and are commanded on another: paths and
//! internets. Not for: commands themselves.

use crate::output;
use crate::refusal::Refusal;
use resolab_link::hosts::grants::Grants;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

/// How long an end by signal waits for the record being written.
const LAST_RECORD_WAIT: Duration = Duration::from_millis(500);

/// Say what will be worse for what the machine did not grant.
pub fn say_what_was_refused(grants: &Grants) {
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

/// How it ends: as whoever carries out commands said before they ended it, else well.
pub fn ending(failure: &Receiver<Refusal>) -> ExitCode {
    failure.try_recv().map_or(ExitCode::SUCCESS, Refusal::exit)
}

/// Let the commands thread finish the record it writes: it holds `writing` meanwhile.
pub fn wait_for_last_record(writing: &Mutex<()>) {
    let patience = Instant::now();
    while writing.try_lock().is_err() && patience.elapsed() < LAST_RECORD_WAIT {
        thread::sleep(Duration::from_millis(1));
    }
}
