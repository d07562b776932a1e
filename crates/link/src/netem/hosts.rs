//! Makes the hosts and the devices between them, puts profiles in force, closes windows. The hosts
//! are the same as in the other back ends: same names, addresses, routes and anchors. Not for: the
//! commands themselves (see `wires` and `rules`).

use super::rules::{ElementSetup, rules};
use super::run::{ToolCommand, run_all};
use super::statistics::{NetemCounts, NetemWindow};
use super::wires::{Element, host_commands, middle_commands, mtu_commands};
use super::{NetemCapabilities, NetemError};
use crate::clock;
use crate::datapath::forwarder::ending_signals;
use crate::hosts::Host;
use crate::hosts::anchor::start_anchor;
use crate::hosts::device::HostDevice;
use crate::hosts::namespace::{self, RefusedSetting};
use crate::path::{Anchors, Devices, PathError, make_device, make_refusal};
use crate::profile::DEFAULT_MTU_BYTES;
use nix::fcntl::{OFlag, open};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::stat::Mode;
use resolab_record::LinkProfile;
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};

/// The words of tc when the kernel lacks a discipline.
const NO_DISCIPLINE: &str = "qdisc kind is unknown";

/// A path with the kernel's link. No forwarder is necessary; commands to the path come from the
/// thread making the path.
#[derive(Debug)]
pub struct NetemPath {
    /// The capabilities granted by the machine.
    pub capabilities: NetemCapabilities,
    devices: Devices,
    /// The stages in force, without a seed.
    stages: Vec<ElementSetup>,
    mtu_bytes: u32,
    seed: u64,
    window_start: ([NetemCounts; 2], u64),
    /// The hosts' anchors. Dropped last, because the drop ends the hosts.
    _anchors: Anchors,
}

impl NetemPath {
    /// Makes the hosts and the link by a complete profile. The process must have a single thread,
    /// which ends up in the namespace between the hosts.
    pub fn open(profile: &LinkProfile, seed: u64, ipv6: bool) -> Result<Self, NetemError> {
        // What cannot be is refused before anything is made.
        let stages = rules(profile, None)?;
        ending_signals().thread_block().map_err(PathError::Start)?;
        let rootless = namespace::gain_rights().map_err(PathError::Namespaces)?;
        let seeded = probe_kernel()?;
        let mtu_bytes = profile.mtu_bytes.unwrap_or(DEFAULT_MTU_BYTES);
        let (devices, refused_settings, anchors) = make_hosts(mtu_bytes, ipv6)?;
        run_all(&middle_commands(mtu_bytes))?;
        let with_draws = rules(profile, seeded.then_some(seed))?;
        run_all(with_draws.iter().flat_map(|stage| &stage.commands))?;
        Ok(Self {
            capabilities: NetemCapabilities {
                rootless,
                seeded,
                refused_settings,
            },
            devices,
            stages,
            mtu_bytes,
            seed,
            window_start: (NetemCounts::read()?, clock::monotonic_ns()),
            _anchors: anchors,
        })
    }

    /// Puts another profile in force and returns the time. Packets under way stay. Packets waiting
    /// in a queue are lost if the queue's kind or the packet size changes. Without a seed, changed
    /// elements continue with draws from another seed: netem cannot keep the random streams.
    pub fn change(&mut self, profile: &LinkProfile, seed: Option<u64>) -> Result<u64, NetemError> {
        let seed_now = seed.unwrap_or_else(|| self.seed.wrapping_add(1));
        let stages = rules(profile, None)?;
        let with_draws = rules(profile, self.capabilities.seeded.then_some(seed_now))?;
        let mtu_bytes = profile.mtu_bytes.unwrap_or(DEFAULT_MTU_BYTES);
        let resized = mtu_bytes != self.mtu_bytes;
        if resized {
            self.devices.set_mtu(mtu_bytes)?;
            run_all(&mtu_commands(mtu_bytes))?;
            self.mtu_bytes = mtu_bytes;
        }
        for (place, new) in with_draws.iter().enumerate() {
            if seed.is_some() || resized || stages[place] != self.stages[place] {
                self.replace(place, new, resized)?;
            }
        }
        self.stages = stages;
        self.seed = seed_now;
        Ok(clock::monotonic_ns())
    }

    fn replace(
        &mut self,
        place: usize,
        new: &ElementSetup,
        resized: bool,
    ) -> Result<(), NetemError> {
        let old = &self.stages[place];
        let is_queue = old.element == Element::Queue && !old.commands.is_empty();
        if is_queue && (resized || old.disciplines != new.disciplines) {
            let sender_index = usize::from(old.sender == Host::Server);
            let gone = NetemCounts::read()?[sender_index].count_queue_loss();
            let words = format!("qdisc del dev {} root", old.device);
            ToolCommand::new("tc", &words).run()?;
            // The new discipline counts from 0.
            self.window_start.0[sender_index] = self.window_start.0[sender_index].subtract(gone);
        }
        run_all(&new.commands)
    }

    /// Ends the window and begins another.
    pub fn close_window(&mut self) -> Result<NetemWindow, NetemError> {
        let now = (NetemCounts::read()?, clock::monotonic_ns());
        let (start, started_ns) = std::mem::replace(&mut self.window_start, now);
        let mut host_drops = |host| self.devices.new_drops_count(host);
        let (up_drops, down_drops) = (host_drops(Host::Client)?, host_drops(Host::Server)?);
        Ok(NetemWindow {
            started_ns,
            ended_ns: now.1,
            up: now.0[0].subtract(start[0]).summary(up_drops),
            down: now.0[1].subtract(start[1]).summary(down_drops),
        })
    }
}

/// Checks the kernel in this thread's fresh namespace, with its unused loopback. Returns true when
/// sch_netem accepts a seed; an error when the kernel has no sch_netem.
fn probe_kernel() -> Result<bool, NetemError> {
    let tc = |words| ToolCommand::new("tc", words);
    match tc("qdisc add dev lo root netem limit 10").run() {
        Ok(_) => {}
        Err(NetemError::Refused { said, .. }) if said.contains(NO_DISCIPLINE) => {
            return Err(NetemError::NoNetem(said));
        }
        Err(error) => return Err(error),
    }
    // An older tc does not know the word; an older kernel does not give the value back.
    let seeded = tc("qdisc replace dev lo root netem limit 10 seed 7")
        .run()
        .is_ok()
        && tc("qdisc show dev lo").run()?.contains("seed 7");
    tc("qdisc del dev lo root").run()?;
    Ok(seeded)
}

/// Makes both hosts, each with an end of a pair of devices. The other end is in this thread's
/// namespace, the same before and after.
fn make_hosts(
    mtu_bytes: u32,
    ipv6: bool,
) -> Result<(Devices, Vec<RefusedSetting>, Anchors), NetemError> {
    // Not closed on exec: the tools find it under /proc/self/fd.
    let middle =
        open("/proc/self/ns/net", OFlag::O_RDONLY, Mode::empty()).map_err(NetemError::Middle)?;
    // A device that speaks IPv6 would add packets of its own; without IPv6 there is no such file.
    let _ = fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    let mut anchors = Anchors(Vec::new());
    let (client, refused_settings) =
        make_host(Host::Client, mtu_bytes, ipv6, &middle, &mut anchors)?;
    let (server, _) = make_host(Host::Server, mtu_bytes, ipv6, &middle, &mut anchors)?;
    setns(&middle, CloneFlags::CLONE_NEWNET).map_err(NetemError::Middle)?;
    let devices = Devices {
        client,
        server,
        largest_mtu_bytes: u32::MAX,
    };
    Ok((devices, refused_settings, anchors))
}

fn make_host(
    host: Host,
    mtu_bytes: u32,
    ipv6: bool,
    middle: &OwnedFd,
    anchors: &mut Anchors,
) -> Result<(HostDevice, Vec<RefusedSetting>), NetemError> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(PathError::Namespaces)?;
    let refused_settings = namespace::configure_network(ipv6);
    run_all(&host_commands(host, middle.as_raw_fd()))?;
    let device = make_device(host, mtu_bytes, ipv6)?;
    let anchor = start_anchor(host).map_err(|error| make_refusal(host, "anchor process", error))?;
    anchors.0.push(anchor);
    Ok((device, refused_settings))
}
