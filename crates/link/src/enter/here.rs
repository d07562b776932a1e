//! Running a program on the machine's own network with a resolver configuration of its own: what
//! live measurements need of the machine they run on. Root makes a mount namespace, an ordinary
//! user that and the user namespace it takes. Not for: hosts of a path; that is `join`.

use super::join::open_process;
use super::{Ending, EnterError, Guest, Program, supervise};
use crate::hosts::namespace::{has_right, own_user_namespace};
use caps::Capability;
use nix::unistd::getppid;
use std::os::fd::OwnedFd;

/// Start the program; it is killed when the process that started this one ends. The calling process
/// must have one thread only and may be in a user namespace of its own afterwards.
pub fn start_here(program: &Program) -> Result<Guest, EnterError> {
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
    supervise::start(program, caller, Ending::CallerEnded)
}

/// Becomes readable when the caller ends; `None` where its pid namespace is not ours, so that
/// nothing tells of its end.
fn open_caller() -> Result<Option<OwnedFd>, EnterError> {
    let caller = getppid();
    if caller.as_raw() == 0 {
        return Ok(None);
    }
    let failed = |error| EnterError::View(format!("watch the process that started this: {error}"));
    open_process(caller).map(Some).map_err(failed)
}

/// Whether a mount namespace can be made without a user namespace.
fn may_mount() -> bool {
    has_right(Capability::CAP_SYS_ADMIN)
}
