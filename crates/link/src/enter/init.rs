//! The process between the supervisor and the program: the first of a new pid namespace, if there
//! is a new pid namespace. The process makes the program's view of the machine, starts the program,
//! reaps every orphan, and ends with the program's exit code. Not for: watching the path.

use super::Program;
use super::mounts::{self, MountError};
use super::signals;
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Kinds of report to the supervisor: the first byte of the only message; text follows.
pub mod report {
    /// The program is running; no text follows.
    pub const RUNNING: u8 = b'r';
    /// No new `/proc` may be mounted: try without a pid namespace.
    pub const NO_PROC: u8 = b'p';
    /// The view could not be made: text.
    pub const NO_VIEW: u8 = b'v';
    /// The program could not be started: text.
    pub const NO_PROGRAM: u8 = b'e';
}

/// Runs as the process between the two. Never returns, and ends with the program's exit code.
pub fn run(program: &Program, own_processes: bool, mut reports: File) -> ! {
    let code = match start(program, own_processes) {
        // A supervisor that cannot be told is dead, perhaps since before we asked to die with it.
        Ok(_) if reports.write_all(&[report::RUNNING]).is_err() => 1,
        Ok((program, received)) => {
            drop(reports);
            reap_until_end(program, &received)
        }
        Err((kind, text)) => {
            // Nothing more can be done for a supervisor that is gone.
            let _ = reports.write_all(&[&[kind], text.as_bytes()].concat());
            1
        }
    };
    if !own_processes {
        end_descendants();
    }
    std::process::exit(i32::from(code))
}

fn start(order: &Program, own_processes: bool) -> Result<(Pid, SignalFd), (u8, String)> {
    let no_view = |text: String| (report::NO_VIEW, text);
    let errno = |error: Errno| no_view(format!("prepare to run the program: {error}"));
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(errno)?;
    if !own_processes {
        prctl::set_child_subreaper(true).map_err(errno)?;
    }
    mounts::prepare(order, own_processes).map_err(|error| match error {
        MountError::ProcRefused(error) => (report::NO_PROC, error.to_string()),
        MountError::Other(text) => no_view(text),
    })?;
    let received = signals::receive().map_err(errno)?;
    let program = spawn(order, own_processes).map_err(|error| (report::NO_PROGRAM, error))?;
    Ok((program, received))
}

fn spawn(order: &Program, own_processes: bool) -> Result<Pid, String> {
    let Some((program, arguments)) = order.command.split_first() else {
        return Err("run a program: none was given".to_owned());
    };
    let mut command = Command::new(program);
    command.args(arguments);
    let account = order.account.clone();
    let prepare = move || -> io::Result<()> {
        SigSet::empty().thread_set_mask()?;
        if let Some(account) = &account {
            account.become_user()?;
        }
        // After the account: taking on another clears it.
        if !own_processes {
            prctl::set_pdeathsig(Signal::SIGKILL)?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes system calls only and allocates nothing.
    unsafe { command.pre_exec(prepare) };
    match command.spawn() {
        Ok(child) => Ok(Pid::from_raw(child.id() as i32)),
        Err(error) => Err(format!("run {}: {error}", program.display())),
    }
}

fn reap_until_end(program: Pid, received: &SignalFd) -> u8 {
    loop {
        while let Ok(status) = waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            match (status.pid(), signals::exit_code(status)) {
                (Some(pid), Some(code)) if pid == program => return code,
                (None, _) => break,
                _ => {}
            }
        }
        if let Ok(Some(signal)) = received.read_signal()
            && let Some(signal) = signals::select_forwarded(&signal)
        {
            // It may have ended just now; the next turn of the loop finds out.
            let _ = kill(program, signal);
        }
    }
}

/// Kills the program's remaining processes when there is no pid namespace. As subreaper this
/// process inherits every orphan below. Killing children until no child is left therefore reaches
/// all.
fn end_descendants() {
    let own = format!("/proc/self/task/{}/children", std::process::id());
    while let Ok(children) = std::fs::read_to_string(&own) {
        for child in children
            .split_whitespace()
            .filter_map(|pid| pid.parse().ok())
        {
            let _ = kill(Pid::from_raw(child), Signal::SIGKILL);
        }
        if waitpid(None, None).is_err() {
            return;
        }
    }
}
