//! Memory in small pages: no step of a measured exchange waits for the clearing of two megabytes.
//! Not for: servers and programs of other authors; these use the default memory.

use nix::sys::prctl;

/// Asks the kernel for no transparent huge pages (`PR_SET_THP_DISABLE`) in this process.
///
/// The allocator requests huge pages on machines with huge pages on request; Debian gives huge
/// pages to all processes. The first byte of each huge page costs the clearing of the whole page.
/// On virtual machines, clearing takes 4 to 9 ms, in the middle of an exchange
/// (docs/decisions/0027).
///
/// Processes started by this process inherit the setting.
pub fn ask_for_small_pages() {
    // A kernel without huge pages refuses, and there is nothing to do.
    let _ = prctl::set_thp_disable(true);
}
