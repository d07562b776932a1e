//! Joins a host: the host's network namespace and, if the path is an ordinary user's, the owning
//! user namespace. Not for: mounts and processes.

use super::EnterError;
use crate::hosts::Host;
use crate::hosts::anchor::{find_anchor, has_anchors};
use nix::errno::Errno;
use nix::sched::{CloneFlags, setns};
use nix::sys::stat::stat;
use nix::unistd::{Pid, geteuid};
use std::fs;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// A running path, found by process id.
#[derive(Debug)]
pub struct PathAnchors {
    /// Becomes readable when the path ends.
    pub handle: OwnedFd,
    /// Holds the client host.
    pub client_anchor: Pid,
    /// Holds the server host.
    pub server_anchor: Pid,
}

/// Finds the path with process id `path`, and checks the path's owner: the caller.
pub fn find_path(path: Pid) -> Result<PathAnchors, EnterError> {
    let no_path = || EnterError::NoPath(path);
    // Opened before the anchors are looked for: if the path is still there, so were its anchors.
    let handle = open_process(path).map_err(|_| no_path())?;
    let found = PathAnchors {
        handle,
        client_anchor: find_anchor(path, Host::Client).ok_or_else(no_path)?,
        server_anchor: find_anchor(path, Host::Server).ok_or_else(no_path)?,
    };
    check_owner(path)?;
    Ok(found)
}

fn check_owner(path: Pid) -> Result<(), EnterError> {
    let owner = stat(format!("/proc/{path}").as_str()).map_err(|_| EnterError::NoPath(path))?;
    if owner.st_uid == geteuid().as_raw() {
        return Ok(());
    }
    Err(EnterError::OtherUser {
        path,
        owner: owner.st_uid,
    })
}

/// Puts this process, which must have a single thread, into the host called `host` of a path or an
/// internet. Returns a descriptor readable at the end of the path or internet.
pub fn join_host(path: Pid, host: &str) -> Result<OwnedFd, EnterError> {
    let no_path = || EnterError::NoPath(path);
    // Opened before the anchor is looked for: if the path is still there, so was its anchor.
    let handle = open_process(path).map_err(|_| no_path())?;
    let Some(anchor) = find_anchor(path, host) else {
        let no_host = EnterError::NoHost {
            path,
            host: host.to_owned(),
        };
        return Err(if has_anchors(path) {
            no_host
        } else {
            no_path()
        });
    };
    check_owner(path)?;
    join(anchor, CloneFlags::CLONE_NEWNET)
        .map_err(|error| EnterError::make_refusal(path, host, error))?;
    Ok(handle)
}

/// Puts this process, which must have a single thread, into the user namespace of a host. Does
/// nothing when the process is already there.
pub fn join_owner(anchor: Pid) -> Result<(), Errno> {
    join(anchor, CloneFlags::empty())
}

fn join(anchor: Pid, mut wanted: CloneFlags) -> Result<(), Errno> {
    let handle = open_process(anchor)?;
    // Joining the user namespace one is in already is an error.
    if user_namespace(&anchor.to_string())? != user_namespace("self")? {
        wanted |= CloneFlags::CLONE_NEWUSER;
    }
    if wanted.is_empty() {
        return Ok(());
    }
    setns(handle, wanted)
}

fn user_namespace(process: &str) -> Result<std::path::PathBuf, Errno> {
    fs::read_link(format!("/proc/{process}/ns/user"))
        .map_err(|error| error.raw_os_error().map_or(Errno::EIO, Errno::from_raw))
}

/// Opens a descriptor for a process (pidfd_open(2)), closed on exec.
pub(super) fn open_process(process: Pid) -> Result<OwnedFd, Errno> {
    // SAFETY: takes two integers.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, process.as_raw(), 0) };
    let descriptor = Errno::result(descriptor)? as RawFd;
    // SAFETY: the kernel has just made this descriptor for us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::unistd::getpid;

    #[test]
    fn a_process_that_is_no_path_is_said_so() {
        let error = join_host(getpid(), "client").unwrap_err();
        assert!(matches!(error, EnterError::NoPath(_)), "{error}");
        assert!(error.to_string().contains("path_ready"), "{error}");
        let nobody = Pid::from_raw(0x3fff_fffe);
        assert!(matches!(
            join_host(nobody, "client"),
            Err(EnterError::NoPath(_))
        ));
    }
}
