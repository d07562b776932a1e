//! Runs a program on the machine's own network with a private resolver configuration, for live
//! measurements. Root makes a mount namespace. An ordinary user also makes the user namespace
//! required for the mount namespace. Not for: hosts of a path (see `join`).

use super::join::open_process;
use super::{EnterError, ExitCause, Program, RunningProgram, supervise};
use crate::hosts::namespace::{has_right, own_user_namespace};
use caps::Capability;
use nix::unistd::getppid;
use std::os::fd::OwnedFd;

/// Starts the program. The program is killed when the caller's parent process ends. The calling
/// process must have a single thread, and may be in a new user namespace afterwards.
pub fn start_on_machine(program: &Program) -> Result<RunningProgram, EnterError> {
    // Looked for first: whatever fails later must not leave a program nobody waits for.
    let caller = open_caller()?;
    if !may_mount() {
        if program.account.is_some() {
            return Err(EnterError::Account(
                "run the program as another user: only root can; leave --user out".to_owned(),
            ));
        }
        own_user_namespace().map_err(EnterError::NoUserNamespace)?;
    }
    supervise::start(program, caller, ExitCause::CallerEnded)
}

/// Opens a descriptor readable at the end of the parent process. `None` when the parent is in
/// another pid namespace: the parent's end cannot be observed there.
fn open_caller() -> Result<Option<OwnedFd>, EnterError> {
    let caller = getppid();
    if caller.as_raw() == 0 {
        return Ok(None);
    }
    let failed = |error| EnterError::View(format!("watch the process that started this: {error}"));
    open_process(caller).map(Some).map_err(failed)
}

/// Returns true when a mount namespace needs no user namespace.
fn may_mount() -> bool {
    has_right(Capability::CAP_SYS_ADMIN)
}
