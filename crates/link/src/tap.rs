//! The tap: totals of every flow that entered the link in a window. It stands before the loss
//! process, so it counts what the hosts sent, and it is the ground truth for wire bytes and for
//! which QUIC packet types a client sent. Not for: single packets or their contents.

use crate::hosts::Host;
use crate::offload::Train;
use crate::packet::{self, TCP, UDP};
use crate::quic;
use resolab_record::FlowRecord;
use std::collections::HashMap;
use std::net::IpAddr;

/// Flows remembered in one window; packets of further ones are only counted together.
const FLOW_LIMIT: usize = 65_536;

/// Flow totals of one window.
#[derive(Debug, Default)]
pub struct Tap {
    flows: HashMap<FlowKey, FlowTotals>,
    unrecognised_packets_count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct FlowKey {
    protocol: u8,
    client: (IpAddr, Option<u16>),
    server: (IpAddr, Option<u16>),
}

#[derive(Debug, Default)]
struct FlowTotals {
    first_packet_ns: u64,
    last_packet_ns: u64,
    up_packets_count: u64,
    up_bytes: u64,
    down_packets_count: u64,
    down_bytes: u64,
    initial_count: u64,
    zero_rtt_count: u64,
}

impl Tap {
    /// Count a packet, or the packets of a train, that enter the link at `now_ns`, sent by `sender`.
    pub fn count(&mut self, sender: Host, now_ns: u64, packet: &[u8], train: &Train) {
        let Some(view) = packet::view(packet) else {
            self.unrecognised_packets_count += 1;
            return;
        };
        let (source_port, destination_port) = view.ports.unzip();
        let (source, destination) = (
            (view.source, source_port),
            (view.destination, destination_port),
        );
        let (client, server) = match sender {
            Host::Client => (source, destination),
            Host::Server => (destination, source),
        };
        let key = FlowKey {
            protocol: view.protocol,
            client,
            server,
        };
        if self.flows.len() >= FLOW_LIMIT && !self.flows.contains_key(&key) {
            self.unrecognised_packets_count += 1;
            return;
        }
        let totals = self.flows.entry(key).or_insert_with(|| FlowTotals {
            first_packet_ns: now_ns,
            ..FlowTotals::default()
        });
        totals.count(sender, now_ns, train, view.udp_payload);
    }

    /// Packets that are not IP, or came after the table of flows was full.
    pub fn unrecognised_packets_count(&self) -> u64 {
        self.unrecognised_packets_count
    }

    /// The flows, in the order their first packets came.
    pub fn records(&self, label: Option<&str>) -> Vec<FlowRecord> {
        let mut records: Vec<FlowRecord> = self
            .flows
            .iter()
            .map(|(key, totals)| record(key, totals, label))
            .collect();
        records.sort_by_key(|record| record.first_packet_ns);
        records
    }
}

impl FlowTotals {
    fn count(&mut self, sender: Host, now_ns: u64, train: &Train, udp_payload: &[u8]) {
        self.last_packet_ns = now_ns;
        match sender {
            Host::Client => {
                self.up_packets_count += train.count() as u64;
                self.up_bytes += train.total_bytes() as u64;
                let found = quic::count_long_headers(udp_payload);
                self.initial_count += found.initial_count;
                self.zero_rtt_count += found.zero_rtt_count;
            }
            Host::Server => {
                self.down_packets_count += train.count() as u64;
                self.down_bytes += train.total_bytes() as u64;
            }
        }
    }
}

fn record(key: &FlowKey, totals: &FlowTotals, label: Option<&str>) -> FlowRecord {
    let udp_only = |count| (key.protocol == UDP).then_some(count);
    FlowRecord {
        label: label.map(str::to_owned),
        protocol: match key.protocol {
            TCP => "tcp".to_owned(),
            UDP => "udp".to_owned(),
            other => other.to_string(),
        },
        client_address: key.client.0,
        client_port: key.client.1,
        server_address: key.server.0,
        server_port: key.server.1,
        first_packet_ns: totals.first_packet_ns,
        last_packet_ns: totals.last_packet_ns,
        up_packets_count: totals.up_packets_count,
        up_bytes: totals.up_bytes,
        down_packets_count: totals.down_packets_count,
        down_bytes: totals.down_bytes,
        quic_up_initial_count: udp_only(totals.initial_count),
        quic_up_zero_rtt_count: udp_only(totals.zero_rtt_count),
        up_first_entered_ns: None,
        up_last_entered_ns: None,
        up_first_delivered_ns: None,
        up_last_delivered_ns: None,
        up_delivered_count: 0,
        down_first_entered_ns: None,
        down_last_entered_ns: None,
        down_first_delivered_ns: None,
        down_last_delivered_ns: None,
        down_delivered_count: 0,
        tcp_up_retransmitted_count: None,
        tcp_down_retransmitted_count: None,
        quic_up_handshake_count: None,
        quic_down_initial_count: None,
        quic_down_handshake_count: None,
        quic_down_retry_count: None,
        quic_down_version_negotiation_count: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offload::Offload;
    use crate::packet::samples::ipv4;
    use std::net::Ipv4Addr;

    const CLIENT: (Ipv4Addr, u16) = (Ipv4Addr::new(10, 77, 0, 2), 40_000);
    const SERVER: (Ipv4Addr, u16) = (Ipv4Addr::new(10, 77, 0, 1), 853);

    fn count(tap: &mut Tap, sender: Host, now_ns: u64, packet: &[u8]) {
        let train = Train::of(Offload::default(), packet);
        tap.count(sender, now_ns, packet, &train);
    }

    fn initial() -> Vec<u8> {
        let mut datagram = vec![0xc0, 0, 0, 0, 1, 0, 0, 0, 4];
        datagram.extend([7; 4]);
        datagram
    }

    #[test]
    fn both_directions_are_one_flow() {
        let mut tap = Tap::default();
        count(
            &mut tap,
            Host::Client,
            10,
            &ipv4(UDP, CLIENT, SERVER, &initial()),
        );
        count(
            &mut tap,
            Host::Server,
            20,
            &ipv4(UDP, SERVER, CLIENT, &initial()),
        );
        count(
            &mut tap,
            Host::Client,
            30,
            &ipv4(UDP, CLIENT, SERVER, b"short"),
        );
        let records = tap.records(Some("t1"));
        assert_eq!(records.len(), 1);
        let flow = &records[0];
        assert_eq!(
            (flow.client_port, flow.server_port),
            (Some(40_000), Some(853))
        );
        assert_eq!((flow.first_packet_ns, flow.last_packet_ns), (10, 30));
        assert_eq!((flow.up_packets_count, flow.down_packets_count), (2, 1));
        assert_eq!(
            (flow.up_bytes, flow.down_bytes),
            (28 + 13 + 28 + 5, 28 + 13)
        );
        assert_eq!(flow.quic_up_initial_count, Some(1));
        assert_eq!(flow.label.as_deref(), Some("t1"));
    }

    #[test]
    fn tcp_has_no_quic_counts() {
        let mut tap = Tap::default();
        count(
            &mut tap,
            Host::Client,
            10,
            &ipv4(TCP, CLIENT, SERVER, &initial()),
        );
        assert_eq!(tap.records(None)[0].quic_up_initial_count, None);
        assert_eq!(tap.records(None)[0].protocol, "tcp");
    }

    #[test]
    fn flows_come_in_order_of_their_first_packet() {
        let mut tap = Tap::default();
        for port in (1..50).rev() {
            let packet = ipv4(UDP, (CLIENT.0, port), SERVER, b"");
            count(&mut tap, Host::Client, 100 - u64::from(port), &packet);
        }
        let ports: Vec<_> = tap
            .records(None)
            .iter()
            .map(|flow| flow.client_port)
            .collect();
        assert_eq!(ports, (1..50).rev().map(Some).collect::<Vec<_>>());
    }

    #[test]
    fn the_table_is_bounded() {
        let mut tap = Tap::default();
        for index in 0..FLOW_LIMIT as u32 + 3 {
            let client = (
                Ipv4Addr::from(0x0a00_0000 + (index >> 8)),
                index as u16 & 0xff,
            );
            count(&mut tap, Host::Client, 1, &ipv4(UDP, client, SERVER, b""));
        }
        count(
            &mut tap,
            Host::Client,
            1,
            &ipv4(UDP, (Ipv4Addr::new(10, 0, 0, 0), 0), SERVER, b""),
        );
        assert_eq!(tap.records(None).len(), FLOW_LIMIT);
        assert_eq!(tap.unrecognised_packets_count(), 3);
    }
}
