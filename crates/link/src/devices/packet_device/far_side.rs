//! The network namespace with the far ends of the hosts' virtual Ethernet pairs. Only this process
//! holds the namespace: no program in a host sees the ends, and they vanish with the process. Also
//! makes a host's pair. Not for: addresses and routes in a host, which are the same for every
//! device.

use super::ethernet::HardwareAddress;
use super::ring::Ring;
use super::stamps::StampClock;
use super::{Addresses, PacketDevice, offloads, socket};
use crate::hosts::{DEVICE_NAME, HOSTS, Host};
use crate::netlink::{Netlink, VethEnd};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{AddressFamily, SockFlag, SockType};
use nix::sys::stat::Mode;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use thiserror::Error;

/// An MTU above the MTU of any host; the hosts' own ends have the profile's.
const FAR_MTU_BYTES: u32 = 65_535;
/// The first index after the loopback device's, the same as a TUN device's.
const NEAR_INDEX: u32 = 2;
/// The switch for IPv6 on the far ends. The path sends no packets from there; reports and
/// solicitations would be noise.
const DISABLE_IPV6_FILE: &str = "/proc/sys/net/ipv6/conf/default/disable_ipv6";

/// The reason for missing devices; messages read after "failed to".
#[derive(Debug, Clone, Error)]
#[error("set up packet devices ({step}): {error}; {}", self.remedy())]
pub struct FarSideError {
    step: DeviceStep,
    error: Errno,
}

/// The steps of making devices, any of which the kernel may refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeviceStep {
    Namespace,
    Socket,
    Ring,
    Pair,
    Offloads,
    Rest,
}

impl std::fmt::Display for DeviceStep {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Namespace => "network namespace",
            Self::Socket => "packet socket",
            Self::Ring => "receive ring",
            Self::Pair => "veth pair",
            Self::Offloads => "turning offloads off",
            Self::Rest => "its far end",
        })
    }
}

impl FarSideError {
    fn remedy(&self) -> &'static str {
        match (self.step, self.error) {
            (DeviceStep::Socket, Errno::EAFNOSUPPORT) => {
                "load the kernel module: modprobe af_packet"
            }
            (DeviceStep::Socket, Errno::ENOPROTOOPT) => "it takes Linux 4.20 or later",
            (DeviceStep::Ring, Errno::ENOMEM) => "it takes 21 MB of free memory per host",
            (DeviceStep::Pair, Errno::EOPNOTSUPP) => "load the kernel module: modprobe veth",
            _ => "the kernel refuses this here; --backend tun needs none of it",
        }
    }
}

fn step_error(step: DeviceStep) -> impl Fn(Errno) -> FarSideError {
    move |error| FarSideError { step, error }
}

/// The far side, kept until the devices are made.
#[derive(Debug)]
pub struct FarNamespace {
    namespace: OwnedFd,
    netlink: Netlink,
    /// Sockets not bound yet; one per host.
    sockets: Vec<(OwnedFd, Ring)>,
}

impl FarNamespace {
    /// Makes a fresh far side for packets of up to `largest_bytes`. This thread is in the new
    /// namespace afterwards.
    pub fn enter(largest_bytes: usize) -> Result<Self, FarSideError> {
        unshare(CloneFlags::CLONE_NEWNET).map_err(step_error(DeviceStep::Namespace))?;
        // Where it is refused, the hosts get a few packets nobody asked for, and no harm is done.
        let _ = fs::write(DISABLE_IPV6_FILE, "1");
        let namespace = open(
            "/proc/thread-self/ns/net",
            OFlag::O_RDONLY | OFlag::O_CLOEXEC,
            Mode::empty(),
        );
        Ok(Self {
            namespace: namespace.map_err(step_error(DeviceStep::Namespace))?,
            netlink: Netlink::open().map_err(step_error(DeviceStep::Rest))?,
            sockets: HOSTS
                .iter()
                .map(|_| make_socket(largest_bytes))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Makes the device of `host`. This thread must be in the host's network namespace. The new
    /// device is down there and has neither address nor route.
    pub fn make_device(&mut self, host: Host) -> Result<PacketDevice, FarSideError> {
        let (socket, ring) = self
            .sockets
            .pop()
            .ok_or_else(|| step_error(DeviceStep::Socket)(Errno::EALREADY))?;
        let addresses = addresses(host);
        self.make_pair(host, addresses)
            .map_err(step_error(DeviceStep::Pair))?;
        turn_host_offloads_off().map_err(step_error(DeviceStep::Offloads))?;
        offloads::turn_off(socket.as_fd(), host.name())
            .map_err(step_error(DeviceStep::Offloads))?;
        let far = far_index(host);
        self.netlink
            .set_up(far)
            .map_err(step_error(DeviceStep::Rest))?;
        socket::bind(&socket, far).map_err(step_error(DeviceStep::Rest))?;
        Ok(PacketDevice {
            ring,
            socket,
            addresses,
            stamps: StampClock::default(),
            not_genuine_count: 0,
            something_came: false,
            put_off_ns: None,
        })
    }

    /// Returns the size of the largest packet fitting into the devices' rings.
    pub fn largest_packet_bytes(&self) -> Option<usize> {
        let rings = self.sockets.iter().map(|(_, ring)| ring);
        rings.map(Ring::largest_packet_bytes).min()
    }

    fn make_pair(&self, host: Host, addresses: Addresses) -> Result<(), Errno> {
        let near = VethEnd {
            name: DEVICE_NAME,
            index: NEAR_INDEX,
            hardware_address: addresses.host,
        };
        let far = VethEnd {
            name: host.name(),
            index: far_index(host),
            hardware_address: addresses.far,
        };
        let namespace = self.namespace.as_fd();
        Netlink::open()?.add_veth(near, far, FAR_MTU_BYTES, namespace)
    }
}

fn far_index(host: Host) -> u32 {
    match host {
        Host::Client => NEAR_INDEX + 1,
        Host::Server => NEAR_INDEX + 2,
    }
}

fn make_socket(largest_bytes: usize) -> Result<(OwnedFd, Ring), FarSideError> {
    let socket = socket::open().map_err(step_error(DeviceStep::Socket))?;
    let ring = Ring::new(socket.as_fd(), largest_bytes).map_err(step_error(DeviceStep::Ring))?;
    Ok((socket, ring))
}

fn turn_host_offloads_off() -> Result<(), Errno> {
    let any = nix::sys::socket::socket(
        AddressFamily::Inet,
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    offloads::turn_off(any.as_fd(), DEVICE_NAME)
}

/// Returns locally administered addresses, the same in every path. A device without address
/// resolution addresses frames to itself. The far end has another address and accepts no frame. The
/// kernel therefore drops each frame after the packet socket has a copy.
fn addresses(host: Host) -> Addresses {
    let last = match host {
        Host::Client => 2,
        Host::Server => 1,
    };
    let hardware_address = |end| -> HardwareAddress { [0x02, 0, 0x77, 0, end, last] };
    Addresses {
        host: hardware_address(0),
        far: hardware_address(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_remedy() {
        let message = step_error(DeviceStep::Pair)(Errno::EOPNOTSUPP).to_string();
        assert!(message.contains("veth pair"), "{message}");
        assert!(message.ends_with("modprobe veth"), "{message}");
        let message = step_error(DeviceStep::Socket)(Errno::EAFNOSUPPORT).to_string();
        assert!(message.ends_with("modprobe af_packet"), "{message}");
        let message = step_error(DeviceStep::Socket)(Errno::EPERM).to_string();
        assert!(
            message.ends_with("--backend tun needs none of it"),
            "{message}"
        );
    }

    #[test]
    fn hardware_addresses_are_four_local_unicast_ones() {
        let all = HOSTS.map(addresses).map(|both| [both.host, both.far]);
        let mut all = all.concat();
        assert!(all.iter().all(|address| address[0] & 0b11 == 0b10));
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 4);
    }
}
