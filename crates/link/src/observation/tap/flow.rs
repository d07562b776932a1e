//! A flow in the tap: the key, and totals in each direction. Not for: finding flows.

use super::sequence::SequenceSpace;
use crate::devices::offload::Train;
use crate::devices::packet::{PacketView, TCP, UDP};
use crate::hosts::Host;
use crate::observation::quic::{self, LongHeaders};
use resolab_record::FlowRecord;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The key of a flow, in few words, quick to compare and to hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowKey {
    client: u128,
    server: u128,
    /// IP protocol number; from 256 on with IPv6.
    protocol: u16,
    /// Client's and server's port, [`NO_PORT`] when there is no port.
    client_port: u32,
    server_port: u32,
}

const IPV6: u16 = 0x100;
/// A number above any port.
const NO_PORT: u32 = 1 << 16;

impl FlowKey {
    /// Makes the key of a packet sent by `sender`.
    pub fn new(sender: Host, view: &PacketView<'_>) -> Self {
        let (source_port, destination_port) = match view.ports {
            Some((source, destination)) => (u32::from(source), u32::from(destination)),
            None => (NO_PORT, NO_PORT),
        };
        let family = if view.source.is_ipv6() { IPV6 } else { 0 };
        let from_client = Self {
            client: number(view.source),
            server: number(view.destination),
            protocol: family | u16::from(view.protocol),
            client_port: source_port,
            server_port: destination_port,
        };
        match sender {
            Host::Client => from_client,
            Host::Server => Self {
                client: from_client.server,
                server: from_client.client,
                client_port: destination_port,
                server_port: source_port,
                ..from_client
            },
        }
    }

    fn address(self, number: u128) -> IpAddr {
        if self.protocol & IPV6 != 0 {
            Ipv6Addr::from_bits(number).into()
        } else {
            Ipv4Addr::from_bits(number as u32).into()
        }
    }

    fn is(self, protocol: u8) -> bool {
        self.protocol & !IPV6 == u16::from(protocol)
    }

    fn protocol_name(self) -> String {
        match self.protocol & !IPV6 {
            number if number == u16::from(TCP) => "tcp".to_owned(),
            number if number == u16::from(UDP) => "udp".to_owned(),
            number => number.to_string(),
        }
    }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// A flow with totals of both directions.
#[derive(Debug)]
pub struct Flow {
    /// Protocol, addresses and ports of the flow.
    pub key: FlowKey,
    /// Entry of the flow's first packet in the window, in ns. Without an entry, the delivery of an
    /// earlier packet.
    pub first_packet_ns: u64,
    last_packet_ns: u64,
    up: FlowDirection,
    down: FlowDirection,
}

/// The flow's totals in one direction.
#[derive(Debug, Default)]
struct FlowDirection {
    packets_count: u64,
    bytes: u64,
    first_entered_ns: u64,
    last_entered_ns: u64,
    delivered_count: u64,
    first_delivered_ns: u64,
    last_delivered_ns: u64,
    sequence_space: SequenceSpace,
    retransmitted_count: u64,
    quic: LongHeaders,
}

impl Flow {
    /// Makes a flow at the first sight of a packet.
    pub fn new(key: FlowKey, now_ns: u64) -> Self {
        Self {
            key,
            first_packet_ns: now_ns,
            last_packet_ns: now_ns,
            up: FlowDirection::default(),
            down: FlowDirection::default(),
        }
    }

    /// Notes the entry of a packet or train.
    pub fn enter(&mut self, sender: Host, now_ns: u64, view: &PacketView<'_>, train: &Train) {
        if self.up.packets_count + self.down.packets_count == 0 {
            self.first_packet_ns = now_ns;
        }
        self.last_packet_ns = now_ns;
        self.direction(sender).enter(now_ns, view, train);
    }

    /// Notes the delivery of packets.
    pub fn deliver(&mut self, sender: Host, now_ns: u64, count: u64) {
        self.direction(sender).deliver(now_ns, count);
    }

    fn direction(&mut self, sender: Host) -> &mut FlowDirection {
        match sender {
            Host::Client => &mut self.up,
            Host::Server => &mut self.down,
        }
    }

    /// Returns the flow in the record's form.
    pub fn record(&self, label: Option<&str>) -> FlowRecord {
        let (key, up, down) = (self.key, &self.up, &self.down);
        let port = |port| u16::try_from(port).ok();
        let tcp_only = |count| key.is(TCP).then_some(count);
        let udp_only = |count| key.is(UDP).then_some(count);
        FlowRecord {
            label: label.map(str::to_owned),
            protocol: key.protocol_name(),
            client_address: key.address(key.client),
            client_port: port(key.client_port),
            server_address: key.address(key.server),
            server_port: port(key.server_port),
            first_packet_ns: self.first_packet_ns,
            last_packet_ns: self.last_packet_ns,
            up_packets_count: up.packets_count,
            up_bytes: up.bytes,
            down_packets_count: down.packets_count,
            down_bytes: down.bytes,
            up_first_entered_ns: up.entered(up.first_entered_ns),
            up_last_entered_ns: up.entered(up.last_entered_ns),
            up_first_delivered_ns: up.delivered(up.first_delivered_ns),
            up_last_delivered_ns: up.delivered(up.last_delivered_ns),
            up_delivered_count: up.delivered_count,
            down_first_entered_ns: down.entered(down.first_entered_ns),
            down_last_entered_ns: down.entered(down.last_entered_ns),
            down_first_delivered_ns: down.delivered(down.first_delivered_ns),
            down_last_delivered_ns: down.delivered(down.last_delivered_ns),
            down_delivered_count: down.delivered_count,
            tcp_up_retransmitted_count: tcp_only(up.retransmitted_count),
            tcp_down_retransmitted_count: tcp_only(down.retransmitted_count),
            quic_up_initial_count: udp_only(up.quic.initial_count),
            quic_up_zero_rtt_count: udp_only(up.quic.zero_rtt_count),
            quic_up_handshake_count: udp_only(up.quic.handshake_count),
            quic_down_initial_count: udp_only(down.quic.initial_count),
            quic_down_handshake_count: udp_only(down.quic.handshake_count),
            quic_down_retry_count: udp_only(down.quic.retry_count),
            quic_down_version_negotiation_count: udp_only(down.quic.version_negotiation_count),
        }
    }
}

impl FlowDirection {
    fn enter(&mut self, now_ns: u64, view: &PacketView<'_>, train: &Train) {
        if self.packets_count == 0 {
            self.first_entered_ns = now_ns;
        }
        self.last_entered_ns = now_ns;
        self.packets_count += train.count() as u64;
        self.bytes += train.total_bytes() as u64;
        if let Some(range) = view.tcp_range() {
            self.retransmitted_count += self.sequence_space.retransmitted_count(range, train);
        } else if quic::has_long_form(view.udp_payload()) {
            self.quic.add(quic::count_long_headers(view.udp_payload()));
        }
    }

    fn deliver(&mut self, now_ns: u64, count: u64) {
        if self.delivered_count == 0 {
            self.first_delivered_ns = now_ns;
        }
        self.last_delivered_ns = now_ns;
        self.delivered_count += count;
    }

    fn entered(&self, at_ns: u64) -> Option<u64> {
        (self.packets_count > 0).then_some(at_ns)
    }

    fn delivered(&self, at_ns: u64) -> Option<u64> {
        (self.delivered_count > 0).then_some(at_ns)
    }
}
