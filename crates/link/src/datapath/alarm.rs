//! Wakes the forwarder when a packet or change is due: an absolute timer, set some tens of
//! microseconds before the end of long sleeps. Not for: the length of this lead (see `wake_lead`),
//! nor the work after waking.

use crate::datapath::wake_lead::WakeLead;
use nix::errno::Errno;
use nix::sys::epoll::EpollTimeout;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::os::fd::{AsFd, BorrowedFd};

/// A timer for the forwarder's next due time.
#[derive(Debug)]
pub struct Alarm {
    timer: TimerFd,
    /// The due time the timer was set for, in ns.
    armed_for_ns: Option<u64>,
    wake_ns: u64,
    asleep_since_ns: u64,
    lead: WakeLead,
}

impl Alarm {
    /// Makes an unset alarm. Watch the alarm edge-triggered: epoll then reports each expiry once,
    /// and the timer needs no reading.
    pub fn new() -> Result<Self, Errno> {
        let flags = TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK;
        Ok(Self {
            timer: TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?,
            armed_for_ns: None,
            wake_ns: 0,
            asleep_since_ns: 0,
            lead: WakeLead::default(),
        })
    }

    /// Sets the timer for the next due time. Returns the timeout for waiting on the timer or any
    /// other event.
    pub fn arm(&mut self, due_ns: Option<u64>, now_ns: u64) -> Result<EpollTimeout, Errno> {
        if due_ns.is_some() && due_ns == self.armed_for_ns {
            return Ok(EpollTimeout::NONE);
        }
        let Some(due_ns) = due_ns else {
            if self.armed_for_ns.take().is_some() {
                self.timer.unset()?;
            }
            return Ok(EpollTimeout::NONE);
        };
        let Some(wake_ns) = self.lead.wake_ns(now_ns, due_ns) else {
            return Ok(EpollTimeout::ZERO);
        };
        self.armed_for_ns = Some(due_ns);
        self.wake_ns = wake_ns;
        self.asleep_since_ns = now_ns;
        let wake = TimeSpec::new(
            (wake_ns / 1_000_000_000) as i64,
            (wake_ns % 1_000_000_000) as i64,
        );
        let expiration = Expiration::OneShot(wake);
        self.timer
            .set(expiration, TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
        Ok(EpollTimeout::NONE)
    }

    /// Notes the timer's expiry, seen at `now_ns`.
    pub fn note_wakeup(&mut self, now_ns: u64) {
        // An expiry seen after the timer was set anew tells nothing.
        if self.armed_for_ns.take().is_some() && now_ns >= self.wake_ns {
            self.lead.learn(self.asleep_since_ns, self.wake_ns, now_ns);
        }
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}
