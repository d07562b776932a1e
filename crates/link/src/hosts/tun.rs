//! Opening a TUN device: IP packets behind the header that says what was left to do with them (see
//! `offload`). Not for: addresses and routes.

use crate::hosts::interface::name_field;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use std::os::fd::{AsRawFd, OwnedFd};

/// The kernel's door to TUN devices.
pub const DEVICE_FILE: &str = "/dev/net/tun";

nix::ioctl_write_ptr_bad!(
    /// Give the descriptor a device (tun(4)).
    attach,
    libc::TUNSETIFF,
    libc::ifreq
);

nix::ioctl_write_int_bad!(
    /// What the device leaves to us (tun(4)).
    set_offload,
    libc::TUNSETOFFLOAD
);

nix::ioctl_write_int_bad!(
    /// Whether the device outlives its descriptor (tun(4)).
    set_persistent,
    libc::TUNSETPERSIST
);

/// Checksums, and cutting TCP's trains: what `offload` can do.
const OFFLOADS: libc::c_uint = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6;

/// Make the device `name` in the network namespace this thread is in, with which it goes; the
/// descriptor can be used from anywhere and never blocks. A device that went with its descriptor would
/// hold up who closes that, 20 ms for each; with the namespace the kernel takes it down by itself.
pub fn create(name: &str, offloads: bool) -> Result<OwnedFd, Errno> {
    let flags = OFlag::O_RDWR | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let tun = open(DEVICE_FILE, flags, Mode::empty())?;
    let request = interface_request(name)?;
    // SAFETY: the descriptor is open and the request is a complete ifreq that outlives the call.
    unsafe { attach(tun.as_raw_fd(), &raw const request) }?;
    let wanted = if offloads { OFFLOADS } else { 0 };
    // SAFETY: takes an integer.
    unsafe { set_offload(tun.as_raw_fd(), wanted as libc::c_int) }?;
    // SAFETY: takes an integer.
    unsafe { set_persistent(tun.as_raw_fd(), 1) }?;
    Ok(tun)
}

fn interface_request(name: &str) -> Result<libc::ifreq, Errno> {
    let ifr_name = name_field(name)?;
    let flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    let ifr_ifru = libc::__c_anonymous_ifr_ifru { ifru_flags: flags };
    Ok(libc::ifreq { ifr_name, ifr_ifru })
}
