//! Giving up the rights (capabilities(7)) that made a path but that a standing one does not need.
//! Not for: gaining them (`namespace`), nor for the anchors, which do nothing at all with theirs.

use caps::{CapSet, Capability, CapsHashSet};

/// What a standing path still does with rights: other MTUs and devices' counters by rtnetlink
/// (`NET_ADMIN`), new threads beside the ferry's scheduling (`SYS_NICE`), captures in folders of whoever
/// asked for them (`DAC_OVERRIDE`).
pub const KEPT: [Capability; 3] = [
    Capability::CAP_NET_ADMIN,
    Capability::CAP_SYS_NICE,
    Capability::CAP_DAC_OVERRIDE,
];

/// Give up all but [`KEPT`], for good and for programs that would be run, too. Threads that run
/// already keep theirs: the process must have one only.
pub fn give_up() -> Result<(), caps::errors::CapsError> {
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
