//! Anchors: one tiny process per host, holding the host's namespaces open. An anchor is found by
//! name among the children of the path. An anchor dies with the path, however the path ends, and
//! the host ends with the anchor. Not for: running programs in the host.

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork, getpid, getppid, pause, pipe2, read, write};
use std::ffi::CString;
use std::fs;
use std::os::fd::OwnedFd;

/// Prefix of every anchor's name.
const NAME_START: &str = "resolab-";
/// Length limit of a process's name in the kernel (PR_SET_NAME(2const)).
const NAME_LIMIT_BYTES: usize = 15;

/// Returns the name of the process holding the namespaces of the host called `host`. The name
/// contains the host's name if there is room, otherwise seven digits of a hash (FNV-1a).
pub fn anchor_name(host: &str) -> String {
    let plain = format!("{NAME_START}{host}");
    if plain.len() <= NAME_LIMIT_BYTES {
        return plain;
    }
    let digest = host.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("{NAME_START}{:07x}", digest >> 4)
}

/// Leaves an anchor in this thread's namespaces, the namespaces of the host called `host`. The
/// anchor can be found after the return. The process must have a single thread.
pub fn start_anchor(host: impl AsRef<str>) -> Result<Pid, Errno> {
    let path = getpid();
    let name = CString::new(anchor_name(host.as_ref())).map_err(|_| Errno::EINVAL)?;
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

/// Ends an anchor and waits for the anchor's exit.
pub fn end_anchor(anchor: Pid) {
    // It can only have died before, and then there is nothing to do.
    let _ = kill(anchor, Signal::SIGKILL);
    let _ = waitpid(anchor, None);
}

/// Returns the anchor of `host` of the path with process id `path`; `None` when the process is no
/// path (any more).
pub fn find_anchor(path: Pid, host: impl AsRef<str>) -> Option<Pid> {
    let name = anchor_name(host.as_ref());
    find_child(path, &format!("({name}) "))
}

/// Returns true when process `path` has an anchor of any host.
pub fn has_anchors(path: Pid) -> bool {
    find_child(path, &format!("({NAME_START}")).is_some()
}

/// Returns the living child of `path` with a stat line starting, behind the process id, with
/// `start`.
fn find_child(path: Pid, start: &str) -> Option<Pid> {
    children(path).into_iter().find(|child| {
        // proc_pid_stat(5): pid, name in parentheses, state. Dead anchors of killed paths stay as
        // zombies with whoever inherited them until those reap them.
        let living = |stat: &str| {
            let state = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
            !state.starts_with(['Z', 'X'])
        };
        fs::read_to_string(format!("/proc/{child}/stat"))
            .is_ok_and(|stat| stat.starts_with(&format!("{child} {start}")) && living(&stat))
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
        assert_eq!(find_anchor(getppid(), "client"), None);
    }

    #[test]
    fn names_fit_the_kernels_field_and_long_ones_stay_apart() {
        assert_eq!(anchor_name("client"), "resolab-client");
        assert_eq!(anchor_name("seventh").len(), NAME_LIMIT_BYTES);
        let long = ["resolver-far-1", "resolver-far-2", "resolver"].map(anchor_name);
        assert!(long.iter().all(|name| name.len() == NAME_LIMIT_BYTES));
        assert!(long[0] != long[1] && long[1] != long[2]);
    }
}
