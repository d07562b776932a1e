//! slirp4netns as a child: started outside the relay's namespaces, notified when the namespaces are
//! ready, ended with the caller. Not for: the work of slirp4netns.

use super::{MTU_BYTES, RelayError, reap};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getpid, getppid, pipe2, read, write};
use std::cell::Cell;
use std::env;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const PROGRAM: &str = "slirp4netns";
const TUN: &str = "/dev/net/tun";
/// A network for documentation (RFC 5737): no resolver of the machine can be there. By contrast, a
/// resolver can be in 10.0.2.0/24, the default of slirp4netns and of virtual machines.
const NETWORK: &str = "198.51.100.0/24";
const DEVICE: &str = "tap0";
/// Timeout for getting ready, in ms.
const READY_TIMEOUT_MS: u16 = 10_000;
/// Timeout for ending, in checks of 10 ms.
const END_LOOKS: u32 = 100;

/// A child waiting for the namespaces.
#[derive(Debug)]
pub struct WaitingSlirp {
    child: Pid,
    go: OwnedFd,
    ready: OwnedFd,
    life: OwnedFd,
    output: File,
}

/// A running slirp4netns process.
#[derive(Debug)]
pub struct Slirp {
    child: Pid,
    /// The pipe of the child's life: closing the pipe ends slirp4netns.
    life: Option<OwnedFd>,
    output: File,
    is_reaped: Cell<bool>,
}

/// The child's ends of the pipes.
struct PipeEnds {
    go: OwnedFd,
    ready: OwnedFd,
    life: OwnedFd,
    output: File,
}

/// Starts the child. On request the child becomes slirp4netns for this process's namespaces. The
/// process must have a single thread.
pub fn prepare(ipv6: bool) -> Result<WaitingSlirp, RelayError> {
    let program = find().ok_or(RelayError::NoProgram)?;
    // slirp4netns's own words for this are "child failed(1)".
    let device = File::options().read(true).write(true).open(TUN);
    drop(device.map_err(RelayError::Device)?);
    let set_up = |error| RelayError::SetUp {
        what: "prepare slirp4netns",
        error,
    };
    let pipe = || pipe2(OFlag::O_CLOEXEC).map_err(set_up);
    let ((go_reader, go), (ready, ready_writer), (life_reader, life)) = (pipe()?, pipe()?, pipe()?);
    let output = memfd_create(c"slirp4netns", MFdFlags::MFD_CLOEXEC).map_err(set_up)?;
    let output = File::from(output);
    let theirs = output.try_clone().map_err(|_| set_up(Errno::EMFILE))?;
    let ends = PipeEnds {
        go: go_reader,
        ready: ready_writer,
        life: life_reader,
        output: theirs,
    };
    let caller = getpid();
    // SAFETY: one thread only, so no lock can be held across the fork.
    match unsafe { fork() }.map_err(set_up)? {
        ForkResult::Child => {
            // Held open here, the caller's ends would hide its end.
            drop((go, life));
            become_slirp(&program, caller, ends, ipv6)
        }
        ForkResult::Parent { child } => Ok(WaitingSlirp {
            child,
            go,
            ready,
            life,
            output,
        }),
    }
}

fn find() -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(PROGRAM))
        .find(|file| file.is_file())
}

fn become_slirp(program: &PathBuf, caller: Pid, ends: PipeEnds, ipv6: bool) -> ! {
    let bound = prctl::set_pdeathsig(Signal::SIGKILL).is_ok() && getppid() == caller;
    if bound && read(&ends.go, &mut [0]) == Ok(1) {
        let mut command = Command::new(program);
        command
            .args(["--configure", "--disable-host-loopback", "--disable-dns"])
            .arg(format!("--cidr={NETWORK}"))
            .arg(format!("--mtu={MTU_BYTES}"))
            .args(ipv6.then_some("--enable-ipv6"))
            .arg(format!("--ready-fd={}", ends.ready.as_raw_fd()))
            .arg(format!("--exit-fd={}", ends.life.as_raw_fd()))
            .args([caller.to_string(), DEVICE.to_owned()]);
        if let Ok(words) = ends.output.try_clone() {
            command.stdout(words);
        }
        command.stdin(Stdio::null()).stderr(ends.output);
        for end in [&ends.ready, &ends.life] {
            // Refused, slirp4netns says so itself.
            let _ = fcntl(end, FcntlArg::F_SETFD(FdFlag::empty()));
        }
        let _ = unblock_signals();
        let _ = command.exec();
    }
    // SAFETY: ends the process without running anything of the caller's that was copied here.
    unsafe { libc::_exit(127) }
}

fn unblock_signals() -> Result<(), Errno> {
    nix::sys::signal::SigSet::empty().thread_set_mask()
}

impl WaitingSlirp {
    /// Notifies the child of finished namespaces, and waits for the connection.
    pub fn go(self) -> Result<Slirp, RelayError> {
        let mut slirp = Slirp {
            child: self.child,
            life: Some(self.life),
            output: self.output,
            is_reaped: Cell::new(false),
        };
        let told = write(&self.go, &[1]);
        if told.is_ok() && is_ready(&self.ready) {
            return Ok(slirp);
        }
        slirp.end();
        Err(RelayError::Slirp(slirp.last_words()))
    }
}

fn is_ready(ready: &OwnedFd) -> bool {
    let mut sources = [PollFd::new(ready.as_fd(), PollFlags::POLLIN)];
    // Dead, it closes the pipe, and what is read is its end.
    let came = poll(&mut sources, PollTimeout::from(READY_TIMEOUT_MS));
    came.is_ok_and(|count| count > 0) && read(ready, &mut [0]) == Ok(1)
}

impl Slirp {
    /// Returns true when slirp4netns has ended by itself.
    pub fn has_ended(&self) -> bool {
        if !self.is_reaped.get() {
            let state = waitpid(self.child, Some(WaitPidFlag::WNOHANG));
            self.is_reaped.set(state != Ok(WaitStatus::StillAlive));
        }
        self.is_reaped.get()
    }

    /// Ends slirp4netns and waits for the exit.
    pub fn end(&mut self) {
        drop(self.life.take());
        if !self.has_ended() {
            reap(self.child, END_LOOKS);
            self.is_reaped.set(true);
        }
    }

    /// Returns the last line written by slirp4netns.
    pub fn last_words(&self) -> String {
        let mut text = String::new();
        let read = self.output.try_clone().and_then(|mut output| {
            output.rewind()?;
            output.read_to_string(&mut text)
        });
        let line = text.lines().rev().find(|line| !line.trim().is_empty());
        match (read, line) {
            (Ok(_), Some(line)) => line.trim().to_owned(),
            _ => "nothing".to_owned(),
        }
    }
}
