//! Making a path: both hosts with their devices, addresses and routes, each held by an anchor, and
//! the ferry between them. Everything belongs to this process and vanishes with it.
//! Not for: the command line or records on standard output.

use crate::carrying::ferry::{Ferry, FerryControl, FerryError, ending_signals};
use crate::carrying::punctual;
use crate::devices::device::{Device, TunDevice};
use crate::devices::packet_device::far_side::{FarSide, FarSideError};
use crate::hosts::anchor::{drop_anchor, weigh_anchor};
use crate::hosts::namespace::{self, RefusedSetting};
use crate::hosts::tun;
use crate::hosts::{
    DEVICE_NAME, FURTHER_SERVER_NETWORKS, HOSTS, Host, LINK_PREFIX_LENGTH, PREFIX_LENGTH_V6,
    SERVER_NETWORK, SERVER_NETWORK_PREFIX_LENGTH, SERVER_NETWORK_V6,
};
use crate::netlink::{Netlink, RouteKind};
use crate::profile::DEFAULT_MTU_BYTES;
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::Pid;
use resolab_record::LinkProfile;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use thiserror::Error;

/// Transmit queue of the devices, in packets. The default of 500 drops packets before we read them
/// when TCP sends a burst (mahimahi issue 132).
const DEVICE_QUEUE_PACKETS: u32 = 10_000;

/// Why there is no path; messages read after "failed to".
#[derive(Debug, Error)]
pub enum PathError {
    /// No right to make namespaces.
    #[error(
        "make network namespaces: {0}; run as root, or allow user namespaces \
         (user.max_user_namespaces, kernel.unprivileged_userns_clone, \
         kernel.apparmor_restrict_unprivileged_userns)"
    )]
    Namespaces(Errno),
    /// No TUN device.
    #[error("open {file}: {0}; {1}", file = tun::DEVICE_FILE)]
    Tun(Errno, &'static str),
    /// No packet device.
    #[error(transparent)]
    Packet(#[from] FarSideError),
    /// A network setting was refused.
    #[error("set up the {host} host ({step}): {error}")]
    Network {
        /// Whose.
        host: &'static str,
        /// What was tried.
        step: &'static str,
        /// Why not.
        error: Errno,
    },
    /// The rest of the set-up.
    #[error("start the ferry: {0}")]
    Start(Errno),
    /// The ferry.
    #[error(transparent)]
    Ferry(#[from] FerryError),
}

/// What joins a host to the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// A TUN device.
    Tun,
    /// A virtual Ethernet pair and a packet socket.
    Packet,
}

/// Makes the hosts' devices.
enum DeviceMaker {
    Tun { offloads: bool },
    Packet(FarSide),
}

impl DeviceMaker {
    fn new(wishes: Wishes, mtu_bytes: u32) -> Result<Self, PathError> {
        Ok(match wishes.backend {
            Backend::Tun => Self::Tun {
                offloads: wishes.offloads,
            },
            Backend::Packet => Self::Packet(FarSide::enter(mtu_bytes as usize)?),
        })
    }

    /// In the network namespace this thread is in.
    fn make(&mut self, host: Host) -> Result<Device, PathError> {
        Ok(match self {
            Self::Tun { offloads } => {
                let descriptor = tun::create(DEVICE_NAME, *offloads).map_err(tun_error)?;
                Device::Tun(TunDevice::new(descriptor))
            }
            Self::Packet(far_side) => Device::Packet(far_side.make_device(host)?),
        })
    }

    fn largest_mtu_bytes(&self) -> u32 {
        match self {
            Self::Tun { .. } => u32::MAX,
            Self::Packet(far_side) => far_side
                .largest_packet_bytes()
                .map_or(0, |bytes| bytes as u32),
        }
    }
}

/// What a path can be like.
#[derive(Debug, Clone, Copy)]
pub struct Wishes {
    /// What joins the hosts to the link.
    pub backend: Backend,
    /// IPv6 addresses in both hosts.
    pub ipv6: bool,
    /// Checksums and the cutting of TCP's trains left to the ferry by the hosts' kernels.
    pub offloads: bool,
}

/// A path that stands. The ferry still has to be run, on the thread that made it.
#[derive(Debug)]
pub struct Path {
    /// Moves the packets.
    pub ferry: Ferry,
    /// Talks to the ferry.
    pub control: FerryControl,
    /// The hosts' devices.
    pub devices: Devices,
    /// What was granted.
    pub grants: Grants,
    /// What keeps the hosts.
    pub anchors: Anchors,
}

/// The anchor processes; dropping them ends the hosts at once, not only with this process.
#[derive(Debug)]
pub struct Anchors(pub(crate) Vec<Pid>);

impl Drop for Anchors {
    fn drop(&mut self) {
        self.0.drain(..).for_each(weigh_anchor);
    }
}

/// What the machine granted.
#[derive(Debug)]
pub struct Grants {
    /// Whether the ferry's thread has real-time scheduling.
    pub realtime_scheduling: bool,
    /// Whether a user namespace was needed.
    pub rootless: bool,
    /// Settings inside the hosts that could not be made.
    pub refused_settings: Vec<RefusedSetting>,
}

/// The two devices, as seen by the kernel's bookkeeping.
#[derive(Debug)]
pub struct Devices {
    pub(crate) client: HostDevice,
    pub(crate) server: HostDevice,
    /// The largest MTU they can be given.
    pub largest_mtu_bytes: u32,
}

#[derive(Debug)]
pub(crate) struct HostDevice {
    netlink: Netlink,
    index: u32,
    reported_drops_count: u64,
    pub(crate) refused_settings: Vec<RefusedSetting>,
}

impl Path {
    /// Make the hosts and the link by a complete profile. The process must have one thread only;
    /// that thread is given real-time scheduling where possible.
    pub fn open(profile: &LinkProfile, seed: u64, wishes: Wishes) -> Result<Self, PathError> {
        ending_signals().thread_block().map_err(PathError::Start)?;
        // Before the user namespace, inside which the right to it does not count.
        let realtime_scheduling = punctual::make_punctual();
        let rootless = namespace::gain_rights().map_err(PathError::Namespaces)?;
        let mtu_bytes = profile.mtu_bytes.unwrap_or(DEFAULT_MTU_BYTES);
        let mut anchors = Anchors(Vec::new());
        let mut maker = DeviceMaker::new(wishes, mtu_bytes)?;
        let largest_mtu_bytes = maker.largest_mtu_bytes();
        let mut make = |host| make_host(host, mtu_bytes, wishes.ipv6, &mut maker, &mut anchors);
        let (client_end, client) = make(Host::Client)?;
        let (server_end, server) = make(Host::Server)?;
        let devices = Devices {
            client,
            server,
            largest_mtu_bytes,
        };
        let (ferry, control) = Ferry::new(client_end, server_end, profile, seed)?;
        let refused_settings = devices.client.refused_settings.clone();
        let grants = Grants {
            realtime_scheduling,
            rootless,
            refused_settings,
        };
        Ok(Self {
            ferry,
            control,
            devices,
            grants,
            anchors,
        })
    }
}

impl Devices {
    /// Set both devices' MTU.
    pub fn set_mtu(&mut self, mtu_bytes: u32) -> Result<(), PathError> {
        for host in HOSTS {
            let device = self.device(host);
            device
                .netlink
                .set_sizes(device.index, mtu_bytes, DEVICE_QUEUE_PACKETS)
                .map_err(|error| refused(host, "MTU", error))?;
        }
        Ok(())
    }

    /// Packets `host` sent that its device dropped before they were read, since the last time this
    /// was asked.
    pub fn new_drops_count(&mut self, host: Host) -> Result<u64, PathError> {
        let device = self.device(host);
        let total = device
            .netlink
            .tx_dropped_count(device.index)
            .map_err(|error| refused(host, "reading its drop counter", error))?;
        let new = total.saturating_sub(device.reported_drops_count);
        device.reported_drops_count = total;
        Ok(new)
    }

    fn device(&mut self, host: Host) -> &mut HostDevice {
        match host {
            Host::Client => &mut self.client,
            Host::Server => &mut self.server,
        }
    }
}

fn make_host(
    host: Host,
    mtu_bytes: u32,
    ipv6: bool,
    maker: &mut DeviceMaker,
    anchors: &mut Anchors,
) -> Result<(Device, HostDevice), PathError> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(PathError::Namespaces)?;
    let refused_settings = namespace::configure_network(ipv6);
    let end = maker.make(host)?;
    let device = make_device(host, mtu_bytes, ipv6, refused_settings)?;
    anchors
        .0
        .push(drop_anchor(host).map_err(|error| refused(host, "anchor process", error))?);
    Ok((end, device))
}

pub(crate) fn make_device(
    host: Host,
    mtu_bytes: u32,
    ipv6: bool,
    refused_settings: Vec<RefusedSetting>,
) -> Result<HostDevice, PathError> {
    let step = |step| move |error| refused(host, step, error);
    let mut netlink = Netlink::open().map_err(step("rtnetlink"))?;
    let loopback = if_nametoindex("lo").map_err(step("loopback"))?;
    let index = if_nametoindex(DEVICE_NAME).map_err(step("device"))?;
    netlink.set_up(loopback).map_err(step("loopback up"))?;
    netlink
        .clear_multicast(index)
        .map_err(step("no multicast"))?;
    netlink
        .set_sizes(index, mtu_bytes, DEVICE_QUEUE_PACKETS)
        .map_err(step("MTU and queue"))?;
    netlink.set_up(index).map_err(step("device up"))?;
    give_addresses(&mut netlink, host, (index, loopback), false).map_err(step("IPv4"))?;
    if ipv6 {
        give_addresses(&mut netlink, host, (index, loopback), true).map_err(step("IPv6"))?;
    }
    Ok(HostDevice {
        netlink,
        index,
        reported_drops_count: 0,
        refused_settings,
    })
}

/// The host's address of one family, and its routes: of the client, that to everywhere; of the
/// server, those by which whole networks are delivered to it.
fn give_addresses(
    netlink: &mut Netlink,
    host: Host,
    (device, loopback): (u32, u32),
    ipv6: bool,
) -> Result<(), Errno> {
    let (address, link_prefix): (IpAddr, _) = if ipv6 {
        (host.address_v6().into(), PREFIX_LENGTH_V6)
    } else {
        (host.address().into(), LINK_PREFIX_LENGTH)
    };
    netlink.add_address(device, address, link_prefix)?;
    let (network, prefix): (IpAddr, _) = match (host, ipv6) {
        (Host::Client, false) => (Ipv4Addr::UNSPECIFIED.into(), 0),
        (Host::Client, true) => (Ipv6Addr::UNSPECIFIED.into(), 0),
        (Host::Server, false) => (SERVER_NETWORK.into(), SERVER_NETWORK_PREFIX_LENGTH),
        (Host::Server, true) => (SERVER_NETWORK_V6.into(), PREFIX_LENGTH_V6),
    };
    match host {
        Host::Client => netlink.add_route(device, RouteKind::Unicast, network, prefix),
        Host::Server => {
            netlink.add_route(loopback, RouteKind::Local, network, prefix)?;
            let further = FURTHER_SERVER_NETWORKS.iter().filter(|_| !ipv6);
            for &(network, prefix) in further {
                netlink.add_route(loopback, RouteKind::Local, network.into(), prefix)?;
            }
            Ok(())
        }
    }
}

pub(crate) fn refused(host: Host, step: &'static str, error: Errno) -> PathError {
    PathError::Network {
        host: host.name(),
        step,
        error,
    }
}

fn tun_error(error: Errno) -> PathError {
    let remedy = if [Errno::ENOENT, Errno::ENODEV, Errno::ENXIO].contains(&error) {
        "load the kernel module: modprobe tun"
    } else if error == Errno::EACCES {
        "let ordinary users open it (chmod 0666 as root), or take the other back end: \
         backend = \"packet\" under [instrument] in a plan, --backend packet for resolab-core path"
    } else {
        "the kernel refuses TUN devices here"
    };
    PathError::Tun(error, remedy)
}
