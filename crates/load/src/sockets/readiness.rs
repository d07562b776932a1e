//! epoll with a resolution of nanoseconds. Not for: reading or writing.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

const EVENTS_MAX: usize = 256;
/// The events of a readable descriptor: `EPOLLIN` and `EPOLLRDHUP`, in the kernel's type.
const READABLE: u32 = libc::EPOLLIN as u32 | libc::EPOLLRDHUP as u32;
const WRITABLE: u32 = libc::EPOLLOUT as u32;

/// The events watched on a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// Data to read, or the end of the stream.
    Read,
    /// Data to read, or room to write.
    ReadAndWrite,
}

impl Interest {
    fn event(self, token: usize) -> libc::epoll_event {
        libc::epoll_event {
            events: match self {
                Self::Read => READABLE,
                Self::ReadAndWrite => READABLE | WRITABLE,
            },
            u64: token as u64,
        }
    }
}

/// A set of watched descriptors, with the ready descriptors of the last wait.
pub struct Readiness {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl Readiness {
    /// Creates an empty set.
    pub fn new() -> io::Result<Self> {
        // SAFETY: takes no pointers.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            // SAFETY: just made and owned by nobody else.
            epoll: unsafe { OwnedFd::from_raw_fd(epoll) },
            events: Vec::with_capacity(EVENTS_MAX),
        })
    }

    /// Watches a descriptor under a token, until the descriptor is closed.
    pub fn watch(&self, fd: BorrowedFd<'_>, token: usize, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, interest.event(token))
    }

    /// Changes the watched events of a descriptor.
    pub fn change(&self, fd: BorrowedFd<'_>, token: usize, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, interest.event(token))
    }

    fn control(
        &self,
        operation: i32,
        fd: BorrowedFd<'_>,
        mut event: libc::epoll_event,
    ) -> io::Result<()> {
        let epoll = self.epoll.as_raw_fd();
        // SAFETY: both descriptors are open and the event lives through the call.
        let result = unsafe { libc::epoll_ctl(epoll, operation, fd.as_raw_fd(), &raw mut event) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Waits until a descriptor is ready, for at most `at_most_ns`. Returns true when a descriptor
    /// is ready. A signal ends the wait early.
    pub fn wait(&mut self, at_most_ns: u64) -> io::Result<bool> {
        let timeout = libc::timespec {
            tv_sec: (at_most_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (at_most_ns % 1_000_000_000) as libc::c_long,
        };
        self.events.clear();
        // SAFETY: the kernel writes at most `EVENTS_MAX` events, for which there is room, and reads
        // the timeout; there is no signal mask.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                self.events.as_mut_ptr(),
                EVENTS_MAX as i32,
                &raw const timeout,
                ptr::null::<libc::sigset_t>(),
                0_usize,
            )
        };
        if count < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted {
                Ok(false)
            } else {
                Err(error)
            };
        }
        // SAFETY: the kernel has written `count` events.
        unsafe { self.events.set_len(count as usize) };
        Ok(count > 0)
    }

    /// Returns the number of descriptors ready at the last wait.
    pub fn ready_count(&self) -> usize {
        self.events.len()
    }

    /// Returns the token of a ready descriptor.
    pub fn ready(&self, position: usize) -> usize {
        self.events[position].u64 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    #[test]
    fn says_what_is_ready_and_waits_no_longer_than_told() {
        let mut readiness = Readiness::new().unwrap();
        let idle = UdpSocket::bind("127.0.0.1:0").unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        readiness.watch(idle.as_fd(), 1, Interest::Read).unwrap();
        readiness.watch(socket.as_fd(), 7, Interest::Read).unwrap();
        assert!(!readiness.wait(1_000_000).unwrap());
        let address = socket.local_addr().unwrap();
        idle.send_to(b"x", address).unwrap();
        assert!(readiness.wait(5_000_000_000).unwrap());
        assert_eq!((readiness.ready_count(), readiness.ready(0)), (1, 7));
        let both = Interest::ReadAndWrite;
        readiness.change(idle.as_fd(), 1, both).unwrap();
        readiness.wait(0).unwrap();
        assert_eq!(readiness.ready_count(), 2);
    }
}
