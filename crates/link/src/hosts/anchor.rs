//! Anchors: one tiny process per host that holds its namespaces open and can be found by its name
//! among the children of the path. An anchor dies with the path, however that dies, and with it
//! the host. Not for: doing anything in the host.

use crate::hosts::Host;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork, getpid, getppid, pause, pipe2, read, write};
use std::ffi::CString;
use std::fs;
use std::os::fd::OwnedFd;

/// Leave an anchor in the namespaces this thread is in; it can be found when this returns. The
/// process must have one thread only.
pub fn drop_anchor(host: Host) -> Result<Pid, Errno> {
    let path = getpid();
    let name = CString::new(host.anchor_name()).map_err(|_| Errno::EINVAL)?;
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC)?;
    // SAFETY: one thread only, so no lock can be held across the fork; the child makes only
    // system calls.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => {
            drop(writer);
            if read(&reader, &mut [0])? == 1 {
                Ok(child)
            } else {
                Err(Errno::ECHILD)
            }
        }
        ForkResult::Child => hold(&name, path, &writer),
    }
}

fn hold(name: &CString, path: Pid, ready: &OwnedFd) -> ! {
    let bound = prctl::set_name(name).is_ok()
        && prctl::set_pdeathsig(Signal::SIGKILL).is_ok()
        // The path may have died before the line above.
        && getppid() == path
        && write(ready, &[1]).is_ok();
    // SAFETY: closes every descriptor of this process, none of which is used afterwards; a copy of
    // the path's standard output kept here would hide its end from the reader.
    unsafe { libc::close_range(0, libc::c_uint::MAX, 0) };
    if bound {
        loop {
            pause();
        }
    }
    // SAFETY: ends the process without running anything of the path's that was copied here.
    unsafe { libc::_exit(1) }
}

/// End an anchor and wait until it is gone.
pub fn weigh_anchor(anchor: Pid) {
    // It can only have died before, and then there is nothing to do.
    let _ = kill(anchor, Signal::SIGKILL);
    let _ = waitpid(anchor, None);
}

/// The anchor of `host` of the path that is process `path`; `None` if it is no path (any more).
pub fn find_anchor(path: Pid, host: Host) -> Option<Pid> {
    children(path).into_iter().find(|child| {
        // proc_pid_stat(5): pid, name in parentheses, state. Dead anchors of killed paths stay as
        // zombies with whoever inherited them until those reap them.
        let living = |rest: &str| !rest.starts_with(['Z', 'X']);
        fs::read_to_string(format!("/proc/{child}/stat")).is_ok_and(|stat| {
            stat.strip_prefix(&format!("{child} ({}) ", host.anchor_name()))
                .is_some_and(living)
        })
    })
}

fn children(parent: Pid) -> Vec<Pid> {
    // Kernels without CONFIG_PROC_CHILDREN lack the file; then all processes are looked through.
    match fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")) {
        Ok(list) => list.split_whitespace().filter_map(parse_pid).collect(),
        Err(_) => processes()
            .filter(|pid| parent_of(*pid) == Some(parent))
            .collect(),
    }
}

fn processes() -> impl Iterator<Item = Pid> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| parse_pid(entry.ok()?.file_name().to_str()?))
}

fn parent_of(process: Pid) -> Option<Pid> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    parse_pid(
        status
            .lines()
            .find_map(|line| line.strip_prefix("PPid:"))?
            .trim(),
    )
}

fn parse_pid(text: &str) -> Option<Pid> {
    text.parse().ok().map(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_a_child_but_no_path() {
        assert!(children(getppid()).contains(&getpid()));
        assert_eq!(parent_of(getpid()), Some(getppid()));
        assert_eq!(find_anchor(getppid(), Host::Client), None);
    }
}
