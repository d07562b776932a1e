//! The signals passed on by the processes between the caller and the program. Not for: signals no
//! process can catch; the kernel's own rules for pid namespaces handle these.

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd, siginfo};
use nix::sys::wait::WaitStatus;

/// The signals passed on to the program.
const FORWARDED: [Signal; 6] = [
    Signal::SIGTERM,
    Signal::SIGINT,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];

/// Blocks the forwarded signals and SIGCHLD, and receives them through a descriptor instead.
pub fn receive() -> Result<SignalFd, Errno> {
    let mut signals: SigSet = FORWARDED.into_iter().collect();
    signals.add(Signal::SIGCHLD);
    signals.thread_block()?;
    SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC)
}

/// Returns the signal to pass on, if there is any. A signal sent by the kernel (a key pressed at a
/// terminal) reaches the whole process group, including the program, and must not arrive twice.
pub fn select_forwarded(received: &siginfo) -> Option<Signal> {
    let signal = Signal::try_from(received.ssi_signo as i32).ok()?;
    let from_terminal = received.ssi_code == libc::SI_KERNEL;
    (FORWARDED.contains(&signal) && !from_terminal).then_some(signal)
}

/// Returns a shell's exit code for the end of a process; `None` when the process still runs.
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
