//! The commands that make the devices: one pair from each host into the middle, three pairs inside
//! it, everything that comes in at one device handed to the next without bridging or routing.
//! Not for: delaying or dropping anything (that is `rules`).
//!
//! No packet of ours is added and none is changed: there is no address resolution (both ends have
//! one MAC address, so that every packet is for whoever gets it), no time to live is counted down,
//! and no device in the middle speaks a protocol. Segmentation offload is off everywhere, so that a
//! packet in the queue is a packet on the wire.

use super::run::ToolCommand;
use crate::hosts::{DEVICE_NAME, Host};
use std::os::fd::RawFd;

/// Of both hosts: locally administered.
const MAC_ADDRESS: &str = "02:00:0a:4d:00:01";
/// As the other back ends' devices.
const DEVICE_QUEUE_PACKETS: u32 = 10_000;

/// Devices of the middle, in the order a packet going up meets them; each pair of a `c` and an `s`
/// is joined, as are the ends with the hosts.
pub const DEVICES: [&str; 8] = [
    "client0", "hop1c", "hop1s", "hop2c", "hop2s", "hop3c", "hop3s", "server0",
];

/// What a packet meets, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// Drops at random.
    Loss,
    /// Lets packets onto the link at its rate and drops what finds no room.
    Queue,
    /// Takes the time a packet needs on the link.
    Link,
    /// Takes the time of the way.
    Delay,
}

/// In the order a packet meets them.
pub const ELEMENTS: [Element; 4] = [Element::Loss, Element::Queue, Element::Link, Element::Delay];

/// The device out of which packets from `sender` go when they meet `element`.
pub fn exit_device(sender: Host, element: Element) -> &'static str {
    let up = match element {
        Element::Loss => 1,
        Element::Queue => 3,
        Element::Link => 5,
        Element::Delay => 7,
    };
    match sender {
        Host::Client => DEVICES[up],
        Host::Server => DEVICES[7 - up],
    }
}

/// The device through which packets from `sender` come into the middle.
pub fn entry_device(sender: Host) -> &'static str {
    match sender {
        Host::Client => DEVICES[0],
        Host::Server => DEVICES[7],
    }
}

/// In a host: a pair of devices, one of which lands in the network namespace that the descriptor
/// `middle` (open in the tools, too) stands for.
pub fn host_commands(host: Host, middle: RawFd) -> Vec<ToolCommand> {
    let peer = entry_device(host);
    let mut commands = vec![
        ip(&format!(
            "link add name {DEVICE_NAME} address {MAC_ADDRESS} type veth \
             peer name {peer} netns /proc/self/fd/{middle}"
        )),
        ip(&format!("link set dev {DEVICE_NAME} arp off")),
    ];
    commands.push(offloads_off(DEVICE_NAME));
    commands
}

/// In the middle, after the hosts.
pub fn middle_commands(mtu_bytes: u32) -> Vec<ToolCommand> {
    let mut commands: Vec<ToolCommand> = [1, 2, 3]
        .map(|hop| {
            ip(&format!(
                "link add name hop{hop}c type veth peer name hop{hop}s"
            ))
        })
        .into();
    commands.extend(mtu_commands(mtu_bytes));
    for device in DEVICES {
        commands.push(offloads_off(device));
        commands.push(ip(&format!(
            "link set dev {device} txqueuelen {DEVICE_QUEUE_PACKETS} up"
        )));
        commands.push(tc(&format!("qdisc add dev {device} ingress")));
    }
    for (from, to) in [(0, 1), (2, 3), (4, 5), (6, 7)] {
        commands.push(hand_over(DEVICES[from], DEVICES[to]));
        commands.push(hand_over(DEVICES[to], DEVICES[from]));
    }
    commands
}

/// In the middle: every device as large as the link's packets (CoDel goes by the device's).
pub fn mtu_commands(mtu_bytes: u32) -> Vec<ToolCommand> {
    DEVICES
        .map(|device| ip(&format!("link set dev {device} mtu {mtu_bytes}")))
        .into()
}

/// cls_u32 rather than cls_matchall: more kernels have it.
fn hand_over(from: &str, to: &str) -> ToolCommand {
    tc(&format!(
        "filter add dev {from} parent ffff: protocol all u32 match u32 0 0 \
         action mirred egress redirect dev {to}"
    ))
}

fn offloads_off(device: &str) -> ToolCommand {
    ToolCommand::new(
        "ethtool",
        &format!("-K {device} tx off sg off tso off gso off gro off tx-udp-segmentation off"),
    )
}

fn ip(arguments: &str) -> ToolCommand {
    ToolCommand::new("ip", arguments)
}

fn tc(arguments: &str) -> ToolCommand {
    ToolCommand::new("tc", arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::HOSTS;

    fn text(commands: &[ToolCommand]) -> Vec<String> {
        commands.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_element_has_a_device_of_its_own_in_each_direction() {
        let mut devices: Vec<&str> = HOSTS
            .iter()
            .flat_map(|host| ELEMENTS.map(|element| exit_device(*host, element)))
            .collect();
        let up = &devices[..4];
        assert_eq!(up, ["hop1c", "hop2c", "hop3c", "server0"]);
        assert_eq!(&devices[4..], ["hop3s", "hop2s", "hop1s", "client0"]);
        devices.sort_unstable();
        devices.dedup();
        assert_eq!(devices.len(), 8);
    }

    #[test]
    fn offloads_are_off_on_every_end() {
        let commands = text(&middle_commands(1_500));
        for device in DEVICES {
            let wanted = format!(
                "ethtool -K {device} tx off sg off tso off gso off gro off tx-udp-segmentation off"
            );
            assert!(commands.contains(&wanted), "{device}");
        }
        for host in HOSTS {
            let commands = text(&host_commands(host, 9));
            assert!(
                commands
                    .iter()
                    .any(|one| one.starts_with("ethtool -K access0 tx off"))
            );
        }
    }

    #[test]
    fn a_host_gets_one_end_and_the_middle_the_other() {
        let commands = text(&host_commands(Host::Server, 9));
        assert_eq!(
            commands[0],
            "ip link add name access0 address 02:00:0a:4d:00:01 type veth peer name server0 \
             netns /proc/self/fd/9"
        );
        assert_eq!(commands[1], "ip link set dev access0 arp off");
    }

    #[test]
    fn whatever_comes_in_goes_on_both_ways() {
        let commands = text(&middle_commands(1_280));
        for (from, to) in [
            ("client0", "hop1c"),
            ("hop1s", "hop2c"),
            ("hop2s", "hop3c"),
            ("hop3s", "server0"),
        ] {
            for (from, to) in [(from, to), (to, from)] {
                let wanted = format!(
                    "tc filter add dev {from} parent ffff: protocol all u32 match u32 0 0 action \
                     mirred egress redirect dev {to}"
                );
                assert!(commands.contains(&wanted), "{from} to {to}");
            }
        }
        assert!(commands.contains(&"ip link set dev hop2c mtu 1280".to_owned()));
    }
}
