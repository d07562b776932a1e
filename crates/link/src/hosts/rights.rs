//! Gives up the rights (capabilities(7)) needed to make a path but not to keep the path running.
//! Not for: gaining rights (`namespace`), nor for the anchors, which never use theirs.

use caps::{CapSet, Capability, CapsHashSet};

/// The rights a running path still needs. `NET_ADMIN` is for changing MTUs and reading devices'
/// counters by rtnetlink. `SYS_NICE` is for starting threads beside the forwarder's scheduling.
/// `DAC_OVERRIDE` is for captures in the requesting user's folders.
pub const KEPT: [Capability; 3] = [
    Capability::CAP_NET_ADMIN,
    Capability::CAP_SYS_NICE,
    Capability::CAP_DAC_OVERRIDE,
];

/// Gives up all rights but [`KEPT`], for good, also for programs run later. Threads already running
/// keep theirs: the process must have a single thread.
pub fn drop_capabilities() -> Result<(), caps::errors::CapsError> {
    // First of all, since it takes a right itself.
    for right in caps::read(None, CapSet::Bounding)? {
        if !KEPT.contains(&right)
            && caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP)?
        {
            caps::drop(None, CapSet::Bounding, right)?;
        }
    }
    let kept: CapsHashSet = KEPT.into_iter().collect();
    for set in [CapSet::Effective, CapSet::Inheritable, CapSet::Permitted] {
        let now = caps::read(None, set)?;
        caps::set(None, set, &now.intersection(&kept).copied().collect())?;
    }
    Ok(())
}
