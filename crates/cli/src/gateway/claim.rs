//! A gateway's range made this host's own, where it may be. Not for: which addresses of it are used.

use crate::refusal::Refusal;
use nix::errno::Errno;
use resolab_gateway::names::AddressRange;
use resolab_link::netlink::{Netlink, RouteKind};
use std::net::{IpAddr, UdpSocket};

/// The loopback device's number in every namespace.
const LOOPBACK: u32 = 1;

/// Have the kernel deliver the whole range here, unless it does already. The route stays as long as
/// the namespace: for hosts of a path, which go with it.
pub fn claim(range: AddressRange) -> Result<(), Refusal> {
    if is_ours(range) {
        return Ok(());
    }
    let (first, prefix_bits) = range.network();
    let claimed = Netlink::open().and_then(|mut netlink| {
        netlink.add_route(LOOPBACK, RouteKind::Local, IpAddr::V4(first), prefix_bits)
    });
    match claimed {
        Ok(()) | Err(Errno::EEXIST) => Ok(()),
        Err(error) => Err(Refusal::machine(format_args!(
            "make {range} this host's own: {error}; run it inside a path (resolab enter), or as root: \
             ip route add local {range} dev lo"
        ))),
    }
}

fn is_ours(range: AddressRange) -> bool {
    let (first, _) = range.network();
    let one = std::net::Ipv4Addr::from(u32::from(first) + 1);
    UdpSocket::bind((one, 0)).is_ok()
}
