//! Making time exact: real-time scheduling and timer slack for the ferry's thread, and threads that
//! keep idle processors from halting. Not for: what is done at those times.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::prctl;
use nix::unistd::Pid;
use std::io;
use std::thread;

/// In the middle of the range: above everything ordinary, below the kernel's own watchdogs.
const REALTIME_PRIORITY: i32 = 50;

/// Ask for SCHED_FIFO for this thread, not for threads and processes it makes, and for timers
/// without slack. Returns whether real-time scheduling was granted (root, CAP_SYS_NICE or
/// RLIMIT_RTPRIO).
pub fn make_punctual() -> bool {
    // A refusal leaves the default slack of 50 us, which shows in the recorded lateness.
    let _ = prctl::set_timerslack(1);
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    set_policy(policy, REALTIME_PRIORITY)
}

fn set_policy(policy: i32, priority: i32) -> bool {
    // SAFETY: zeroed is a valid sched_param on every C library, which may have more fields than
    // the priority.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: 0 is the calling thread and the parameters outlive the call.
    unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) == 0 }
}

/// Start one thread per processor that does nothing, at the lowest priority there is, for as long
/// as the process lives. An idle virtual processor takes 100 us and more to wake from its halt;
/// one that runs such a thread is there at once. Costs a full load of every processor.
pub fn keep_awake() -> io::Result<()> {
    let here = Pid::from_raw(0);
    let allowed = sched_getaffinity(here)?;
    let processors = (0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu).unwrap_or(false));
    for processor in processors {
        let mut only = CpuSet::new();
        only.set(processor)?;
        thread::Builder::new()
            .name("keep-awake".to_owned())
            .spawn(move || {
                // Without its own processor and the idle policy it would be in everybody's way.
                if sched_setaffinity(here, &only).is_ok() && set_policy(libc::SCHED_IDLE, 0) {
                    loop {
                        std::hint::spin_loop();
                    }
                }
            })?;
    }
    Ok(())
}
