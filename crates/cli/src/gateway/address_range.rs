//! Claims a gateway's range of addresses for this host, if permitted. Not for: the choice of
//! addresses within the range.

use nix::errno::Errno;
use resolab_gateway::names::AddressRange;
use resolab_link::netlink::{Netlink, RouteKind};
use resolab_terminal::command_refusal::CommandRefusal;
use std::net::{IpAddr, UdpSocket};

/// The index of the loopback device in every namespace.
const LOOPBACK: u32 = 1;

/// Makes the kernel deliver the whole range locally, unless already the case. The route stays as
/// long as the namespace. The function is meant for hosts of a path; their namespace ends with the
/// path.
pub fn claim(range: AddressRange) -> Result<(), CommandRefusal> {
    if is_ours(range) {
        return Ok(());
    }
    let (first, prefix_bits) = range.network();
    let claimed = Netlink::open().and_then(|mut netlink| {
        netlink.add_route(LOOPBACK, RouteKind::Local, IpAddr::V4(first), prefix_bits)
    });
    match claimed {
        Ok(()) | Err(Errno::EEXIST) => Ok(()),
        Err(error) => Err(CommandRefusal::machine(format_args!(
            "make {range} this host's own: {error}; run it inside a path (resolab enter), or as root: \
             ip route add local {range} dev lo"
        ))),
    }
}

fn is_ours(range: AddressRange) -> bool {
    let (first, _) = range.network();
    let first_address = std::net::Ipv4Addr::from(u32::from(first) + 1);
    UdpSocket::bind((first_address, 0)).is_ok()
}
