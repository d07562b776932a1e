//! The caller's process during the program's run. The process starts `init`, passes signals on, and
//! ends everything at the end of the path (or of the parent process). Not for: anything inside the
//! program's view.

use super::init::{self, report};
use super::{EnterError, Program, signals};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{Pid, pipe2};
use nix::{fcntl::OFlag, libc};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};

/// A program running in a host.
#[derive(Debug)]
pub struct RunningProgram {
    /// True when the program has a private pid namespace. Without a pid namespace, processes left
    /// by the program can outlive a killed supervisor.
    pub own_processes: bool,
    init: Pid,
    /// A descriptor readable at the end of the path or parent, after which the program is killed.
    watched: Option<OwnedFd>,
    when_it_ends: ExitCause,
    received: SignalFd,
}

/// The cause of the program's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCause {
    /// The program ended by itself, with this exit code (128 + signal if killed).
    Program(u8),
    /// The program was killed because the path ended.
    PathEnded,
    /// The program was killed because the parent of this process ended.
    CallerEnded,
}

/// Starts the program. When `watched` becomes readable the program is killed, and the ending is
/// `when_it_ends`.
pub(super) fn start(
    program: &Program,
    watched: Option<OwnedFd>,
    when_it_ends: ExitCause,
) -> Result<RunningProgram, EnterError> {
    let received = signals::receive().map_err(|error| EnterError::View(error.to_string()))?;
    let (own_processes, init) = match start_init(program, true)? {
        Some(init) => (true, init),
        None => match start_init(program, false)? {
            Some(init) => (false, init),
            None => {
                return Err(EnterError::View(
                    "make a mount namespace: refused".to_owned(),
                ));
            }
        },
    };
    Ok(RunningProgram {
        own_processes,
        init,
        watched,
        when_it_ends,
        received,
    })
}

/// Starts the process in between; `None` when the kernel refuses a private process tree.
fn start_init(program: &Program, own_processes: bool) -> Result<Option<Pid>, EnterError> {
    let errno = |error: Errno| EnterError::View(format!("make a mount namespace: {error}"));
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC).map_err(errno)?;
    let namespaces = if own_processes { libc::CLONE_NEWPID } else { 0 } | libc::CLONE_NEWNS;
    let init = match fork_into(namespaces) {
        Ok(Some(init)) => init,
        Ok(None) => {
            drop(reader);
            init::run(program, own_processes, File::from(writer))
        }
        Err(_) if own_processes => return Ok(None),
        Err(error) => return Err(errno(error)),
    };
    drop(writer);
    let mut message = Vec::new();
    // A message that cannot be read is an empty one.
    let _ = File::from(reader).read_to_end(&mut message);
    let text = |rest: &[u8]| String::from_utf8_lossy(rest).into_owned();
    let error = match message.split_first() {
        Some((&report::RUNNING, _)) => return Ok(Some(init)),
        Some((&report::NO_PROC, _)) => None,
        Some((&report::NO_PROGRAM, rest)) => Some(EnterError::Program(text(rest))),
        Some((_, rest)) => Some(EnterError::View(text(rest))),
        None => Some(EnterError::View(
            "prepare to run the program: it was killed".to_owned(),
        )),
    };
    let _ = waitpid(init, None);
    error.map_or(Ok(None), Err)
}

/// Calls fork(2) with the child in new namespaces; `None` in the child.
fn fork_into(namespaces: libc::c_int) -> Result<Option<Pid>, Errno> {
    let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
    // SAFETY: without CLONE_VM and with no stack given this is fork: the child has a copy of
    // everything. The process has one thread only, so no lock can be held across it.
    let child = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    let child = Errno::result(child)?;
    Ok((child != 0).then(|| Pid::from_raw(child as i32)))
}

impl RunningProgram {
    /// Waits for the end of the program, or of the watched path or parent.
    pub fn wait(self) -> Result<ExitCause, Errno> {
        loop {
            if let Some(code) = signals::exit_code(waitpid(self.init, Some(WaitPidFlag::WNOHANG))?)
            {
                return Ok(ExitCause::Program(code));
            }
            let watch = |source| PollFd::new(source, PollFlags::POLLIN);
            let mut sources = vec![watch(self.received.as_fd())];
            sources.extend(self.watched.iter().map(|watched| watch(watched.as_fd())));
            match poll(&mut sources, PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error),
            }
            if sources.get(1).and_then(PollFd::any) == Some(true) {
                return self.end_with_watched();
            }
            if sources[0].any() == Some(true) {
                self.pass_on()?;
            }
        }
    }

    fn end_with_watched(&self) -> Result<ExitCause, Errno> {
        // It may have ended by itself a moment ago.
        let _ = kill(self.init, Signal::SIGKILL);
        waitpid(self.init, None)?;
        Ok(self.when_it_ends)
    }

    fn pass_on(&self) -> Result<(), Errno> {
        if let Some(received) = self.received.read_signal()?
            && let Some(signal) = signals::select_forwarded(&received)
        {
            let _ = kill(self.init, signal);
        }
        Ok(())
    }
}
