//! The few rtnetlink requests of a host (rtnetlink(7)): bring a device up with MTU and transmit
//! queue, add an address, add a route, read a drop counter. The crate speaks rtnetlink directly,
//! because user namespaces refuse the equivalent ioctls and `ip` may not be installed. Not for:
//! being a netlink library.

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, sendto,
    socket,
};
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

mod veth;

pub use veth::VethEnd;

const HEADER_BYTES: usize = 16;
const IFINFO_BYTES: usize = 16;
/// Position of `tx_dropped` among the 64-bit counters of `rtnl_link_stats64`.
const TX_DROPPED_INDEX: usize = 7;

/// An rtnetlink socket of the network namespace at opening, usable from any namespace.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

/// A route's kind and scope.
#[derive(Debug, Clone, Copy)]
pub enum RouteKind {
    /// Send to the neighbour beyond the device; table `main`.
    Unicast,
    /// Deliver here as if each address were ours (AnyIP); table `local`.
    Local,
}

impl Netlink {
    /// Opens a socket to this thread's namespace.
    pub fn open() -> Result<Self, Errno> {
        let socket = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::NetlinkRoute,
        )?;
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
        Ok(Self {
            socket,
            sequence: 0,
        })
    }

    /// Brings a device up.
    pub fn set_up(&mut self, device: u32) -> Result<(), Errno> {
        let up = libc::IFF_UP as u32;
        self.acknowledged(&NetlinkRequest::new(libc::RTM_NEWLINK, 0).body(&ifinfo(device, up, up)))
    }

    /// Keeps a device from announcing multicast groups (MLD reports of IPv6 addresses).
    pub fn clear_multicast(&mut self, device: u32) -> Result<(), Errno> {
        let multicast = libc::IFF_MULTICAST as u32;
        self.acknowledged(
            &NetlinkRequest::new(libc::RTM_NEWLINK, 0).body(&ifinfo(device, 0, multicast)),
        )
    }

    /// Sets a device's MTU and transmit queue length.
    pub fn set_sizes(&mut self, device: u32, mtu: u32, queue_packets: u32) -> Result<(), Errno> {
        let message = NetlinkRequest::new(libc::RTM_NEWLINK, 0)
            .body(&ifinfo(device, 0, 0))
            .attribute(libc::IFLA_MTU, &mtu.to_ne_bytes())
            .attribute(libc::IFLA_TXQLEN, &queue_packets.to_ne_bytes());
        self.acknowledged(&message)
    }

    /// Adds an address to a device; the prefix's network becomes reachable through the device.
    pub fn add_address(&mut self, device: u32, address: IpAddr, prefix: u8) -> Result<(), Errno> {
        let (family, octets) = family_and_octets(address);
        // Nobody else can have it: no probing for duplicates, whose time no packet could pass.
        let flags = if address.is_ipv6() {
            libc::IFA_F_NODAD as u8
        } else {
            0
        };
        let mut body = vec![family, prefix, flags, libc::RT_SCOPE_UNIVERSE];
        body.extend(device.to_ne_bytes());
        let message = NetlinkRequest::new(libc::RTM_NEWADDR, libc::NLM_F_CREATE | libc::NLM_F_EXCL)
            .body(&body)
            .attribute(libc::IFA_LOCAL, &octets)
            .attribute(libc::IFA_ADDRESS, &octets);
        self.acknowledged(&message)
    }

    /// Adds a route through a device; prefix 0 is the default route.
    pub fn add_route(
        &mut self,
        device: u32,
        kind: RouteKind,
        network: IpAddr,
        prefix: u8,
    ) -> Result<(), Errno> {
        let (table, scope, route_type) = match kind {
            RouteKind::Unicast => (libc::RT_TABLE_MAIN, libc::RT_SCOPE_LINK, libc::RTN_UNICAST),
            RouteKind::Local => (libc::RT_TABLE_LOCAL, libc::RT_SCOPE_HOST, libc::RTN_LOCAL),
        };
        let (family, octets) = family_and_octets(network);
        let mut body = vec![
            family,
            prefix,
            0,
            0,
            table,
            libc::RTPROT_STATIC,
            scope,
            route_type,
        ];
        body.extend([0; 4]);
        let mut message =
            NetlinkRequest::new(libc::RTM_NEWROUTE, libc::NLM_F_CREATE | libc::NLM_F_EXCL)
                .body(&body)
                .attribute(libc::RTA_OIF, &device.to_ne_bytes());
        if prefix > 0 {
            message = message.attribute(libc::RTA_DST, &octets);
        }
        self.acknowledged(&message)
    }

    /// Returns the number of outgoing packets dropped by a device since the device was made.
    pub fn tx_dropped_count(&mut self, device: u32) -> Result<u64, Errno> {
        self.send(&NetlinkRequest::new(libc::RTM_GETLINK, 0).body(&ifinfo(device, 0, 0)))?;
        let reply = self.receive()?;
        let attributes = reply
            .get(HEADER_BYTES + IFINFO_BYTES..)
            .ok_or(Errno::EBADMSG)?;
        let counters = find_attribute(attributes, libc::IFLA_STATS64).ok_or(Errno::EBADMSG)?;
        let counter = counters
            .chunks_exact(8)
            .nth(TX_DROPPED_INDEX)
            .ok_or(Errno::EBADMSG)?;
        Ok(counter.try_into().map_or(0, u64::from_ne_bytes))
    }

    fn acknowledged(&mut self, message: &NetlinkRequest) -> Result<(), Errno> {
        self.send(message)?;
        self.receive().map(|_| ())
    }

    fn send(&mut self, message: &NetlinkRequest) -> Result<(), Errno> {
        self.sequence += 1;
        let bytes = message.encode(self.sequence);
        sendto(
            self.socket.as_raw_fd(),
            &bytes,
            &NetlinkAddr::new(0, 0),
            MsgFlags::empty(),
        )?;
        Ok(())
    }

    /// Receives the answer to the last request. An error message's errno is an error; 0 is an empty
    /// answer.
    fn receive(&self) -> Result<Vec<u8>, Errno> {
        let mut buffer = vec![0; 32_768];
        let length = recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
        buffer.truncate(length);
        let kind = buffer.get(4..6).ok_or(Errno::EBADMSG)?;
        if kind == (libc::NLMSG_ERROR as u16).to_ne_bytes() {
            let code = buffer
                .get(HEADER_BYTES..HEADER_BYTES + 4)
                .ok_or(Errno::EBADMSG)?;
            let code = code.try_into().map_or(-libc::EBADMSG, i32::from_ne_bytes);
            return if code == 0 {
                Ok(Vec::new())
            } else {
                Err(Errno::from_raw(-code))
            };
        }
        Ok(buffer)
    }
}

/// A request under construction.
struct NetlinkRequest {
    kind: u16,
    flags: u16,
    payload: Vec<u8>,
}

impl NetlinkRequest {
    fn new(kind: u16, flags: i32) -> Self {
        let acknowledge = if kind == libc::RTM_GETLINK {
            0
        } else {
            libc::NLM_F_ACK
        };
        let flags = (libc::NLM_F_REQUEST | acknowledge | flags) as u16;
        Self {
            kind,
            flags,
            payload: Vec::new(),
        }
    }

    fn body(mut self, bytes: &[u8]) -> Self {
        self.payload.extend(bytes);
        self.align();
        self
    }

    fn attribute(mut self, kind: u16, value: &[u8]) -> Self {
        self.payload.extend((4 + value.len() as u16).to_ne_bytes());
        self.payload.extend(kind.to_ne_bytes());
        self.payload.extend(value);
        self.align();
        self
    }

    fn align(&mut self) {
        self.payload
            .resize(self.payload.len().next_multiple_of(4), 0);
    }

    fn encode(&self, sequence: u32) -> Vec<u8> {
        let length = (HEADER_BYTES + self.payload.len()) as u32;
        let mut bytes = length.to_ne_bytes().to_vec();
        bytes.extend(self.kind.to_ne_bytes());
        bytes.extend(self.flags.to_ne_bytes());
        bytes.extend(sequence.to_ne_bytes());
        bytes.extend([0; 4]);
        bytes.extend(&self.payload);
        bytes
    }
}

fn family_and_octets(address: IpAddr) -> (u8, Vec<u8>) {
    match address {
        IpAddr::V4(address) => (libc::AF_INET as u8, address.octets().to_vec()),
        IpAddr::V6(address) => (libc::AF_INET6 as u8, address.octets().to_vec()),
    }
}

/// Encodes a `struct ifinfomsg` of a device.
fn ifinfo(device: u32, flags: u32, change: u32) -> Vec<u8> {
    let mut bytes = vec![libc::AF_UNSPEC as u8, 0, 0, 0];
    bytes.extend(device.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(change.to_ne_bytes());
    bytes
}

pub(crate) fn find_attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    while let Some((header, _)) = bytes.split_first_chunk::<4>() {
        let length = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        let kind = u16::from_ne_bytes([header[2], header[3]]);
        let value = bytes.get(4..length)?;
        if kind == wanted {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_aligned_and_found_again() {
        let message = NetlinkRequest::new(libc::RTM_NEWLINK, 0)
            .body(&ifinfo(3, 0, 0))
            .attribute(1, b"odd")
            .attribute(libc::IFLA_STATS64, &[7; 8]);
        let bytes = message.encode(1);
        assert_eq!(bytes.len() % 4, 0);
        assert_eq!(
            bytes.len(),
            u32::from_ne_bytes(bytes[..4].try_into().unwrap()) as usize
        );
        let attributes = &bytes[HEADER_BYTES + IFINFO_BYTES..];
        assert_eq!(
            find_attribute(attributes, libc::IFLA_STATS64),
            Some(&[7; 8][..])
        );
        assert_eq!(find_attribute(attributes, 9), None);
    }

    /// Needs no privilege: everybody may ask about the loopback device.
    #[test]
    fn the_kernel_answers_and_refuses() {
        let mut netlink = Netlink::open().unwrap();
        let loopback = nix::net::if_::if_nametoindex("lo").unwrap();
        assert!(netlink.tx_dropped_count(loopback).is_ok());
        assert_eq!(netlink.tx_dropped_count(0x7fff_ffff), Err(Errno::ENODEV));
    }
}
