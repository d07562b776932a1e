//! Waits for one datagram on a connected socket, and reads the kernel's receive time. Not for: the
//! datagram's content.

use super::PingResult;
use crate::client::is_unreachable;
use crate::clock::{monotonic_ns, wall_minus_monotonic_ns};
use crate::receive_stamp;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use resolab_record::PingFailure;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// The buffer length, in bytes. Answers are shorter, or their beginning is enough.
const BUFFER_BYTES: usize = 2048;

/// Waits for a datagram accepted by `is_answer`. The query left at `sent_ns` (`CLOCK_MONOTONIC`).
pub fn await_answer(
    socket: &(impl AsFd + AsRawFd),
    sent_ns: u64,
    timeout: Duration,
    is_answer: impl Fn(&[u8]) -> bool,
) -> PingResult {
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
            let stamp_ns = received
                .wall_ns
                .map(|wall_ns| wall_ns - wall_minus_monotonic_ns());
            return Ok(received_ns(stamp_ns, sent_ns, monotonic_ns()) - sent_ns);
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

/// Returns the receive time on the monotonic clock. Without a kernel stamp, or with a stamp outside
/// the wait, the result is the read time. A stamp is outside the wait when the wall clock was set;
/// the kernel stamps by the wall clock.
fn received_ns(stamp_ns: Option<i64>, sent_ns: u64, read_ns: u64) -> u64 {
    let stamp_ns = stamp_ns.and_then(|stamp_ns| u64::try_from(stamp_ns).ok());
    let believed = stamp_ns.filter(|stamp_ns| (sent_ns..=read_ns).contains(stamp_ns));
    believed.unwrap_or(read_ns.max(sent_ns))
}

/// Classifies a system error as a ping failure.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "of the system's errors those with a failure of their own are named"
)]
pub fn failure(error: &io::Error) -> PingFailure {
    match error.kind() {
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => PingFailure::Refused,
        _ if is_unreachable(error) => PingFailure::Unreachable,
        ErrorKind::TimedOut => PingFailure::Timeout,
        _ => PingFailure::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_from_outside_the_wait_is_none() {
        assert_eq!(received_ns(Some(1_500), 1_000, 2_000), 1_500);
        assert_eq!(received_ns(None, 1_000, 2_000), 2_000);
        // The wall clock was set back by an hour, or forward, between stamp and reading.
        let hour_ns = 3_600_000_000_000;
        for stamp_ns in [1_500 - hour_ns, 1_500 + hour_ns, 999, 2_001] {
            assert_eq!(received_ns(Some(stamp_ns), 1_000, 2_000), 2_000);
        }
    }
}
