//! Sleeping until an instant of the monotonic clock, exactly. Not for: schedules.

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};
use resolab_transport::clock::monotonic_ns;

/// Sets the kernel's timer slack of this thread to the minimum; the default is 50 us.
pub fn wake_exactly() {
    // It fails for no value and no thread of our own (prctl(2)).
    let _ = nix::sys::prctl::set_timerslack(1);
}

/// Sleeps until `instant_ns` of the monotonic clock; a signal may end the sleep early.
pub fn sleep_until(instant_ns: u64) {
    if instant_ns <= monotonic_ns() {
        return;
    }
    let until = TimeSpec::new(
        (instant_ns / 1_000_000_000) as i64,
        (instant_ns % 1_000_000_000) as i64,
    );
    let flags = ClockNanosleepFlags::TIMER_ABSTIME;
    let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, flags, &until);
}

/// Sleeps for a time.
pub fn sleep_for(duration_ns: u64) {
    sleep_until(monotonic_ns() + duration_ns);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_until_then_and_not_at_all_into_the_past() {
        let before = monotonic_ns();
        sleep_for(3_000_000);
        assert!(monotonic_ns() >= before + 3_000_000);
        sleep_until(before);
        sleep_until(0);
    }
}
