//! Probes through a path: numbered datagrams with the time they were sent, received with the
//! kernel's time stamp, so that a busy test machine delays the reading but not the measurement.

use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use nix::time::{ClockId, clock_gettime};
use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Nobody waits longer than this for the next probe.
const PATIENCE: Duration = Duration::from_millis(700);
/// IPv4 and UDP headers.
pub const HEADER_BYTES: usize = 28;

/// One probe that came through.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    pub index: usize,
    pub sent_ns: u64,
    pub received_ns: u64,
}

impl Arrival {
    pub fn delay_ns(&self) -> u64 {
        self.received_ns - self.sent_ns
    }
}

/// Prepare a socket to receive before anything is sent to it.
pub fn listen(socket: &UdpSocket) {
    setsockopt(socket, sockopt::ReceiveTimestampns, &true).unwrap();
    setsockopt(socket, sockopt::RcvBuf, &(8 << 20)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
}

/// Send `count` probes of `packet_bytes` (IP) and receive what comes through.
pub fn run(
    from: &UdpSocket,
    to: &UdpSocket,
    count: usize,
    packet_bytes: usize,
    gap: Duration,
) -> Vec<Arrival> {
    listen(to);
    let receiver = to.try_clone().unwrap();
    let arrivals = std::thread::spawn(move || receive_all(&receiver, count));
    send_all(from, to, count, packet_bytes, gap);
    arrivals.join().unwrap()
}

/// The rate at which a train of packets came: the median over its first half of the rate from there to
/// half a train later. A machine that pauses bends a few of those, a wrong link all of them.
pub fn rate_bps(received_ns: &[u64], packet_bytes: usize) -> f64 {
    let half = received_ns.len() / 2;
    let pairs = received_ns.iter().zip(&received_ns[half..]);
    let mut spans_ns: Vec<u64> = pairs.map(|(from_ns, to_ns)| to_ns - from_ns).collect();
    half as f64 * packet_bytes as f64 * 8e9 / quantile(&mut spans_ns, 0.5) as f64
}

fn send_all(from: &UdpSocket, to: &UdpSocket, count: usize, packet_bytes: usize, gap: Duration) {
    let target = to.local_addr().unwrap();
    let mut payload = vec![0; packet_bytes - HEADER_BYTES];
    for index in 0..count {
        payload[..8].copy_from_slice(&(index as u64).to_be_bytes());
        payload[8..16].copy_from_slice(&wall_ns().to_be_bytes());
        from.send_to(&payload, target).unwrap();
        if !gap.is_zero() {
            std::thread::sleep(gap);
        }
    }
}

fn receive_all(socket: &UdpSocket, count: usize) -> Vec<Arrival> {
    (0..count).map_while(|_| receive(socket)).collect()
}

fn receive(socket: &UdpSocket) -> Option<Arrival> {
    let mut buffer = vec![0; 65_536];
    let mut control = nix::cmsg_space!(nix::sys::time::TimeSpec);
    let mut parts = [IoSliceMut::new(&mut buffer)];
    let message = recvmsg::<SockaddrStorage>(
        socket.as_raw_fd(),
        &mut parts,
        Some(&mut control),
        MsgFlags::empty(),
    )
    .ok()?;
    let received_ns = message.cmsgs().unwrap().find_map(|part| {
        let ControlMessageOwned::ScmTimestampns(at) = part else {
            return None;
        };
        Some(nanoseconds(at))
    })?;
    let number = |at: usize| u64::from_be_bytes(buffer[at..at + 8].try_into().unwrap());
    Some(Arrival {
        index: number(0) as usize,
        sent_ns: number(8),
        received_ns,
    })
}

fn wall_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::CLOCK_REALTIME).unwrap())
}

fn nanoseconds(at: nix::sys::time::TimeSpec) -> u64 {
    at.tv_sec() as u64 * 1_000_000_000 + at.tv_nsec() as u64
}

/// The value that `ratio` of all do not exceed.
pub fn quantile(values: &mut [u64], ratio: f64) -> u64 {
    values.sort_unstable();
    values[((values.len() - 1) as f64 * ratio).round() as usize]
}
