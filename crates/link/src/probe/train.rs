//! A train of packets in one direction, or a train in each direction at once: sockets, sender and
//! receiver of each, and the record of both ends on one clock.

use super::ProbeError;
use super::hosts::{HostNetworks, join_thread, socket_error, start};
use super::kernel_stamps;
use super::receive::TrainReceiver;
use super::send::{HEADER_BYTES, MARK_BYTES, Mark, SentPackets, TrainSender, forbid_fragments};
use super::wall_offset::{Offset, WallSpan};
use crate::clock;
use crate::datapath::realtime_scheduling;
use crate::hosts::Host;
use nix::errno::Errno;
use resolab_record::{LinkDirection, ProbeRecord};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Length of the shortest packet with room for a number.
pub const MIN_PACKET_BYTES: u32 = HEADER_BYTES + MARK_BYTES as u32;
/// Time from requesting stamps to the first packet, in ns. The kernel begins to stamp a little
/// after the request.
const SETTLE_NS: u64 = 60_000_000;

/// The parameters of a train.
#[derive(Debug, Clone)]
pub struct TrainParameters {
    /// Label copied into the record.
    pub label: Option<String>,
    /// Number of packets in the train.
    pub packets_count: u32,
    /// IP length of each packet, in bytes.
    pub packet_bytes: u32,
    /// Time between two packets, in ns; 0 means at the socket's full speed.
    pub interval_ns: u64,
    /// Silence in ns after the last packet sent or received; missing packets then count as lost.
    pub silence_ns: u64,
}

/// Returns the sending and the receiving host of a direction.
pub fn ends(direction: LinkDirection) -> (Host, Host) {
    match direction {
        LinkDirection::Up => (Host::Client, Host::Server),
        LinkDirection::Down => (Host::Server, Host::Client),
    }
}

/// A train in one direction.
struct TrainDirection {
    direction: LinkDirection,
    from: UdpSocket,
    to: UdpSocket,
    target: SocketAddr,
    mark: Mark,
    sender_ended_ns: AtomicU64,
}

impl TrainDirection {
    fn open(networks: &HostNetworks, direction: LinkDirection) -> Result<Self, ProbeError> {
        let (sending, receiving) = ends(direction);
        let from = open_socket(networks, sending, forbid_fragments)?;
        let to = open_socket(networks, receiving, kernel_stamps::prepare)?;
        let target = to
            .local_addr()
            .map_err(|error| socket_error(receiving, "name a socket", errno(&error)))?;
        Ok(Self {
            direction,
            from,
            to,
            target,
            mark: Mark((clock::monotonic_ns() >> 4) as u32 ^ std::process::id().rotate_left(16)),
            sender_ended_ns: AtomicU64::new(0),
        })
    }
}

/// Sends the train in each of these directions.
pub fn run(
    networks: &HostNetworks,
    order: &TrainParameters,
    directions: &[LinkDirection],
    realtime_granted: bool,
) -> Result<Vec<ProbeRecord>, ProbeError> {
    let train_directions = directions
        .iter()
        .map(|direction| TrainDirection::open(networks, *direction))
        .collect::<Result<Vec<_>, _>>()?;
    let start_offset = Offset::now();
    let stop = AtomicBool::new(false);
    let start_ns = clock::monotonic_ns() + SETTLE_NS;
    let ended = thread::scope(|scope| {
        let mut under_way = Vec::new();
        for (index, train_direction) in train_directions.iter().enumerate() {
            // Out of step, so that two senders do not want a processor at the same moment.
            let shift_ns = order.interval_ns * index as u64 / train_directions.len() as u64;
            let (stop, at_ns) = (&stop, start_ns + shift_ns);
            let receiving = start(scope, "probe-receive", move || {
                realtime_scheduling::make_ordinary();
                stopping(stop, receive(networks, order, train_direction, stop))
            })?;
            let sending = start(scope, "probe-send", move || {
                let sent = send(order, train_direction, at_ns, realtime_granted, stop);
                train_direction
                    .sender_ended_ns
                    .store(clock::monotonic_ns(), Ordering::Relaxed);
                stopping(stop, sent)
            })?;
            under_way.push((sending, receiving));
        }
        realtime_scheduling::make_ordinary();
        let both = |(sending, receiving)| {
            let (sent, arrivals) = (join_thread(sending), join_thread(receiving));
            Ok((sent?, arrivals?))
        };
        let ended: Vec<Result<_, ProbeError>> = under_way.into_iter().map(both).collect();
        ended.into_iter().collect::<Result<Vec<_>, _>>()
    });
    // What the end of the path broke is not worth telling.
    networks.check_path()?;
    let span = WallSpan::new(start_offset, Offset::now()).map_err(ProbeError::ClockSet)?;
    let on_one_clock = |(train_direction, (sent, arrivals)): (
        &TrainDirection,
        (SentPackets, Vec<Option<i64>>),
    )| { record(order, train_direction.direction, &sent, &arrivals, &span) };
    Ok(train_directions
        .iter()
        .zip(ended?)
        .map(on_one_clock)
        .collect())
}

fn send(
    order: &TrainParameters,
    train_direction: &TrainDirection,
    start_ns: u64,
    realtime_granted: bool,
    stop: &AtomicBool,
) -> Result<SentPackets, ProbeError> {
    let sender = TrainSender {
        host: ends(train_direction.direction).0,
        socket: &train_direction.from,
        target: train_direction.target,
        mark: train_direction.mark,
        packets_count: order.packets_count,
        packet_bytes: order.packet_bytes,
        interval_ns: order.interval_ns,
        start_ns,
    };
    sender.run(realtime_granted, stop)
}

fn receive(
    networks: &HostNetworks,
    order: &TrainParameters,
    train_direction: &TrainDirection,
    stop: &AtomicBool,
) -> Result<Vec<Option<i64>>, ProbeError> {
    let receiver = TrainReceiver {
        host: ends(train_direction.direction).1,
        socket: &train_direction.to,
        networks,
        mark: train_direction.mark,
        packets_count: order.packets_count,
        silence_ns: order.silence_ns,
        sender_ended_ns: &train_direction.sender_ended_ns,
        stop,
    };
    receiver.run()
}

/// Stops all threads if this result is an error.
fn stopping<T>(stop: &AtomicBool, result: Result<T, ProbeError>) -> Result<T, ProbeError> {
    if result.is_err() {
        stop.store(true, Ordering::Relaxed);
    }
    result
}

fn record(
    order: &TrainParameters,
    direction: LinkDirection,
    sent: &SentPackets,
    arrivals: &[Option<i64>],
    span: &WallSpan,
) -> ProbeRecord {
    let origin_ns = sent.sent_ns.first().copied().unwrap_or_default();
    let since_origin = |wall_ns| span.monotonic_ns(wall_ns).saturating_sub(origin_ns);
    ProbeRecord {
        label: order.label.clone(),
        direction,
        packet_bytes: order.packet_bytes,
        interval_ns: order.interval_ns,
        realtime_scheduling: sent.realtime_scheduling,
        time_origin_ns: origin_ns,
        sent_ns: sent.sent_ns.iter().map(|at_ns| at_ns - origin_ns).collect(),
        received_ns: arrivals
            .iter()
            .map(|arrival| arrival.map(since_origin))
            .collect(),
    }
}

fn open_socket(
    networks: &HostNetworks,
    host: Host,
    prepare: fn(&UdpSocket) -> Result<(), Errno>,
) -> Result<UdpSocket, ProbeError> {
    networks.run_inside(host, || {
        let socket = UdpSocket::bind((host.address(), 0))
            .map_err(|error| socket_error(host, "open a socket", errno(&error)))?;
        prepare(&socket).map_err(|error| socket_error(host, "set up a socket", error))?;
        Ok(socket)
    })
}

/// Returns the kernel's number of an error.
pub fn errno(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_count_from_the_first_packet_and_keep_losses() {
        let order = TrainParameters {
            label: Some("x".to_owned()),
            packets_count: 3,
            packet_bytes: 100,
            interval_ns: 10,
            silence_ns: 0,
        };
        let sent = SentPackets {
            sent_ns: vec![1_000, 1_010, 1_020],
            realtime_scheduling: true,
        };
        let now = Offset::now();
        let span = WallSpan::new(now, now).unwrap();
        let wall_of = |at_ns: u64| at_ns as i64 + now.offset_ns();
        let arrivals = [Some(wall_of(1_500)), None, Some(wall_of(900))];
        let record = record(&order, LinkDirection::Down, &sent, &arrivals, &span);
        assert_eq!(record.time_origin_ns, 1_000);
        assert_eq!(record.sent_ns, [0, 10, 20]);
        assert_eq!(record.received_ns, [Some(500), None, Some(0)]);
        assert_eq!(record.direction, LinkDirection::Down);
    }
}
