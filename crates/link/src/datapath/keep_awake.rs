//! Threads keeping idle processors from halting, and keeping the kernel's code for packets in the
//! caches. Not for: the path's own scheduling (`realtime_scheduling`).

use crate::clock::monotonic_ns;
use crate::datapath::cache_warmer::CacheWarmer;
use crate::datapath::realtime_scheduling::set_policy;
use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{ForkResult, Pid, fork, getpid, getppid, setsid};
use std::ffi::CStr;
use std::{fs, io, thread};

/// Name of the process keeping processors awake.
const KEEP_AWAKE_NAME: &CStr = c"resolab-awake";
/// Time between rehearsals, in ns. A rehearsal takes some tens of microseconds in the kernel;
/// meanwhile no other thread gets the processor. Rehearsals are rare enough to delay few packets,
/// and frequent enough to keep the caches warm against neighbours of the machine.
const REHEARSAL_INTERVAL_NS: u64 = 400_000;

/// Starts one thread per processor at the lowest priority possible, for this process's lifetime.
/// The process must have a single thread. An idle virtual processor takes 100 us and more to wake
/// from a halt; a processor running such a thread responds at once. Now and then the thread
/// rehearses a packet's route through the kernel (see `cache_warmer`), or only spins if rehearsals
/// are refused. Costs a full load of every processor.
///
/// The threads live in a child with a separate session. When the kernel groups processes by session
/// (sched_autogroup), the idle policy counts only against threads of the same session. In our
/// session the threads would take a full share from a browser, because a browser has a separate
/// session. Their session's group therefore gets the lowest weight.
pub fn start() -> io::Result<()> {
    let allowed = sched_getaffinity(Pid::from_raw(0))?;
    let path = getpid();
    // SAFETY: one thread only, so no lock can be held across the fork.
    match unsafe { fork() }? {
        ForkResult::Parent { .. } => Ok(()),
        ForkResult::Child => {
            if detach_from_path(path).is_ok() {
                let processors = 0..CpuSet::count();
                spin_on(processors.filter(|cpu| allowed.is_set(*cpu).unwrap_or(false)));
            }
            std::process::exit(1)
        }
    }
}

/// Leaves the path's session, ties this process's life to the path, and closes all inherited
/// descriptors.
fn detach_from_path(path: Pid) -> nix::Result<()> {
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
    if !in_place {
        return;
    }
    let mut warmer = CacheWarmer::prepare().ok();
    loop {
        let next_ns = monotonic_ns() + REHEARSAL_INTERVAL_NS;
        while monotonic_ns() < next_ns {
            std::hint::spin_loop();
        }
        if let Some(warmer) = &mut warmer {
            warmer.run();
        }
    }
}
