//! The tap: totals of every flow in a window, with entry and delivery stamps. At entry the tap is
//! before the loss process and therefore counts all packets sent by the hosts. The tap is the
//! ground truth for wire bytes, for the QUIC packet types sent and for TCP retransmissions.
//! Not for: single packets or their contents (see `capture`).
//!
//! Each window's tap begins empty. A packet from the previous window is counted as delivered in the
//! window of the delivery. Of a TCP flow crossing the border, the first segment in each direction
//! counts as new, regardless of earlier segments.

mod flow;
mod sequence;

use crate::devices::arrival::Arrival;
use crate::devices::offload::Train;
use crate::devices::packet;
use crate::hosts::Host;
use crate::observation::capture::Packets;
use flow::{Flow, FlowKey};
use resolab_record::FlowRecord;
use rustc_hash::FxHashMap;

/// Maximum number of flows in a window; packets of further flows are only counted together.
const FLOW_LIMIT: usize = 65_536;
/// Initial room for flows. Few windows' tables therefore ever grow.
const FLOW_ROOM: usize = 1_024;
/// A placeholder for a missing flow's number.
const NO_FLOW: u32 = u32::MAX;

/// The flow of a packet under way; to be kept with the packet from entry to delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowHandle {
    index: u32,
    /// Generation of the issuing tap.
    generation: u32,
}

/// The flow totals of a window.
#[derive(Debug)]
pub struct Tap {
    /// Flows in the order of their first packets.
    flows: Vec<Flow>,
    indices: FxHashMap<FlowKey, u32>,
    /// The flow of the last packet of each sender: nearly always also the next packet's flow.
    last_up_index: u32,
    last_down_index: u32,
    generation: u32,
    unrecognised_packets_count: u64,
}

impl Default for Tap {
    fn default() -> Self {
        let mut indices = FxHashMap::default();
        indices.reserve(FLOW_ROOM);
        Self {
            flows: Vec::with_capacity(FLOW_ROOM),
            indices,
            last_up_index: NO_FLOW,
            last_down_index: NO_FLOW,
            generation: 0,
            unrecognised_packets_count: 0,
        }
    }
}

impl Tap {
    /// Succeeds the previous window's tap. Handles of the previous tap may still belong to packets
    /// under way.
    pub fn succeed(&mut self, before: &Self) {
        self.generation = before.generation.wrapping_add(1);
    }

    /// Notes a packet or train from `sender` entering the link.
    pub fn enter(&mut self, sender: Host, arrival: &Arrival<'_>, train: &Train) -> FlowHandle {
        let index = self.count_entry(sender, arrival, train);
        if index.is_none() {
            self.unrecognised_packets_count += train.count() as u64;
        }
        FlowHandle {
            index: index.unwrap_or(NO_FLOW),
            generation: self.generation,
        }
    }

    fn count_entry(&mut self, sender: Host, arrival: &Arrival<'_>, train: &Train) -> Option<u32> {
        let view = packet::view(arrival.frame)?;
        let index = self.index_of(sender, arrival.at_ns, FlowKey::new(sender, &view))?;
        let flow = self.flows.get_mut(index as usize)?;
        flow.enter(sender, arrival.at_ns, &view, train);
        Some(index)
    }

    /// Notes packets from `sender`, delivered at `now_ns`; the handle comes from `enter`.
    pub fn deliver(&mut self, flow: FlowHandle, sender: Host, now_ns: u64, packets: Packets<'_>) {
        let index = if flow.generation == self.generation || flow.index == NO_FLOW {
            Some(flow.index)
        } else {
            packet::view(packets.frame)
                .and_then(|view| self.index_of(sender, now_ns, FlowKey::new(sender, &view)))
        };
        // Packets of no flow were counted as not recognised when they entered.
        if let Some(flow) = index.and_then(|index| self.flows.get_mut(index as usize)) {
            flow.deliver(sender, now_ns, packets.count as u64);
        }
    }

    /// Returns the index of the flow, made if necessary; `None` when there is no room.
    fn index_of(&mut self, sender: Host, now_ns: u64, key: FlowKey) -> Option<u32> {
        let last_index = *self.last_index(sender);
        let last = self.flows.get(last_index as usize);
        if last.is_some_and(|last| last.key == key) {
            return Some(last_index);
        }
        let index = match self.indices.get(&key) {
            Some(index) => *index,
            None => self.add(key, now_ns)?,
        };
        *self.last_index(sender) = index;
        Some(index)
    }

    fn last_index(&mut self, sender: Host) -> &mut u32 {
        match sender {
            Host::Client => &mut self.last_up_index,
            Host::Server => &mut self.last_down_index,
        }
    }

    #[cold]
    fn add(&mut self, key: FlowKey, now_ns: u64) -> Option<u32> {
        if self.flows.len() >= FLOW_LIMIT {
            return None;
        }
        let index = self.flows.len() as u32;
        self.flows.push(Flow::new(key, now_ns));
        self.indices.insert(key, index);
        Some(index)
    }

    /// Returns the number of packets outside flows: not IP, or arriving at a full table of flows.
    pub fn unrecognised_packets_count(&self) -> u64 {
        self.unrecognised_packets_count
    }

    /// Returns the flows in the order of their first packets.
    pub fn records(&self, label: Option<&str>) -> Vec<FlowRecord> {
        let mut records: Vec<FlowRecord> =
            self.flows.iter().map(|flow| flow.record(label)).collect();
        records.sort_by_key(|record| record.first_packet_ns);
        records
    }
}

#[cfg(test)]
mod tests;
