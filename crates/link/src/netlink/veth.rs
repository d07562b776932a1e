//! The rtnetlink requests for a pair of virtual Ethernet devices (veth(4)) between two network
//! namespaces. Not for: requests common to all kinds of devices.

use super::{Netlink, NetlinkRequest, ifinfo};
use nix::errno::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Attribute of the peer's description, from linux/veth.h.
const VETH_INFO_PEER: u16 = 1;

/// An end of a pair of devices.
#[derive(Debug, Clone, Copy)]
pub struct VethEnd<'a> {
    /// Name of the device.
    pub name: &'a str,
    /// Index of the device in the device's namespace.
    pub index: u32,
    /// Hardware address of the device.
    pub hardware_address: [u8; 6],
}

impl Netlink {
    /// Makes a pair of devices: `near` in this socket's namespace, and `far`, with this MTU, in
    /// another namespace. `near` sends without address resolution (no ARP, no neighbour discovery).
    ///
    /// The two indices should differ. If they are equal, the kernel takes up to a second to mark
    /// the devices as running. A browser started before then sees a change of network.
    pub fn add_veth(
        &mut self,
        near: VethEnd<'_>,
        far: VethEnd<'_>,
        far_mtu_bytes: u32,
        far_namespace: BorrowedFd<'_>,
    ) -> Result<(), Errno> {
        let mut peer = ifinfo(far.index, 0, 0);
        append_end(&mut peer, far);
        append(&mut peer, libc::IFLA_MTU, &far_mtu_bytes.to_ne_bytes());
        let namespace = far_namespace.as_raw_fd().to_ne_bytes();
        append(&mut peer, libc::IFLA_NET_NS_FD, &namespace);
        let mut data = Vec::new();
        append(&mut data, VETH_INFO_PEER, &peer);
        let mut info = Vec::new();
        append(&mut info, libc::IFLA_INFO_KIND, b"veth");
        append(&mut info, libc::IFLA_INFO_DATA, &data);
        let no_questions = libc::IFF_NOARP as u32;
        let mut body = ifinfo(near.index, no_questions, no_questions);
        append_end(&mut body, near);
        append(&mut body, libc::IFLA_LINKINFO, &info);
        let flags = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
        self.acknowledged(&NetlinkRequest::new(libc::RTM_NEWLINK, flags).body(&body))
    }
}

fn append_end(bytes: &mut Vec<u8>, end: VethEnd<'_>) {
    append(bytes, libc::IFLA_IFNAME, &terminate(end.name));
    append(bytes, libc::IFLA_ADDRESS, &end.hardware_address);
}

fn append(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    bytes.extend((4 + value.len() as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

fn terminate(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_nest_and_are_aligned() {
        let mut inner = Vec::new();
        append(&mut inner, 1, &terminate("ab"));
        assert_eq!(inner[..2], 7_u16.to_ne_bytes());
        assert_eq!(inner.len(), 8);
        let mut outer = Vec::new();
        append(&mut outer, 2, &inner);
        assert_eq!(outer[..2], 12_u16.to_ne_bytes());
        assert_eq!(outer[4..], inner);
    }
}
