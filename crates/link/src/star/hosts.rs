//! Makes an internet: every host with a device, addresses and routes, held by an anchor, and the
//! hub between the hosts. Everything belongs to this process and ends with the process.
//! Not for: the command line or records on standard output.

use crate::datapath::forwarder::ending_signals;
use crate::datapath::realtime_scheduling;
use crate::devices::device::{Device, TunDevice};
use crate::hosts::anchor::start_anchor;
use crate::hosts::capabilities::Capabilities;
use crate::hosts::device::{HostDevice, RefusedStep};
use crate::hosts::namespace::{self, RefusedSetting};
use crate::hosts::{DEVICE_NAME, remedies, tun};
use crate::path::Anchors;
use crate::profile::DEFAULT_MTU_BYTES;
use crate::star::config::prefixes;
use crate::star::control::StarControl;
use crate::star::hub::Hub;
use crate::star::model::StarModel;
use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use resolab_record::{InternetConfig, InternetHost};
use std::net::{IpAddr, Ipv4Addr};
use thiserror::Error;

/// The reason for a failed internet; messages read after "failed to".
#[derive(Debug, Error)]
pub enum StarError {
    /// No right to make namespaces.
    #[error("make network namespaces: {0}; {remedy}", remedy = remedies::suggest_for_namespaces())]
    Namespaces(Errno),
    /// No TUN device can be made.
    #[error("open {file}: {0}; {remedy}", file = tun::DEVICE_FILE, remedy = remedies::suggest_for_tun(*.0))]
    Tun(Errno),
    /// A network setting was refused.
    #[error("set up host {host} ({step}): {error}")]
    Network {
        /// Name of the host.
        host: String,
        /// Name of the failed step.
        step: &'static str,
        /// Error number from the kernel.
        error: Errno,
    },
    /// The remaining set-up failed.
    #[error("start the exchange: {0}")]
    Start(Errno),
}

/// An internet ready to run. The thread making the internet still has to run the hub.
#[derive(Debug)]
pub struct Star {
    /// The hub carrying the packets.
    pub hub: Hub,
    /// The control for requests to the hub.
    pub control: StarControl,
    /// The hosts' devices, in the configuration's order.
    pub devices: Vec<HostDevice>,
    /// The capabilities granted by the machine.
    pub capabilities: Capabilities,
    /// The processes holding the hosts.
    pub anchors: Anchors,
}

impl Star {
    /// Makes everything by a complete configuration. The process must have a single thread; the
    /// thread gets real-time scheduling where possible.
    pub fn open(config: &InternetConfig) -> Result<Self, StarError> {
        ending_signals().thread_block().map_err(StarError::Start)?;
        // Before the user namespace, inside which the right to it does not count.
        let mut capabilities = Capabilities {
            realtime_scheduling: realtime_scheduling::request_realtime(),
            rootless: namespace::gain_rights().map_err(StarError::Namespaces)?,
            refused_settings: Vec::new(),
        };
        let mtu_bytes = config.mtu_bytes.unwrap_or(DEFAULT_MTU_BYTES);
        let mut anchors = Anchors(Vec::new());
        let mut ends = Vec::new();
        let mut devices = Vec::new();
        for host in &config.hosts {
            let made = make_host(host, mtu_bytes, &mut anchors)?;
            ends.push(made.end);
            devices.push(made.device);
            capabilities.refused_settings = made.refused_settings;
        }
        let (hub, control) = Hub::new(ends, StarModel::new(config)).map_err(StarError::Start)?;
        Ok(Self {
            hub,
            control,
            devices,
            capabilities,
            anchors,
        })
    }
}

struct MadeHost {
    end: Device,
    device: HostDevice,
    refused_settings: Vec<RefusedSetting>,
}

fn make_host(
    host: &InternetHost,
    mtu_bytes: u32,
    anchors: &mut Anchors,
) -> Result<MadeHost, StarError> {
    let refused = |step| move |error| network_error(host, RefusedStep { step, error });
    unshare(CloneFlags::CLONE_NEWNET).map_err(StarError::Namespaces)?;
    let refused_settings = namespace::configure_network(false);
    let descriptor = tun::create(DEVICE_NAME, true).map_err(StarError::Tun)?;
    let mut device = HostDevice::bring_up(mtu_bytes).map_err(|step| network_error(host, step))?;
    give_addresses(&mut device, host).map_err(refused("addresses"))?;
    let anchor = start_anchor(&host.name).map_err(refused("anchor process"))?;
    anchors.0.push(anchor);
    Ok(MadeHost {
        end: Device::Tun(TunDevice::new(descriptor)),
        device,
        refused_settings,
    })
}

/// Adds addresses and routes. All of the host's networks are here; all other addresses are beyond
/// the device.
fn give_addresses(device: &mut HostDevice, host: &InternetHost) -> Result<(), Errno> {
    if let Some(address) = host.address {
        device.add_address(address.into(), 32)?;
    }
    device.add_route(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0)?;
    for prefix in prefixes(host) {
        let own = prefix.length_bits() == 32 && Some(prefix.first()) == host.address;
        if !own {
            device.add_local_route(prefix.first().into(), prefix.length_bits())?;
        }
    }
    Ok(())
}

fn network_error(host: &InternetHost, refused: RefusedStep) -> StarError {
    StarError::Network {
        host: host.name.clone(),
        step: refused.step,
        error: refused.error,
    }
}
