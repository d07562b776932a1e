//! Memory in small pages, so that no step of a measured exchange waits for two megabytes to be cleared.
//! Not for: servers and programs of others; they get their memory as it comes.

use nix::sys::prctl;

/// Ask the kernel for no transparent huge pages (`PR_SET_THP_DISABLE`) in this process.
///
/// The allocator asks for them where a machine gives them to who asks, and Debian gives them to all. The first
/// byte of each then costs the clearing of all of it: on virtual machines 4 to 9 ms, in the middle of an
/// exchange (docs/decisions/0027).
///
/// What this process starts inherits it.
pub fn ask_for_small_pages() {
    // A kernel without huge pages refuses, and there is nothing to do.
    let _ = prctl::set_thp_disable(true);
}
