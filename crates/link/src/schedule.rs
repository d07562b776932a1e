//! Making time exact: real-time scheduling and timer slack for the ferry's thread, and threads that
//! keep idle processors from halting. Not for: what is done at those times.

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{ForkResult, Pid, fork, getpid, getppid, setsid};
use std::ffi::CStr;
use std::{fs, io, thread};

/// In the middle of the range: above everything ordinary, below the kernel's own watchdogs.
const REALTIME_PRIORITY: i32 = 50;
/// Senders of probes: below the ferry, which must not wait for them.
const SENDER_PRIORITY: i32 = 40;
/// Name of the process that keeps processors awake.
const KEEP_AWAKE_NAME: &CStr = c"resolab-awake";

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

fn set_policy(policy: i32, priority: i32) -> bool {
    // SAFETY: zeroed is a valid sched_param on every C library, which may have more fields than
    // the priority.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: 0 is the calling thread and the parameters outlive the call.
    unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) == 0 }
}

/// Start one thread per processor that does nothing, at the lowest priority there is, for as long
/// as this process lives; it must have one thread only. An idle virtual processor takes 100 us and
/// more to wake from its halt; one that runs such a thread is there at once. Costs a full load of
/// every processor.
///
/// The threads live in a child with a session of its own. Where the kernel groups processes by
/// session (sched_autogroup), the idle policy counts only against threads of the same session: in
/// ours they would take their full share from a browser, which has its own. So their session's
/// group gets the lowest weight.
pub fn keep_awake() -> io::Result<()> {
    let allowed = sched_getaffinity(Pid::from_raw(0))?;
    let path = getpid();
    // SAFETY: one thread only, so no lock can be held across the fork.
    match unsafe { fork() }? {
        ForkResult::Parent { .. } => Ok(()),
        ForkResult::Child => {
            if stand_apart(path).is_ok() {
                let processors = 0..CpuSet::count();
                spin_on(processors.filter(|cpu| allowed.is_set(*cpu).unwrap_or(false)));
            }
            std::process::exit(1)
        }
    }
}

/// Leave the path's session, die with the path, and keep none of its descriptors.
fn stand_apart(path: Pid) -> nix::Result<()> {
    setsid()?;
    prctl::set_name(KEEP_AWAKE_NAME)?;
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    // The path may have died before the line above.
    if getppid() != path {
        return Err(Errno::ESRCH);
    }
    // SAFETY: closes every descriptor of this process, none of which is used afterwards; a copy of
    // the path's standard output kept here would hide its end from the reader.
    unsafe { libc::close_range(0, libc::c_uint::MAX, 0) };
    // Absent where the kernel does not group by session, and then not needed.
    let _ = fs::write("/proc/self/autogroup", "19");
    Ok(())
}

fn spin_on(processors: impl Iterator<Item = usize>) {
    let spinning: Vec<_> = processors
        .filter_map(|processor| thread::Builder::new().spawn(move || spin(processor)).ok())
        .collect();
    for thread in spinning {
        // They end only where the policy was refused.
        let _ = thread.join();
    }
}

fn spin(processor: usize) {
    let mut only = CpuSet::new();
    // Without its own processor and the idle policy it would be in everybody's way.
    let in_place = only.set(processor).is_ok()
        && sched_setaffinity(Pid::from_raw(0), &only).is_ok()
        && set_policy(libc::SCHED_IDLE, 0);
    if in_place {
        loop {
            std::hint::spin_loop();
        }
    }
}
