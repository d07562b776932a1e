//! Remedies for the kernel's refusals to make hosts, in words for the reader of the error message.
//! Not for: trying the remedies.

use crate::hosts::tun::DEVICE_FILE;
use nix::errno::Errno;
use nix::sys::stat::{SFlag, stat};
use nix::unistd::geteuid;

/// Returns the remedy for refused namespaces. Root lacks namespaces only in a container.
pub fn suggest_for_namespaces() -> &'static str {
    if geteuid().is_root() {
        "this root has not the capabilities for it; start the container with --cap-add SYS_ADMIN \
         --cap-add NET_ADMIN --device /dev/net/tun, or as a user who may make user namespaces"
    } else {
        "run as root, or allow user namespaces (user.max_user_namespaces, \
         kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
    }
}

/// Returns the remedy for a refused TUN device.
pub fn suggest_for_tun(error: Errno) -> &'static str {
    let is_device = stat(DEVICE_FILE)
        .is_ok_and(|found| found.st_mode & SFlag::S_IFMT.bits() == SFlag::S_IFCHR.bits());
    if [Errno::ENOENT, Errno::ENODEV, Errno::ENXIO].contains(&error) {
        "load the kernel module (modprobe tun); a container needs --device /dev/net/tun"
    } else if error == Errno::ENOTTY || (error != Errno::EACCES && !is_device) {
        "this file is no TUN device; make it one: mknod /dev/net/tun c 10 200 as root"
    } else if error == Errno::EACCES {
        "let ordinary users open it (chmod 0666 as root), or take the other back end: \
         backend = \"packet\" under [instrument] in a plan, --backend packet for resolab-core path"
    } else {
        "the kernel refuses TUN devices here; a container needs --cap-add NET_ADMIN --device \
         /dev/net/tun"
    }
}
