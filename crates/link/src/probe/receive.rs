//! The receiver of a train. Takes the train's packets with the kernel's stamps, until all have come
//! or the train has been silent for long enough.

use super::ProbeError;
use super::hosts::{HostNetworks, socket_error};
use super::kernel_stamps::{self, StampedPacket};
use super::send::{MARK_BYTES, Mark};
use crate::clock;
use crate::hosts::Host;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Interval in ms between a silent receiver's checks for the end.
const LOOK_EVERY_MS: u8 = 50;

/// The receiver of a train, with the train's parameters.
#[derive(Debug)]
pub struct TrainReceiver<'a> {
    pub host: Host,
    pub socket: &'a UdpSocket,
    pub networks: &'a HostNetworks,
    pub mark: Mark,
    pub packets_count: u32,
    /// Silence in ns after the last packet sent or received, ending the reception.
    pub silence_ns: u64,
    /// Time of sending the last packet, in ns; 0 before.
    pub sender_ended_ns: &'a AtomicU64,
    /// Set to true when the sender failed.
    pub stop: &'a AtomicBool,
}

/// Wall time of every packet's first arrival.
type ArrivalTimes = Vec<Option<i64>>;

impl TrainReceiver<'_> {
    /// Receives on this thread.
    pub fn run(&self) -> Result<ArrivalTimes, ProbeError> {
        let mut arrivals: ArrivalTimes = vec![None; self.packets_count as usize];
        let (mut left, mut last_ns) = (self.packets_count, 0);
        let mut control = kernel_stamps::control_buffer();
        while left > 0 && !self.stop.load(Ordering::Relaxed) && !self.silent_since(last_ns) {
            self.wait()?;
            let before = left;
            while let Some((number, wall_ns)) = self.take(&mut control)? {
                // A second copy of a packet, or a number beyond the train, is not counted.
                if let Some(arrival @ None) = arrivals.get_mut(number as usize) {
                    *arrival = Some(wall_ns);
                    left -= 1;
                }
            }
            if left < before {
                last_ns = clock::monotonic_ns();
            }
        }
        self.check_overflow()?;
        Ok(arrivals)
    }

    /// Takes the next packet of the train, if there is any.
    fn take(&self, control: &mut [u8]) -> Result<Option<(u32, i64)>, ProbeError> {
        let mut start = [0; MARK_BYTES];
        loop {
            let taken = kernel_stamps::take(self.socket, &mut start, control)
                .map_err(|error| socket_error(self.host, "receive", error))?;
            let Some(StampedPacket { wall_ns, length }) = taken else {
                return Ok(None);
            };
            if let Some(number) = self.mark.number(&start[..length]) {
                let wall_ns = wall_ns.ok_or(ProbeError::NoStamp(self.host.name()))?;
                return Ok(Some((number, wall_ns)));
            }
        }
    }

    fn wait(&self) -> Result<(), ProbeError> {
        let mut waited = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        match poll(&mut waited, PollTimeout::from(LOOK_EVERY_MS)) {
            Ok(0) => self.networks.check_path(),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn silent_since(&self, last_ns: u64) -> bool {
        let sender_ended_ns = self.sender_ended_ns.load(Ordering::Relaxed);
        sender_ended_ns != 0
            && clock::monotonic_ns() > sender_ended_ns.max(last_ns) + self.silence_ns
    }

    fn check_overflow(&self) -> Result<(), ProbeError> {
        match kernel_stamps::overflow_count(self.socket) {
            Ok(0) => Ok(()),
            Ok(count) => Err(ProbeError::Overflow {
                host: self.host.name(),
                count,
            }),
            Err(error) => Err(socket_error(
                self.host,
                "read the socket's drop counter",
                error,
            )),
        }
    }
}
