//! Makes a path: both hosts with devices, addresses and routes, each held by an anchor, and the
//! forwarder between the hosts. Everything belongs to this process and ends with the process. Not
//! for: the command line or records on standard output.

use crate::datapath::forwarder::{
    ForwarderControl, ForwarderError, PacketForwarder, ending_signals,
};
use crate::datapath::realtime_scheduling;
use crate::devices::device::{Device, TunDevice};
use crate::devices::packet_device::far_side::{FarNamespace, FarSideError};
use crate::hosts::anchor::{end_anchor, start_anchor};
use crate::hosts::capabilities::Capabilities;
use crate::hosts::device::{self, HostDevice};
use crate::hosts::namespace::{self, RefusedSetting};
use crate::hosts::remedies;
use crate::hosts::tun;
use crate::hosts::{
    DEVICE_NAME, FURTHER_SERVER_NETWORKS, HOSTS, Host, LINK_PREFIX_LENGTH, PREFIX_LENGTH_V6,
    SERVER_NETWORK, SERVER_NETWORK_PREFIX_LENGTH, SERVER_NETWORK_V6,
};
use crate::profile::DEFAULT_MTU_BYTES;
use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::Pid;
use resolab_record::LinkProfile;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use thiserror::Error;

/// The reason for a failed path; messages read after "failed to".
#[derive(Debug, Error)]
pub enum PathError {
    /// No right to make namespaces.
    #[error("make network namespaces: {0}; {remedy}", remedy = remedies::suggest_for_namespaces())]
    Namespaces(Errno),
    /// No TUN device can be made.
    #[error("open {file}: {0}; {remedy}", file = tun::DEVICE_FILE, remedy = remedies::suggest_for_tun(*.0))]
    Tun(Errno),
    /// No packet device can be made.
    #[error(transparent)]
    Packet(#[from] FarSideError),
    /// A network setting was refused.
    #[error("set up the {host} host ({step}): {error}")]
    Network {
        /// Name of the host.
        host: &'static str,
        /// Name of the failed step.
        step: &'static str,
        /// Error number from the kernel.
        error: Errno,
    },
    /// The remaining set-up failed.
    #[error("start the ferry: {0}")]
    Start(Errno),
    /// The forwarder failed while carrying packets.
    #[error(transparent)]
    Forwarder(#[from] ForwarderError),
}

/// The kind of device joining a host to the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// A TUN device per host.
    Tun,
    /// A virtual Ethernet pair and a packet socket.
    Packet,
}

/// The maker of the hosts' devices.
enum DeviceMaker {
    Tun { offloads: bool },
    Packet(FarNamespace),
}

impl DeviceMaker {
    fn new(options: PathOptions, mtu_bytes: u32) -> Result<Self, PathError> {
        Ok(match options.backend {
            Backend::Tun => Self::Tun {
                offloads: options.offloads,
            },
            Backend::Packet => Self::Packet(FarNamespace::enter(mtu_bytes as usize)?),
        })
    }

    /// Makes a device in this thread's network namespace.
    fn make(&mut self, host: Host) -> Result<Device, PathError> {
        Ok(match self {
            Self::Tun { offloads } => {
                let descriptor = tun::create(DEVICE_NAME, *offloads).map_err(PathError::Tun)?;
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

/// The options of a path.
#[derive(Debug, Clone, Copy)]
pub struct PathOptions {
    /// Kind of device joining the hosts to the link.
    pub backend: Backend,
    /// True for IPv6 addresses in both hosts.
    pub ipv6: bool,
    /// True when the hosts' kernels leave checksums and the cutting of TCP's trains to the
    /// forwarder.
    pub offloads: bool,
}

/// A path ready to run. The thread making the path still has to run the forwarder.
#[derive(Debug)]
pub struct Path {
    /// The forwarder moving the packets.
    pub forwarder: PacketForwarder,
    /// The control for requests to the forwarder.
    pub control: ForwarderControl,
    /// The devices of both hosts.
    pub devices: Devices,
    /// The capabilities granted by the machine.
    pub capabilities: Capabilities,
    /// The processes holding the hosts.
    pub anchors: Anchors,
}

/// The anchor processes. A drop ends the hosts at once, instead of at the end of this process.
#[derive(Debug)]
pub struct Anchors(pub(crate) Vec<Pid>);

impl Drop for Anchors {
    fn drop(&mut self) {
        self.0.drain(..).for_each(end_anchor);
    }
}

/// The two devices in the kernel's bookkeeping.
#[derive(Debug)]
pub struct Devices {
    pub(crate) client: HostDevice,
    pub(crate) server: HostDevice,
    /// The largest possible MTU of the devices.
    pub largest_mtu_bytes: u32,
}

impl Path {
    /// Makes the hosts and the link by a complete profile. The process must have a single thread;
    /// the thread gets real-time scheduling where possible.
    pub fn open(profile: &LinkProfile, seed: u64, options: PathOptions) -> Result<Self, PathError> {
        ending_signals().thread_block().map_err(PathError::Start)?;
        // Before the user namespace, inside which the right to it does not count.
        let realtime_scheduling = realtime_scheduling::request_realtime();
        let rootless = namespace::gain_rights().map_err(PathError::Namespaces)?;
        let mtu_bytes = profile.mtu_bytes.unwrap_or(DEFAULT_MTU_BYTES);
        let mut anchors = Anchors(Vec::new());
        let mut maker = DeviceMaker::new(options, mtu_bytes)?;
        let largest_mtu_bytes = maker.largest_mtu_bytes();
        let mut make = |host| make_host(host, mtu_bytes, options.ipv6, &mut maker, &mut anchors);
        let (client_end, client, refused_settings) = make(Host::Client)?;
        let (server_end, server, _) = make(Host::Server)?;
        let devices = Devices {
            client,
            server,
            largest_mtu_bytes,
        };
        let (forwarder, control) = PacketForwarder::new(client_end, server_end, profile, seed)?;
        let capabilities = Capabilities {
            realtime_scheduling,
            rootless,
            refused_settings,
        };
        Ok(Self {
            forwarder,
            control,
            devices,
            capabilities,
            anchors,
        })
    }
}

impl Devices {
    /// Sets both devices' MTU.
    pub fn set_mtu(&mut self, mtu_bytes: u32) -> Result<(), PathError> {
        for host in HOSTS {
            self.device(host)
                .set_mtu(mtu_bytes)
                .map_err(|error| make_refusal(host, "MTU", error))?;
        }
        Ok(())
    }

    /// Returns the number of packets sent by `host` and dropped by the device before reading, since
    /// the last call.
    pub fn new_drops_count(&mut self, host: Host) -> Result<u64, PathError> {
        self.device(host)
            .new_drops_count()
            .map_err(|error| make_refusal(host, "reading its drop counter", error))
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
) -> Result<(Device, HostDevice, Vec<RefusedSetting>), PathError> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(PathError::Namespaces)?;
    let refused_settings = namespace::configure_network(ipv6);
    let end = maker.make(host)?;
    let device = make_device(host, mtu_bytes, ipv6)?;
    anchors
        .0
        .push(start_anchor(host).map_err(|error| make_refusal(host, "anchor process", error))?);
    Ok((end, device, refused_settings))
}

pub(crate) fn make_device(host: Host, mtu_bytes: u32, ipv6: bool) -> Result<HostDevice, PathError> {
    let mut device = HostDevice::bring_up(mtu_bytes)
        .map_err(|device::RefusedStep { step, error }| make_refusal(host, step, error))?;
    give_addresses(&mut device, host, false).map_err(|error| make_refusal(host, "IPv4", error))?;
    if ipv6 {
        give_addresses(&mut device, host, true)
            .map_err(|error| make_refusal(host, "IPv6", error))?;
    }
    Ok(device)
}

/// Adds the host's address of one family, and the routes: for the client a route to everywhere, for
/// the server the delivery of whole networks.
fn give_addresses(device: &mut HostDevice, host: Host, ipv6: bool) -> Result<(), Errno> {
    let (address, link_prefix): (IpAddr, _) = if ipv6 {
        (host.address_v6().into(), PREFIX_LENGTH_V6)
    } else {
        (host.address().into(), LINK_PREFIX_LENGTH)
    };
    device.add_address(address, link_prefix)?;
    let (network, prefix): (IpAddr, _) = match (host, ipv6) {
        (Host::Client, false) => (Ipv4Addr::UNSPECIFIED.into(), 0),
        (Host::Client, true) => (Ipv6Addr::UNSPECIFIED.into(), 0),
        (Host::Server, false) => (SERVER_NETWORK.into(), SERVER_NETWORK_PREFIX_LENGTH),
        (Host::Server, true) => (SERVER_NETWORK_V6.into(), PREFIX_LENGTH_V6),
    };
    match host {
        Host::Client => device.add_route(network, prefix),
        Host::Server => {
            device.add_local_route(network, prefix)?;
            let further = FURTHER_SERVER_NETWORKS.iter().filter(|_| !ipv6);
            for &(network, prefix) in further {
                device.add_local_route(network.into(), prefix)?;
            }
            Ok(())
        }
    }
}

pub(crate) fn make_refusal(host: Host, step: &'static str, error: Errno) -> PathError {
    PathError::Network {
        host: host.name(),
        step,
        error,
    }
}
