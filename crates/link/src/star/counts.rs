//! The packets at the hub in a window of time: counts by sender and destination, the packets'
//! fates, and the lateness of carrying. Not for: deciding fates (see `model`).

use crate::datapath::histogram::Histogram;
use crate::devices::packet::{PacketView, TCP, UDP};
use crate::star::model::DropReason;
use resolab_record::{InternetFlow, InternetFlowsRecord};
use rustc_hash::FxHashMap;
use std::net::{IpAddr, Ipv4Addr};

/// Maximum number of flows in a window; the excess is counted together.
const FLOWS_LIMIT_COUNT: usize = 20_000;
/// First of the ports chosen by hosts' kernels (see `hosts::namespace`).
const FIRST_CHOSEN_PORT: u16 = 10_240;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct FlowCountKey {
    from: usize,
    destination: Ipv4Addr,
    protocol: u8,
    port: Option<u16>,
}

#[derive(Debug, Clone, Copy, Default)]
struct SentCount {
    packets_count: u64,
    total_bytes: u64,
}

/// The counts of an open window.
#[derive(Debug, Default)]
pub struct WindowCounts {
    started_ns: u64,
    flows: FxHashMap<FlowCountKey, SentCount>,
    /// All totals outside flows; the flows are added at writing.
    totals: InternetFlowsRecord,
    lateness: Histogram,
}

impl WindowCounts {
    /// Begins the window at `started_ns`.
    pub fn begin(&mut self, started_ns: u64) {
        self.started_ns = started_ns;
    }

    /// Counts `count` packets from host `from` to `destination`, of `total_bytes` together; `view`
    /// is of the first.
    pub fn note_sent(
        &mut self,
        from: usize,
        view: &PacketView<'_>,
        count: usize,
        total_bytes: usize,
    ) {
        let IpAddr::V4(destination) = view.destination else {
            self.count_unlisted(count);
            return;
        };
        let key = FlowCountKey {
            from,
            destination,
            protocol: view.protocol,
            port: listed_port(view.ports),
        };
        if self.flows.len() >= FLOWS_LIMIT_COUNT && !self.flows.contains_key(&key) {
            self.count_unlisted(count);
            return;
        }
        let sent = self.flows.entry(key).or_default();
        sent.packets_count += count as u64;
        sent.total_bytes += total_bytes as u64;
    }

    /// Counts sent packets outside flows.
    pub fn count_unlisted(&mut self, count: usize) {
        self.totals.unlisted_packets_count += count as u64;
    }

    /// Counts packets dropped for the cause `why`.
    pub fn note_loss(&mut self, why: DropReason, count: usize) {
        let totals = &mut self.totals;
        *match why {
            DropReason::Lost => &mut totals.lost_packets_count,
            DropReason::QueueFull => &mut totals.dropped_queue_count,
            DropReason::Down => &mut totals.dropped_down_count,
            DropReason::Unowned => &mut totals.unowned_packets_count,
            DropReason::ForeignSource => &mut totals.foreign_source_packets_count,
        } += count as u64;
    }

    /// Counts packets lost by the instrument.
    pub fn note_device_drops(&mut self, count: u64) {
        self.totals.dropped_device_count += count;
    }

    /// Counts packets handed to their host, with their lateness.
    pub fn note_delivery(&mut self, count: usize, lateness_ns: u64) {
        self.totals.delivered_packets_count += count as u64;
        self.lateness.record(lateness_ns, count as u64);
    }

    /// Returns the record of the window ended at `ended_ns`. `names` are the hosts' names; `owner`
    /// returns an address's host.
    pub fn record(
        &self,
        label: Option<String>,
        ended_ns: u64,
        names: &[String],
        owner: impl Fn(Ipv4Addr) -> Option<usize>,
    ) -> InternetFlowsRecord {
        let name = |host: usize| names.get(host).cloned().unwrap_or_default();
        let mut flows: Vec<_> = self
            .flows
            .iter()
            .map(|(key, sent)| InternetFlow {
                source_host: name(key.from),
                destination_address: key.destination,
                destination_host: owner(key.destination).map(name),
                protocol: protocol_name(key.protocol),
                destination_port: key.port,
                packets_count: sent.packets_count,
                total_bytes: sent.total_bytes,
            })
            .collect();
        flows.sort_unstable();
        InternetFlowsRecord {
            label,
            window_start_ns: self.started_ns,
            window_end_ns: ended_ns,
            flows,
            lateness_p50_ns: self.lateness.quantile(0.5),
            lateness_p99_ns: self.lateness.quantile(0.99),
            lateness_max_ns: self.lateness.max(),
            ..self.totals.clone()
        }
    }
}

/// Returns the port to list a flow by. Answers to ports chosen by kernels are not listed: every
/// connection would make a flow.
fn listed_port(ports: Option<(u16, u16)>) -> Option<u16> {
    let (source, destination) = ports?;
    let is_answer = source < FIRST_CHOSEN_PORT && destination >= FIRST_CHOSEN_PORT;
    (!is_answer).then_some(destination)
}

fn protocol_name(protocol: u8) -> String {
    match protocol {
        TCP => "tcp".to_owned(),
        UDP => "udp".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::packet::{samples, view};

    const HOME: (Ipv4Addr, u16) = (Ipv4Addr::new(198, 18, 0, 2), 40_000);
    const FAR: (Ipv4Addr, u16) = (Ipv4Addr::new(198, 18, 8, 1), 443);

    fn names() -> Vec<String> {
        vec!["home".to_owned(), "far".to_owned()]
    }

    fn send(counts: &mut WindowCounts, from: usize, packet: &[u8], count: usize) {
        counts.note_sent(from, &view(packet).unwrap(), count, packet.len());
    }

    #[test]
    fn packets_are_counted_by_who_sent_them_where() {
        let mut counts = WindowCounts::default();
        counts.begin(7);
        let request = samples::ipv4(UDP, HOME, FAR, b"ask");
        send(&mut counts, 0, &request, 1);
        send(&mut counts, 0, &request, 1);
        send(&mut counts, 0, &samples::ipv4(TCP, HOME, FAR, b""), 3);
        send(&mut counts, 1, &samples::ipv4(UDP, FAR, HOME, b"answer"), 1);
        send(&mut counts, 1, &samples::ipv4(1, FAR, HOME, b"icmp"), 1);
        counts.count_unlisted(2);
        let owner = |address| (address == FAR.0).then_some(1);
        let record = counts.record(Some("x".to_owned()), 9, &names(), owner);
        let flows: Vec<_> = record
            .flows
            .iter()
            .map(|flow| {
                let port = flow.destination_port;
                (
                    flow.source_host.as_str(),
                    flow.protocol.as_str(),
                    port,
                    flow.packets_count,
                )
            })
            .collect();
        assert_eq!(
            flows,
            [
                ("far", "1", None, 1),
                ("far", "udp", None, 1),
                ("home", "tcp", Some(443), 3),
                ("home", "udp", Some(443), 2),
            ]
        );
        assert_eq!(record.flows[3].total_bytes, 2 * request.len() as u64);
        assert_eq!(record.flows[3].destination_host.as_deref(), Some("far"));
        assert_eq!(record.flows[0].destination_host, None);
        assert_eq!((record.window_start_ns, record.window_end_ns), (7, 9));
        assert_eq!(record.unlisted_packets_count, 2);
    }

    #[test]
    fn a_port_beyond_the_first_chosen_counts_unless_it_is_answered_from_below() {
        assert_eq!(listed_port(Some((443, 50_000))), None);
        assert_eq!(listed_port(Some((50_000, 50_001))), Some(50_001));
        assert_eq!(listed_port(Some((443, 444))), Some(444));
        assert_eq!(listed_port(None), None);
    }

    #[test]
    fn what_became_of_packets_adds_up() {
        let mut counts = WindowCounts::default();
        let causes = [
            DropReason::Lost,
            DropReason::QueueFull,
            DropReason::Down,
            DropReason::Unowned,
            DropReason::ForeignSource,
        ];
        for (index, cause) in causes.into_iter().enumerate() {
            counts.note_loss(cause, index + 1);
        }
        counts.note_device_drops(9);
        let nothing = counts.record(None, 0, &[], |_| None);
        assert_eq!(
            (nothing.lateness_p50_ns, nothing.lateness_max_ns),
            (None, None)
        );
        counts.note_delivery(2, 5_000);
        let record = counts.record(None, 0, &[], |_| None);
        assert_eq!(
            (
                record.lost_packets_count,
                record.dropped_queue_count,
                record.dropped_down_count,
                record.unowned_packets_count,
                record.foreign_source_packets_count,
                record.dropped_device_count,
                record.delivered_packets_count
            ),
            (1, 2, 3, 4, 5, 9, 2)
        );
        assert_eq!(record.lateness_max_ns, Some(5_000));
    }

    #[test]
    fn a_flood_of_flows_is_counted_together() {
        let mut counts = WindowCounts::default();
        for number in 0..FLOWS_LIMIT_COUNT as u32 + 5 {
            let address = Ipv4Addr::from_bits(FAR.0.to_bits() + number);
            send(
                &mut counts,
                0,
                &samples::ipv4(UDP, HOME, (address, 53), b""),
                1,
            );
        }
        send(
            &mut counts,
            0,
            &samples::ipv4(UDP, HOME, (FAR.0, 53), b""),
            1,
        );
        let record = counts.record(None, 0, &names(), |_| None);
        assert_eq!(record.flows.len(), FLOWS_LIMIT_COUNT);
        assert_eq!(record.unlisted_packets_count, 5);
    }
}
