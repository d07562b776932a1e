//! The kernel's counters on the devices and disciplines of the middle, as the packets, bytes and
//! drops of a window. Not for: lateness and flows, of which the kernel keeps no record.

use super::NetemError;
use super::run::ToolCommand;
use super::wires::{ELEMENTS, Element, entry_device, exit_device};
use crate::hosts::Host;
use resolab_record::DirectionSummary;
use serde_json::Value;

const ETHERNET_BYTES: u64 = 14;

/// Totals of one direction since the devices were made. Totals wrap when a discipline is made anew.
/// The wrap does no harm: only differences count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NetemCounts {
    packets_in: u64,
    packets_out: u64,
    bytes_in: u64,
    bytes_out: u64,
    dropped_loss: u64,
    dropped_queue: u64,
    dropped_codel: u64,
    dropped_device: u64,
    /// Packets in the queue now (no total); they are lost when the queue is made anew.
    queued: u64,
}

/// The counts of both directions in a window.
#[derive(Debug, Clone)]
pub struct NetemWindow {
    /// Start of the window by `CLOCK_MONOTONIC`, in ns.
    pub started_ns: u64,
    /// End of the window, in ns.
    pub ended_ns: u64,
    /// Counts of the direction client to server.
    pub up: DirectionSummary,
    /// Counts of the direction server to client.
    pub down: DirectionSummary,
}

impl NetemCounts {
    /// Reads the present totals of both directions, up first.
    pub fn read() -> Result<[Self; 2], NetemError> {
        let devices = json(&ToolCommand::new("ip", "-s -j link show"))?;
        let disciplines = json(&ToolCommand::new("tc", "-s -j qdisc show"))?;
        Ok([Host::Client, Host::Server]
            .map(|sender| Self::from_statistics(sender, &devices, &disciplines)))
    }

    fn from_statistics(sender: Host, devices: &Value, disciplines: &Value) -> Self {
        let device = |name| entry(devices, "ifname", name);
        let entered = device(entry_device(sender)).map(|entry| &entry["stats64"]["rx"]);
        let left = device(exit_device(sender, Element::Delay)).map(|entry| &entry["stats64"]["tx"]);
        let dropped = |element| discipline_drops(disciplines, exit_device(sender, element));
        let (queue, codel) = dropped(Element::Queue);
        let root = root_discipline(disciplines, exit_device(sender, Element::Queue));
        let refused: u64 = ELEMENTS
            .iter()
            .filter_map(|element| device(exit_device(sender, *element)))
            .map(|entry| number(&entry["stats64"]["tx"], "dropped"))
            .sum();
        let packets = |side: Option<&Value>| side.map_or(0, |side| number(side, "packets"));
        let ip_bytes = |side: Option<&Value>| {
            let bytes = side.map_or(0, |side| number(side, "bytes"));
            bytes.saturating_sub(ETHERNET_BYTES * packets(side))
        };
        Self {
            packets_in: packets(entered),
            packets_out: packets(left),
            bytes_in: ip_bytes(entered),
            bytes_out: ip_bytes(left),
            dropped_loss: dropped(Element::Loss).0,
            dropped_queue: queue,
            dropped_codel: codel,
            dropped_device: refused + dropped(Element::Link).0 + dropped(Element::Delay).0,
            queued: root.map_or(0, |entry| number(entry, "qlen")),
        }
    }

    /// Returns the counts since `start`.
    pub fn subtract(self, start: Self) -> Self {
        let since = u64::wrapping_sub;
        Self {
            packets_in: since(self.packets_in, start.packets_in),
            packets_out: since(self.packets_out, start.packets_out),
            bytes_in: since(self.bytes_in, start.bytes_in),
            bytes_out: since(self.bytes_out, start.bytes_out),
            dropped_loss: since(self.dropped_loss, start.dropped_loss),
            dropped_queue: since(self.dropped_queue, start.dropped_queue),
            dropped_codel: since(self.dropped_codel, start.dropped_codel),
            dropped_device: since(self.dropped_device, start.dropped_device),
            queued: self.queued,
        }
    }

    /// Returns the counts lost when the queue's discipline is made anew: the drops, and the packets
    /// in the queue, silently thrown away by the kernel.
    pub fn count_queue_loss(self) -> Self {
        Self {
            dropped_queue: self.dropped_queue + self.queued,
            dropped_codel: self.dropped_codel,
            ..Self::default()
        }
    }

    /// Returns the counts in the record's form; `host_drops_count` are the drops at the sending
    /// host's own device.
    pub fn summary(self, host_drops_count: u64) -> DirectionSummary {
        DirectionSummary {
            packets_in_count: self.packets_in,
            packets_out_count: self.packets_out,
            bytes_in_bytes: self.bytes_in,
            bytes_out_bytes: self.bytes_out,
            dropped_loss_count: self.dropped_loss,
            dropped_queue_count: self.dropped_queue,
            dropped_codel_count: self.dropped_codel,
            dropped_device_count: self.dropped_device + host_drops_count,
            ..DirectionSummary::default()
        }
    }
}

/// Returns the drops of a device's root discipline: drops by a full queue (or at random), and
/// CoDel's drops for the wait. The kernel counts CoDel's drops in the root, too.
fn discipline_drops(disciplines: &Value, device: &str) -> (u64, u64) {
    let all = disciplines.as_array().map_or(&[][..], Vec::as_slice);
    let mut here = all.iter().filter(|entry| entry["dev"] == device);
    let root = root_discipline(disciplines, device);
    let codel = here
        .find(|entry| entry["kind"] == "codel")
        .map_or(0, |entry| {
            number(entry, "drops").saturating_sub(number(entry, "drop_overlimit"))
        });
    let total = root.map_or(0, |entry| number(entry, "drops"));
    (total.saturating_sub(codel), codel)
}

fn root_discipline<'a>(disciplines: &'a Value, device: &str) -> Option<&'a Value> {
    let mut all = disciplines.as_array()?.iter();
    all.find(|entry| entry["dev"] == device && entry["root"] == true)
}

fn entry<'a>(list: &'a Value, key: &str, value: &str) -> Option<&'a Value> {
    list.as_array()?.iter().find(|entry| entry[key] == value)
}

fn number(object: &Value, key: &str) -> u64 {
    object[key].as_u64().unwrap_or(0)
}

fn json(command: &ToolCommand) -> Result<Value, NetemError> {
    serde_json::from_str(&command.run()?).map_err(|_| NetemError::Unreadable(command.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn device(name: &str, rx: [u64; 2], tx: [u64; 3]) -> Value {
        json!({"ifname": name, "stats64": {
            "rx": {"packets": rx[0], "bytes": rx[1]},
            "tx": {"packets": tx[0], "bytes": tx[1], "dropped": tx[2]},
        }})
    }

    fn counted() -> NetemCounts {
        let devices = json!([
            device("client0", [100, 151_400], [7, 7, 0]),
            device("server0", [9, 9], [80, 121_120, 1]),
            device("hop1c", [0, 0], [0, 0, 2]),
        ]);
        let disciplines = json!([
            {"kind": "ingress", "dev": "hop1c", "drops": 99},
            {"kind": "netem", "dev": "hop1c", "root": true, "drops": 3},
            {"kind": "tbf", "dev": "hop2c", "root": true, "drops": 11, "qlen": 6},
            {"kind": "codel", "dev": "hop2c", "parent": "1:1", "drops": 11, "drop_overlimit": 4},
            {"kind": "netem", "dev": "hop3c", "root": true, "drops": 5},
            {"kind": "netem", "dev": "server0", "root": true, "drops": 6},
        ]);
        NetemCounts::from_statistics(Host::Client, &devices, &disciplines)
    }

    #[test]
    fn drops_are_told_apart_and_ethernet_is_taken_off() {
        let summary = counted().summary(10);
        assert_eq!(
            (summary.packets_in_count, summary.packets_out_count),
            (100, 80)
        );
        assert_eq!(
            (summary.bytes_in_bytes, summary.bytes_out_bytes),
            (150_000, 120_000)
        );
        assert_eq!(summary.dropped_loss_count, 3);
        assert_eq!(
            (summary.dropped_queue_count, summary.dropped_codel_count),
            (4, 7)
        );
        assert_eq!(summary.dropped_device_count, 1 + 2 + 5 + 6 + 10);
        assert_eq!(summary.lateness_p50_ns, None);
    }

    #[test]
    fn a_queue_made_anew_does_not_disturb_the_window() {
        let start = counted();
        // Two more drops, then the discipline is made anew with six packets in it and counts from
        // 0; then one more.
        let before = NetemCounts {
            dropped_queue: start.dropped_queue + 2,
            ..start
        };
        let start = start.subtract(before.count_queue_loss());
        let end = NetemCounts {
            dropped_queue: 1,
            dropped_codel: 0,
            queued: 0,
            ..before
        };
        let wanted = NetemCounts {
            dropped_queue: 3 + 6,
            ..NetemCounts::default()
        };
        assert_eq!(end.subtract(start), wanted);
    }
}
