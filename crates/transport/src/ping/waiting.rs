//! Waiting for one datagram on a connected socket, and when the kernel had it. Not for: what is in
//! it.

use super::Answer;
use crate::clock::{monotonic_ns, wall_minus_monotonic_ns};
use crate::receive_stamp;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use resolab_record::PingFailure;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// Answers are shorter, or their beginning is enough.
const BUFFER_BYTES: usize = 2048;

/// Wait for a datagram that `is_answer`, sent at `sent_ns` (`CLOCK_MONOTONIC`).
pub fn await_answer(
    socket: &(impl AsFd + AsRawFd),
    sent_ns: u64,
    timeout: Duration,
    is_answer: impl Fn(&[u8]) -> bool,
) -> Answer {
    let deadline_ns = sent_ns + timeout.as_nanos() as u64;
    let mut buffer = [0; BUFFER_BYTES];
    loop {
        if !is_readable(socket, deadline_ns)? {
            return Err(PingFailure::Timeout);
        }
        let received = match receive_stamp::receive(socket, &mut buffer) {
            Ok(received) => received,
            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
            Err(error) => return Err(failure(&error)),
        };
        if is_answer(&buffer[..received.length]) {
            return Ok(received_ns(received.wall_ns).saturating_sub(sent_ns));
        }
    }
}

fn is_readable(socket: &impl AsFd, deadline_ns: u64) -> Result<bool, PingFailure> {
    let left_ns = deadline_ns.saturating_sub(monotonic_ns());
    if left_ns == 0 {
        return Ok(false);
    }
    // Whole milliseconds, rounded up: never early.
    let left = PollTimeout::try_from(left_ns.div_ceil(1_000_000)).unwrap_or(PollTimeout::MAX);
    let mut sources = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    match poll(&mut sources, left) {
        Ok(ready) => Ok(ready > 0),
        Err(nix::errno::Errno::EINTR) => Ok(true),
        Err(_) => Err(PingFailure::Other),
    }
}

/// On the monotonic clock; that of the reading where the kernel has put no stamp.
fn received_ns(wall_ns: Option<i64>) -> u64 {
    match wall_ns {
        Some(wall_ns) => (wall_ns - wall_minus_monotonic_ns()) as u64,
        None => monotonic_ns(),
    }
}

/// What a system's error counts as.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "of the system's errors those with a failure of their own are named"
)]
pub fn failure(error: &io::Error) -> PingFailure {
    match error.kind() {
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => PingFailure::Refused,
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => PingFailure::Unreachable,
        ErrorKind::TimedOut => PingFailure::Timeout,
        _ => PingFailure::Other,
    }
}
