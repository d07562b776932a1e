//! Making time exact: real-time scheduling and timer slack for the ferry's thread. Not for: what is
//! done at those times, and not for processors without work (`keep_awake`).

use nix::sys::prctl;

/// In the middle of the range: above everything ordinary, below the kernel's own watchdogs.
const REALTIME_PRIORITY: i32 = 50;
/// Senders of probes: below the ferry, which must not wait for them.
const SENDER_PRIORITY: i32 = 40;

/// Ask for SCHED_FIFO for this thread, not for threads and processes it makes, and for timers
/// without slack. Returns whether real-time scheduling was granted (root, CAP_SYS_NICE or
/// RLIMIT_RTPRIO).
pub fn make_punctual() -> bool {
    // A refusal leaves the default slack of 50 us, which shows in the recorded lateness.
    let _ = prctl::set_timerslack(1);
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    set_policy(policy, REALTIME_PRIORITY)
}

/// Ask for the real-time scheduling of senders of probes for this thread and those it makes, until
/// they say otherwise.
pub(crate) fn allow_realtime_senders() -> bool {
    set_policy(libc::SCHED_FIFO, SENDER_PRIORITY)
}

/// Make this thread one that sends probes; `realtime` is what [`allow_realtime_senders`] said.
pub(crate) fn make_sender(realtime: bool) -> bool {
    // A refusal leaves the default slack of 50 us, which shows in the record as sent.
    let _ = prctl::set_timerslack(1);
    realtime
        && set_policy(
            libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK,
            SENDER_PRIORITY,
        )
}

/// Make this thread like any other.
pub(crate) fn make_ordinary() {
    // Giving a right back is never refused.
    set_policy(libc::SCHED_OTHER, 0);
}

pub(crate) fn set_policy(policy: i32, priority: i32) -> bool {
    // SAFETY: zeroed is a valid sched_param on every C library, which may have more fields than
    // the priority.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: 0 is the calling thread and the parameters outlive the call.
    unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) == 0 }
}
