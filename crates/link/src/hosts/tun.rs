//! Opens a TUN device. Each IP packet comes behind a header with the work left to do (see
//! `offload`). Not for: addresses and routes.

use crate::hosts::interface::name_field;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use std::os::fd::{AsRawFd, OwnedFd};

/// The kernel's device file for TUN devices.
pub const DEVICE_FILE: &str = "/dev/net/tun";

nix::ioctl_write_ptr_bad!(
    /// Attaches the descriptor to a device (tun(4)).
    attach,
    libc::TUNSETIFF,
    libc::ifreq
);

nix::ioctl_write_int_bad!(
    /// Sets the work the device leaves to us (tun(4)).
    set_offload,
    libc::TUNSETOFFLOAD
);

nix::ioctl_write_int_bad!(
    /// Sets the device to outlive the descriptor, or not (tun(4)).
    set_persistent,
    libc::TUNSETPERSIST
);

/// The work `offload` can do: finishing checksums, and cutting TCP's trains.
const OFFLOADS: libc::c_uint = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6;

/// Makes the device `name` in this thread's network namespace. The device ends with the namespace;
/// the descriptor works from any namespace and never blocks. Otherwise the device would end with
/// the descriptor, and delay closing by 20 ms each. With the namespace, the kernel removes the
/// device by itself.
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
