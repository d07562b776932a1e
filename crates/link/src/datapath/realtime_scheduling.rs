//! Makes time exact: real-time scheduling and timer slack for the forwarder's thread. Not for: the
//! work at these times, nor for idle processors (`keep_awake`).

use nix::sys::prctl;

/// A priority in the middle of the range: above everything ordinary, below the kernel's own
/// watchdogs.
const REALTIME_PRIORITY: i32 = 50;
/// Priority of probe senders: below the forwarder, because the forwarder must not wait for senders.
const SENDER_PRIORITY: i32 = 40;

/// Requests SCHED_FIFO and timers without slack for this thread, but not for threads and processes
/// made later. Returns true when real-time scheduling was granted (root, CAP_SYS_NICE or
/// RLIMIT_RTPRIO).
pub fn request_realtime() -> bool {
    // A refusal leaves the default slack of 50 us, which shows in the recorded lateness.
    let _ = prctl::set_timerslack(1);
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    set_policy(policy, REALTIME_PRIORITY)
}

/// Requests the real-time scheduling of probe senders for this thread and threads made later, until
/// each thread changes the policy.
pub(crate) fn allow_realtime_senders() -> bool {
    set_policy(libc::SCHED_FIFO, SENDER_PRIORITY)
}

/// Makes this thread a probe sender; `realtime` is the result of [`allow_realtime_senders`].
pub(crate) fn make_sender(realtime: bool) -> bool {
    // A refusal leaves the default slack of 50 us, which shows in the record as sent.
    let _ = prctl::set_timerslack(1);
    realtime
        && set_policy(
            libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK,
            SENDER_PRIORITY,
        )
}

/// Gives this thread the ordinary scheduling policy.
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
