//! The relay: a separate host with slirp4netns carrying packets out through ordinary sockets of the
//! machine, for browsers of users without the right to bind port 53 there. Ports below 1024 are
//! free in the relay. The stub's listening sockets can therefore be made there
//! ([`crate::enter::listen_in`]), while the stub and all upstream queries stay on the machine's own
//! network.
//!
//! For: one host, entered like a path's host ([`crate::enter`]), ending with the process of the
//! relay. Not for: DNS, nor for measurements to the microsecond. A round trip through the relay
//! costs 10 us more, a connection's opening 0.2 ms.

mod ipv6;
mod slirp;

use crate::enter::signals;
use crate::hosts::anchor::{end_anchor, start_anchor};
use crate::hosts::namespace::own_user_namespace;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getegid, read};
use slirp::Slirp;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use thiserror::Error;

/// Name of the relay's host for `enter --host`.
pub const RELAY_HOST: &str = "relay";
/// MTU of the relay, in bytes, as on Ethernet. Segments have the same size as on the machine's own
/// connections.
pub const MTU_BYTES: u32 = 1500;

/// The reason for a failed relay; messages read after "failed to".
#[derive(Debug, Error)]
pub enum RelayError {
    /// The program slirp4netns is not installed.
    #[error("start slirp4netns: it is not installed; apt-get install slirp4netns")]
    NoProgram,
    /// This user may not open the TUN device.
    #[error("open /dev/net/tun: {0}; give it to all users: sudo chmod 666 /dev/net/tun")]
    Device(std::io::Error),
    /// This user may not make namespaces.
    #[error(
        "make namespaces: {0}; allow user namespaces: sudo sysctl -w \
         kernel.unprivileged_userns_clone=1 (Debian), \
         kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu)"
    )]
    Namespaces(Errno),
    /// A step of the set-up failed.
    #[error("set up the relay: {what}: {error}")]
    SetUp {
        /// Name of the failed step.
        what: &'static str,
        /// Error number from the kernel.
        error: Errno,
    },
    /// slirp4netns did not get ready, or ended.
    #[error("relay packets: slirp4netns said {0:?}")]
    Slirp(String),
    /// IPv6 was requested but did not come up.
    #[error("give the relay IPv6: no address and route came within 5 s; leave --ipv6 out")]
    NoIpv6,
}

/// A running relay; a drop ends the relay.
#[derive(Debug)]
pub struct Relay {
    slirp: Slirp,
    anchor: Pid,
    received: SignalFd,
}

/// The cause of the relay's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayEnd {
    /// The relay is no longer needed: the input ended or a signal came.
    Asked,
    /// slirp4netns or the host's anchor ended by itself.
    Broken,
}

impl Relay {
    /// Makes the relay. The process must have a single thread, and is inside the relay's namespaces
    /// afterwards.
    pub fn open(ipv6: bool) -> Result<Self, RelayError> {
        let set_up = |what| move |error| RelayError::SetUp { what, error };
        // Before the namespaces: it works for them from outside.
        let waiting = slirp::prepare(ipv6)?;
        let received = signals::receive().map_err(set_up("take signals"))?;
        own_user_namespace().map_err(RelayError::Namespaces)?;
        unshare(CloneFlags::CLONE_NEWNET).map_err(RelayError::Namespaces)?;
        configure(ipv6).map_err(set_up("give programs in it their ports"))?;
        let anchor = start_anchor(RELAY_HOST).map_err(set_up("hold its namespaces"))?;
        let relay = Self {
            slirp: waiting.go()?,
            anchor,
            received,
        };
        if ipv6 && !ipv6::stands() {
            return Err(RelayError::NoIpv6);
        }
        Ok(relay)
    }

    /// Waits until `input` ends, a signal comes, or a part of the relay ends.
    pub fn wait(&self, input: Option<BorrowedFd<'_>>) -> Result<RelayEnd, Errno> {
        loop {
            let watch = |source| PollFd::new(source, PollFlags::POLLIN);
            let mut sources = vec![watch(self.received.as_fd())];
            sources.extend(input.map(watch));
            match poll(&mut sources, PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error),
            }
            let is_input = sources.get(1).and_then(PollFd::any) == Some(true);
            if is_input && input.is_some_and(has_ended) {
                return Ok(RelayEnd::Asked);
            }
            if let Some(end) = self.read_signal()? {
                return Ok(end);
            }
        }
    }

    fn read_signal(&self) -> Result<Option<RelayEnd>, Errno> {
        if self.slirp.has_ended() || has_died(self.anchor) {
            return Ok(Some(RelayEnd::Broken));
        }
        let asked = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP];
        // The descriptor does not block only in poll: what is not there must not be read.
        let mut sources = [PollFd::new(self.received.as_fd(), PollFlags::POLLIN)];
        if poll(&mut sources, PollTimeout::ZERO)? == 0 {
            return Ok(None);
        }
        let received = self.received.read_signal()?;
        let signal = received.and_then(|info| Signal::try_from(info.ssi_signo as i32).ok());
        Ok(signal
            .filter(|signal| asked.contains(signal))
            .map(|_| RelayEnd::Asked))
    }

    /// Returns the last output line of slirp4netns.
    pub fn last_words(&self) -> String {
        self.slirp.last_words()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.slirp.end();
        end_anchor(self.anchor);
    }
}

/// Returns true when a readable input has ended; discards any data read.
fn has_ended(input: BorrowedFd<'_>) -> bool {
    !matches!(read(input, &mut [0; 512]), Ok(1..))
}

/// Returns true when a child has ended; leaves the child to be waited for.
fn has_died(child: Pid) -> bool {
    let id = nix::sys::wait::Id::Pid(child);
    let how = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    nix::sys::wait::waitid(id, how) != Ok(WaitStatus::StillAlive)
}

/// Applies the settings of the fresh network namespace. Protocols not carried by slirp4netns are
/// switched off, to keep browsers from waiting.
fn configure(ipv6: bool) -> Result<(), Errno> {
    let gid = getegid();
    let write = |name: &str, value: &str| {
        fs::write(format!("/proc/sys/net/{name}"), value)
            .map_err(|error| error.raw_os_error().map_or(Errno::EIO, Errno::from_raw))
    };
    // Without these two a relay is as good.
    let _ = write("ipv4/ping_group_range", &format!("{gid} {gid}"));
    let _ = write("ipv4/tcp_no_metrics_save", "1");
    if ipv6 {
        // Nobody else is on that link whose address could be the same.
        let _ = write("ipv6/conf/default/dad_transmits", "0");
    } else {
        let _ = write("ipv6/conf/default/disable_ipv6", "1");
    }
    write("ipv4/ip_unprivileged_port_start", "0")
}

/// Reaps a child already asked to end; kills the child after `tries` checks at intervals of 10 ms.
fn reap(child: Pid, tries: u32) {
    for _ in 0..tries {
        if waitpid(child, Some(WaitPidFlag::WNOHANG)) != Ok(WaitStatus::StillAlive) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // It may have ended just now.
    let _ = nix::sys::signal::kill(child, Signal::SIGKILL);
    let _ = waitpid(child, None);
}
