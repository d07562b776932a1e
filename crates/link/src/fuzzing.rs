//! Private functions made available to the fuzz targets, only in their build (`--cfg fuzzing`).
//! Not for: any other caller.

use crate::devices::arrival::Arrival;
use crate::devices::offload::{HEADER_BYTES, Offload, Train};
use crate::hosts::Host;
use crate::model::{DirectionModel, PacketFate};
use crate::observation::capture::Packets;
use crate::observation::tap::Tap;
use crate::profile;
use resolab_record::{FlowRecord, LinkProfile};
use std::path::Path;

/// Counts the QUIC packets with a long header in a datagram.
pub fn long_headers_count(datagram: &[u8]) -> u64 {
    let headers = crate::observation::quic::count_long_headers(datagram);
    [
        headers.initial_count,
        headers.zero_rtt_count,
        headers.handshake_count,
        headers.retry_count,
        headers.version_negotiation_count,
    ]
    .iter()
    .sum()
}

/// Returns the flows of packets sent in alternating directions; each packet is read, checksummed
/// and delivered.
pub fn tap_packets<'a>(packets: impl Iterator<Item = &'a [u8]>) -> Vec<FlowRecord> {
    let mut tap = Tap::default();
    for (index, packet) in packets.enumerate() {
        let sender = [Host::Client, Host::Server][index % 2];
        let offload = Offload::default();
        let arrival = Arrival {
            frame: packet,
            offload,
            at_ns: index as u64,
            read_ns: index as u64,
        };
        let flow = tap.enter(sender, &arrival, &Train::divide_frame(offload, packet));
        let packets = Packets {
            frame: packet,
            offload,
            first: 0,
            count: 1,
        };
        tap.deliver(flow, sender, index as u64 + 1, packets);
    }
    tap.records(None)
}

/// Cuts a frame with this virtio header; returns the first packets with finished checksums.
pub fn cut_train(header: [u8; HEADER_BYTES], frame: &[u8]) -> Vec<Vec<u8>> {
    let offload = Offload::decode(header);
    assert_eq!(offload.encode(), header);
    let train = Train::divide_frame(offload, frame);
    assert!(train.total_bytes() >= frame.len());
    (0..train.count().min(4))
        .map(|index| {
            let mut packet = Vec::new();
            let left = train.cut(offload, frame, index, &mut packet);
            assert_eq!(packet.len(), train.packet_bytes(index));
            left.finish_checksum(&mut packet);
            packet
        })
        .collect()
}

/// Reads a profile from the text of a file. Checks and completes the profile if possible, without
/// looking for traces.
pub fn read_profile(text: &str) -> Option<LinkProfile> {
    let profile = profile::parse(text, Path::new("fuzz.toml")).ok()?;
    profile::complete_beside(profile, &[], None).ok()
}

/// Sends packets over a profile's link, 1 per millisecond, and returns the number of packets
/// released in the end.
pub fn released_count(profile: &LinkProfile, packets_count: u64) -> usize {
    let mut released_count = 0;
    for (label, direction) in [("up", &profile.up), ("down", &profile.down)] {
        let mut link = DirectionModel::new(direction, label, 1);
        let mut fates = Vec::new();
        let (first_ns, gap_ns) = (10_000_000_000, 1_000_000);
        for index in 0..packets_count {
            let now_ns = first_ns + index * gap_ns;
            fates.extend(std::iter::from_fn(|| link.settle_next(now_ns)));
            fates.push(link.arrival(now_ns, 1_000));
        }
        // An hour later even 1,000 bit/s has taken them.
        fates.extend(std::iter::from_fn(|| {
            link.settle_next(first_ns + 3_600_000_000_000)
        }));
        let releases = fates.iter().filter_map(|fate| match fate {
            PacketFate::Release { at_ns } => Some(*at_ns),
            PacketFate::Drop(_) | PacketFate::Waits => None,
        });
        released_count += releases
            .inspect(|at_ns| assert!(*at_ns >= first_ns))
            .count();
    }
    released_count
}

/// Returns the value of an attribute in a netlink answer.
pub fn netlink_attribute(attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    crate::netlink::find_attribute(attributes, wanted)
}
