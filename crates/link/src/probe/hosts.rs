//! Reaches into both hosts of a path from one process, by threads joining a host's network.
//! Not for: the packets sent.

use super::ProbeError;
use crate::datapath::realtime_scheduling;
use crate::enter::EnterError;
use crate::enter::join::{find_path, join_owner};
use crate::hosts::Host;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, setns};
use nix::sys::stat::Mode;
use nix::unistd::Pid;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread::{self, Scope, ScopedJoinHandle};

/// The networks of both hosts, and the path of the hosts.
#[derive(Debug)]
pub struct HostNetworks {
    path_handle: OwnedFd,
    client: OwnedFd,
    server: OwnedFd,
}

impl HostNetworks {
    /// Opens both networks. The process must have a single thread. The process stays in its own
    /// network, but is in the path's user namespace afterwards, if there is a user namespace.
    pub fn join(path: Pid) -> Result<Self, ProbeError> {
        let found = find_path(path)?;
        let network = |host, anchor| {
            let refused = |error| EnterError::make_refusal(path, host, error);
            join_owner(anchor).map_err(refused)?;
            let file = format!("/proc/{anchor}/ns/net");
            open(
                file.as_str(),
                OFlag::O_RDONLY | OFlag::O_CLOEXEC,
                Mode::empty(),
            )
            .map_err(refused)
        };
        Ok(Self {
            client: network(Host::Client, found.client_anchor)?,
            server: network(Host::Server, found.server_anchor)?,
            path_handle: found.handle,
        })
    }

    /// Does some work in a host's network. Sockets made there belong to the host for their whole
    /// life.
    pub fn run_inside<T: Send>(
        &self,
        host: Host,
        work: impl FnOnce() -> Result<T, ProbeError> + Send,
    ) -> Result<T, ProbeError> {
        let network = match host {
            Host::Client => &self.client,
            Host::Server => &self.server,
        };
        thread::scope(|scope| {
            let there = start(scope, "probe-socket", move || {
                realtime_scheduling::make_ordinary();
                setns(network, CloneFlags::CLONE_NEWNET)
                    .map_err(|error| socket_error(host, "join the network", error))?;
                work()
            })?;
            join_thread(there)
        })
    }

    /// Returns a descriptor readable at the end of the path.
    pub fn path_handle(&self) -> BorrowedFd<'_> {
        self.path_handle.as_fd()
    }

    /// Returns an error if the path has ended.
    pub fn check_path(&self) -> Result<(), ProbeError> {
        let mut waited = [PollFd::new(self.path_handle(), PollFlags::POLLIN)];
        match poll(&mut waited, PollTimeout::ZERO) {
            Ok(0) | Err(_) => Ok(()),
            Ok(_) => Err(ProbeError::PathEnded),
        }
    }
}

/// Makes the error of a socket in a host.
pub fn socket_error(host: Host, step: &'static str, error: Errno) -> ProbeError {
    ProbeError::Socket {
        step,
        host: host.name(),
        error,
    }
}

/// Starts a named thread in the scope.
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> Result<T, ProbeError> + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, Result<T, ProbeError>>, ProbeError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn_scoped(scope, work)
        .map_err(ProbeError::Thread)
}

/// Returns the result of a thread. A panic of the thread is a bug, and continues here.
pub fn join_thread<T>(
    handle: ScopedJoinHandle<'_, Result<T, ProbeError>>,
) -> Result<T, ProbeError> {
    handle
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
