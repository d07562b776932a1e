//! The way out where the kernel refuses what hosts are made of, in words for whoever reads the message.
//! Not for: trying.

use crate::hosts::tun::DEVICE_FILE;
use nix::errno::Errno;
use nix::sys::stat::{SFlag, stat};
use nix::unistd::geteuid;

/// Where no namespaces can be made. Root lacks them in a container alone.
pub fn namespaces() -> &'static str {
    if geteuid().is_root() {
        "this root has not the capabilities for it; start the container with --cap-add SYS_ADMIN \
         --cap-add NET_ADMIN --device /dev/net/tun, or as a user who may make user namespaces"
    } else {
        "run as root, or allow user namespaces (user.max_user_namespaces, \
         kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
    }
}

/// Where no TUN device can be made.
pub fn tun(error: Errno) -> &'static str {
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
