//! A timer for tasks with the kernel's precision; tokio's own timer is rounded to milliseconds.
//! Not for: threads without a runtime (they can wait in the kernel).

use crate::clock::monotonic_ns;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::time::Duration;
use tokio::io::unix::AsyncFd;

/// The timer of one task.
pub struct ExactTimer {
    timer: AsyncFd<Descriptor>,
}

/// The traits of a descriptor required by tokio.
struct Descriptor(TimerFd);

impl AsRawFd for Descriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

impl ExactTimer {
    /// Makes a timer; needs the context of a runtime.
    pub fn new() -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        // SAFETY: the descriptor is owned by what is registered, and closed only with it.
        let timer = unsafe { AsyncFd::register(Descriptor(timer)) };
        Ok(Self { timer: timer? })
    }

    /// Sleeps until `instant_ns` of the monotonic clock.
    pub async fn sleep_until(&self, instant_ns: u64) -> io::Result<()> {
        while monotonic_ns() < instant_ns {
            let at = TimeSpec::new(
                (instant_ns / 1_000_000_000) as i64,
                (instant_ns % 1_000_000_000) as i64,
            );
            let once = Expiration::OneShot(at);
            // Setting it also takes back an expiry nobody has read.
            self.timer
                .get_ref()
                .0
                .set(once, TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
            self.timer.readable().await?.clear_ready();
        }
        Ok(())
    }
}

/// Waits until an instant, with the kernel's precision. When the kernel has no more timers, the
/// precision is a millisecond.
pub async fn wait_until(instant_ns: u64) {
    let waited = match ExactTimer::new() {
        Ok(timer) => timer.sleep_until(instant_ns).await,
        Err(error) => Err(error),
    };
    if waited.is_err() {
        let rest_ns = instant_ns.saturating_sub(monotonic_ns());
        tokio::time::sleep(Duration::from_nanos(rest_ns)).await;
    }
}

/// Waits for a duration from now on.
pub async fn wait_for(time: Duration) {
    let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    wait_until(monotonic_ns().saturating_add(time_ns)).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sleeps_until_then_again_and_again() {
        let timer = ExactTimer::new().unwrap();
        let mut least_ns = u64::MAX;
        for _ in 0..20 {
            let at_ns = monotonic_ns() + 300_000;
            timer.sleep_until(at_ns).await.unwrap();
            let late_ns = monotonic_ns().checked_sub(at_ns).expect("not too early");
            least_ns = least_ns.min(late_ns);
        }
        // Rounded to a millisecond, every one would be late by 0.7 ms.
        assert!(least_ns < 500_000, "{least_ns}");
        timer.sleep_until(0).await.unwrap();
    }
}
