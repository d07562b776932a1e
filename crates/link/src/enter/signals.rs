//! The signals that the processes between the caller and the program pass on. Not for: signals that
//! cannot be caught, which the kernel's own rules for pid namespaces take care of.

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd, siginfo};
use nix::sys::wait::WaitStatus;

/// Passed on to the program.
const FORWARDED: [Signal; 6] = [
    Signal::SIGTERM,
    Signal::SIGINT,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];

/// Block the forwarded signals and SIGCHLD and receive them through a descriptor instead.
pub fn receive() -> Result<SignalFd, Errno> {
    let mut signals: SigSet = FORWARDED.into_iter().collect();
    signals.add(Signal::SIGCHLD);
    signals.thread_block()?;
    SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC)
}

/// The signal to pass on, if it is one. What the kernel sends (a key pressed at a terminal) goes to
/// the whole process group, the program included, and must not reach it twice.
pub fn to_forward(received: &siginfo) -> Option<Signal> {
    let signal = Signal::try_from(received.ssi_signo as i32).ok()?;
    let from_terminal = received.ssi_code == libc::SI_KERNEL;
    (FORWARDED.contains(&signal) && !from_terminal).then_some(signal)
}

/// A shell's exit code for how a process ended; `None` if it has not.
pub fn exit_code(status: WaitStatus) -> Option<u8> {
    if let WaitStatus::Exited(_, code) = status {
        Some(code as u8)
    } else if let WaitStatus::Signaled(_, signal, _) = status {
        Some(128 + signal as u8)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::unistd::getpid;

    #[test]
    fn codes_are_a_shells() {
        assert_eq!(exit_code(WaitStatus::Exited(getpid(), 7)), Some(7));
        let killed = WaitStatus::Signaled(getpid(), Signal::SIGTERM, false);
        assert_eq!(exit_code(killed), Some(143));
        assert_eq!(exit_code(WaitStatus::StillAlive), None);
    }
}
