//! The caller's process while the program runs: starts the process that starts the program, passes
//! signals on, and ends everything when the path (or whoever started this process) ends. Not for:
//! anything inside the program's view.

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

/// A program that runs in a host.
#[derive(Debug)]
pub struct Guest {
    /// Whether it has a pid namespace of its own. Without one, what it leaves behind when this
    /// process is killed can outlive it.
    pub own_processes: bool,
    init: Pid,
    /// Becomes readable when that ends on which the program's life depends.
    watched: Option<OwnedFd>,
    when_it_ends: Ending,
    received: SignalFd,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this exit code (128 + signal if killed).
    Program(u8),
    /// It was killed because the path ended.
    PathEnded,
    /// It was killed because the process that started this one ended.
    CallerEnded,
}

/// Start the program; when `watched` becomes readable it is killed, which is then `when_it_ends`.
pub(super) fn start(
    program: &Program,
    watched: Option<OwnedFd>,
    when_it_ends: Ending,
) -> Result<Guest, EnterError> {
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
    Ok(Guest {
        own_processes,
        init,
        watched,
        when_it_ends,
        received,
    })
}

/// Start the process in between; `None` if it may not have processes of its own.
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

/// fork(2) with the child in new namespaces; `None` in the child.
fn fork_into(namespaces: libc::c_int) -> Result<Option<Pid>, Errno> {
    let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
    // SAFETY: without CLONE_VM and with no stack given this is fork: the child has a copy of
    // everything. The process has one thread only, so no lock can be held across it.
    let child = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    let child = Errno::result(child)?;
    Ok((child != 0).then(|| Pid::from_raw(child as i32)))
}

impl Guest {
    /// Wait for the end, of the program or of what it depends on.
    pub fn wait(self) -> Result<Ending, Errno> {
        loop {
            if let Some(code) = signals::exit_code(waitpid(self.init, Some(WaitPidFlag::WNOHANG))?)
            {
                return Ok(Ending::Program(code));
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

    fn end_with_watched(&self) -> Result<Ending, Errno> {
        // It may have ended by itself a moment ago.
        let _ = kill(self.init, Signal::SIGKILL);
        waitpid(self.init, None)?;
        Ok(self.when_it_ends)
    }

    fn pass_on(&self) -> Result<(), Errno> {
        if let Some(received) = self.received.read_signal()?
            && let Some(signal) = signals::to_forward(&received)
        {
            let _ = kill(self.init, signal);
        }
        Ok(())
    }
}
