//! The sender of a train: numbered packets of one length, each sent at a planned time. The time of
//! handing each packet to the kernel is noted.

use super::ProbeError;
use super::hosts::socket_error;
use crate::clock;
use crate::datapath::realtime_scheduling;
use crate::hosts::Host;
use nix::errno::Errno;
use nix::sys::time::{TimeSpec, TimeValLike};
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// IPv4 and UDP headers.
pub const HEADER_BYTES: u32 = 28;
/// Shortest interval for real-time scheduling, in ns. At shorter intervals the sender may never
/// sleep. The kernel throttles a real-time thread without sleep, and the forwarder too.
const SHORTEST_REALTIME_INTERVAL_NS: u64 = 20_000;

/// The first bytes of every packet of a train, separating the train's packets from any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(pub u32);

/// Length of mark and number together.
pub const MARK_BYTES: usize = 8;

impl Mark {
    /// Writes mark and number at the start of a packet.
    pub fn write(self, number: u32, packet: &mut [u8]) {
        packet[..4].copy_from_slice(&self.0.to_be_bytes());
        packet[4..MARK_BYTES].copy_from_slice(&number.to_be_bytes());
    }

    /// Returns the number of a packet with this mark.
    pub fn number(self, packet: &[u8]) -> Option<u32> {
        let (mark, rest) = packet.split_first_chunk()?;
        let number = rest.first_chunk()?;
        (u32::from_be_bytes(*mark) == self.0).then(|| u32::from_be_bytes(*number))
    }
}

/// The sender of a train, with the train's parameters.
#[derive(Debug)]
pub struct TrainSender<'a> {
    pub host: Host,
    pub socket: &'a UdpSocket,
    pub target: SocketAddr,
    pub mark: Mark,
    pub packets_count: u32,
    pub packet_bytes: u32,
    pub interval_ns: u64,
    pub start_ns: u64,
}

/// The packets sent and the scheduling.
#[derive(Debug, Default)]
pub struct SentPackets {
    /// Time of sending each packet by `CLOCK_MONOTONIC`, in ns.
    pub sent_ns: Vec<u64>,
    pub realtime_scheduling: bool,
}

/// Forbids fragments: the kernel refuses packets above the MTU.
pub fn forbid_fragments(socket: &UdpSocket) -> Result<(), Errno> {
    let wanted = libc::IP_PMTUDISC_DO;
    // SAFETY: the kernel reads one integer, which outlives the call.
    let answer = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_MTU_DISCOVER,
            (&raw const wanted).cast(),
            size_of_val(&wanted) as libc::socklen_t,
        )
    };
    Errno::result(answer).map(drop)
}

impl TrainSender<'_> {
    /// Sends all packets on this thread; ends early when `stop` is set.
    pub fn run(
        &self,
        realtime_granted: bool,
        stop: &AtomicBool,
    ) -> Result<SentPackets, ProbeError> {
        let realtime = realtime_granted && self.interval_ns >= SHORTEST_REALTIME_INTERVAL_NS;
        let mut sent = SentPackets {
            sent_ns: Vec::with_capacity(self.packets_count as usize),
            realtime_scheduling: realtime_scheduling::make_sender(realtime),
        };
        if !sent.realtime_scheduling {
            realtime_scheduling::make_ordinary();
        }
        let mut payload = vec![0; (self.packet_bytes - HEADER_BYTES) as usize];
        for number in 0..self.packets_count {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            self.mark.write(number, &mut payload);
            sleep_until(self.start_ns + u64::from(number) * self.interval_ns);
            let now_ns = clock::monotonic_ns();
            match self.socket.send_to(&payload, self.target) {
                Ok(_) => sent.sent_ns.push(now_ns),
                Err(error) => self.refused(&error).map(|()| sent.sent_ns.push(now_ns))?,
            }
        }
        Ok(sent)
    }

    fn refused(&self, error: &std::io::Error) -> Result<(), ProbeError> {
        let error = error.raw_os_error().map_or(Errno::EIO, Errno::from_raw);
        if error == Errno::ENOBUFS {
            // A full device queue loses the packet, and the path's summary says so.
            return Ok(());
        }
        Err(if error == Errno::EMSGSIZE {
            ProbeError::PacketTooLarge(self.packet_bytes)
        } else {
            socket_error(self.host, "send", error)
        })
    }
}

fn sleep_until(at_ns: u64) {
    if clock::monotonic_ns() >= at_ns {
        return;
    }
    let at = TimeSpec::nanoseconds(at_ns as i64);
    let flags = ClockNanosleepFlags::TIMER_ABSTIME;
    while clock_nanosleep(ClockId::CLOCK_MONOTONIC, flags, &at) == Err(Errno::EINTR) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_under_their_own_mark_only() {
        let mut packet = [0; 20];
        Mark(0x0102_0304).write(77, &mut packet);
        assert_eq!(Mark(0x0102_0304).number(&packet), Some(77));
        assert_eq!(Mark(0x0102_0305).number(&packet), None);
        assert_eq!(Mark(0x0102_0304).number(&packet[..7]), None);
    }

    #[test]
    fn nobody_wakes_too_early() {
        let at_ns = clock::monotonic_ns() + 3_000_000;
        sleep_until(at_ns);
        assert!(clock::monotonic_ns() >= at_ns);
    }
}
