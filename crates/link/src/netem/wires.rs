//! The commands making the devices: one pair from each host into the middle, three pairs inside the
//! middle. Every packet arriving at a device goes to the next without bridging or routing. Not for:
//! delaying or dropping packets (see `rules`).
//!
//! No packet is added and no packet is changed. There is no address resolution: both ends have the
//! same MAC address, and every receiver accepts every packet. No time to live is counted down, and
//! no device in the middle speaks a protocol. Segmentation offload is off everywhere: a packet in
//! the queue is a packet on the wire.

use super::run::ToolCommand;
use crate::hosts::{DEVICE_NAME, Host};
use std::os::fd::RawFd;

/// MAC address of both hosts: locally administered.
const MAC_ADDRESS: &str = "02:00:0a:4d:00:01";
/// Transmit queue of the devices, in packets, the same as in the other back ends.
const DEVICE_QUEUE_PACKETS: u32 = 10_000;

/// Devices of the middle, in the order of a packet going up. Each pair of a `c` and an `s` is
/// joined, and the two ends are joined to the hosts.
pub const DEVICES: [&str; 8] = [
    "client0", "hop1c", "hop1s", "hop2c", "hop2s", "hop3c", "hop3s", "server0",
];

/// The elements on a packet's path, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// Drops packets at random.
    Loss,
    /// Lets packets onto the link at the link's rate, and drops packets without room.
    Queue,
    /// Takes a packet's transmission time on the link.
    Link,
    /// Takes the one-way delay of the path.
    Delay,
}

/// All elements in the order of a packet's path.
pub const ELEMENTS: [Element; 4] = [Element::Loss, Element::Queue, Element::Link, Element::Delay];

/// Returns the device with the disciplines of `element` for packets from `sender`.
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

/// Returns the device for packets from `sender` entering the middle.
pub fn entry_device(sender: Host) -> &'static str {
    match sender {
        Host::Client => DEVICES[0],
        Host::Server => DEVICES[7],
    }
}

/// Returns the commands for a host: a pair of devices, with one end in the middle's network
/// namespace. The descriptor `middle` refers to the namespace, and must be open in the tools, too.
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

/// Returns the commands for the middle, to run after the hosts'.
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
        commands.push(redirect_packets(DEVICES[from], DEVICES[to]));
        commands.push(redirect_packets(DEVICES[to], DEVICES[from]));
    }
    commands
}

/// Returns the commands setting every device's MTU in the middle to the link's packet size. (CoDel
/// uses the device's MTU.)
pub fn mtu_commands(mtu_bytes: u32) -> Vec<ToolCommand> {
    DEVICES
        .map(|device| ip(&format!("link set dev {device} mtu {mtu_bytes}")))
        .into()
}

/// Returns the command joining two devices. Uses cls_u32 rather than cls_matchall: more kernels
/// have cls_u32.
fn redirect_packets(from: &str, to: &str) -> ToolCommand {
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
                    .any(|command| command.starts_with("ethtool -K access0 tx off"))
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
