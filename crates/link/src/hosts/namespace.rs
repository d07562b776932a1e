//! Gets the right to make network namespaces and their content. Root may have the right directly.
//! Any other user makes a user namespace, keeping the same uid. Also applies the kernel settings of
//! a fresh network namespace. Not for: devices and addresses (see `path`).

use caps::{CapSet, Capability};
use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::unistd::{getegid, geteuid};
use std::fs;

/// Makes namespaces possible for this process, which must have a single thread. Returns true when a
/// user namespace was necessary.
pub fn gain_rights() -> Result<bool, Errno> {
    // Who could make the namespace and no device in it is helped by a user namespace.
    if has_right(Capability::CAP_NET_ADMIN) {
        match unshare(CloneFlags::CLONE_NEWNET) {
            Ok(()) => return Ok(false),
            Err(Errno::EPERM) => {}
            Err(error) => return Err(error),
        }
    }
    own_user_namespace()?;
    Ok(true)
}

/// Returns true when this process has the right already.
pub fn has_right(right: Capability) -> bool {
    caps::has_cap(None, CapSet::Effective, right).unwrap_or(false)
}

/// Makes a user namespace for this process, which must have a single thread. The process keeps the
/// same uid there, and has every right over objects made there.
pub fn own_user_namespace() -> Result<(), Errno> {
    let (uid, gid) = (geteuid(), getegid());
    // Refused by the kernel later, when this process has no uid left (user_namespaces(7)).
    if uid.is_root() && !has_right(Capability::CAP_SETFCAP) {
        return Err(Errno::EPERM);
    }
    unshare(CloneFlags::CLONE_NEWUSER)?;
    // A file capability (cap_sys_nice) makes the process undumpable and its /proc files root's.
    prctl::set_dumpable(true)?;
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("{uid} {uid} 1"))?;
    write("/proc/self/gid_map", &format!("{gid} {gid} 1"))
}

/// A kernel setting refused by the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedSetting {
    /// Name of the setting, in the form of sysctl(8).
    pub name: &'static str,
    /// Error number from the kernel.
    pub error: Errno,
}

/// Applies the settings of every host in this thread's network namespace, before the host's devices
/// are made. Returns the refused settings (a read-only /proc/sys in containers, for example).
pub fn configure_network(ipv6: bool) -> Vec<RefusedSetting> {
    let gid = getegid();
    let mut settings = vec![
        // Trials must not inherit congestion windows and round trips from one another.
        ("net.ipv4.tcp_no_metrics_save", "1".to_owned()),
        // Campaigns open many connections in a minute, each of which keeps its port for one.
        ("net.ipv4.ip_local_port_range", "10240 65535".to_owned()),
        // Servers may take data in a SYN (RFC 7413), from clients that ask for it.
        ("net.ipv4.tcp_fastopen", "3".to_owned()),
        // An ordinary user's edge binds ports 53, 443 and 853.
        ("net.ipv4.ip_unprivileged_port_start", "0".to_owned()),
        ("net.ipv4.ping_group_range", format!("{gid} {gid}")),
    ];
    let quiet: &[(&'static str, &str)] = if ipv6 {
        // Nothing but what programs send is to be on the link: no router solicitations, no
        // link-local addresses and their announcements.
        &[
            ("net.ipv6.conf.default.accept_ra", "0"),
            ("net.ipv6.conf.default.router_solicitations", "0"),
            ("net.ipv6.conf.default.addr_gen_mode", "1"),
            ("net.ipv6.conf.default.dad_transmits", "0"),
            // Unlike IPv4's, IPv6's local routes do not make their addresses fit to bind to.
            ("net.ipv6.ip_nonlocal_bind", "1"),
        ]
    } else {
        &[("net.ipv6.conf.default.disable_ipv6", "1")]
    };
    settings.extend(
        quiet
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned())),
    );
    settings
        .into_iter()
        .filter_map(|(name, value)| set(name, &value).err())
        .collect()
}

fn set(name: &'static str, value: &str) -> Result<(), RefusedSetting> {
    let file = format!("/proc/sys/{}", name.replace('.', "/"));
    write(&file, value).map_err(|error| RefusedSetting { name, error })
}

fn write(file: &str, text: &str) -> Result<(), Errno> {
    fs::write(file, text).map_err(|error| error.raw_os_error().map_or(Errno::EIO, Errno::from_raw))
}
