//! The `packet` back end's device: a packet socket on the far end of a host's virtual Ethernet
//! pair, with the kernel's time stamp of each packet's arrival. A reader held up by a busy machine
//! delays a packet's handling but not the packet's arrival time. Not for: making the pair (see
//! [`far_side`]), nor deciding when to read.

mod ethernet;
pub mod far_side;
mod offloads;
mod ring;
mod socket;
mod stamps;

use crate::clock::monotonic_ns;
use crate::devices::arrival::Arrival;
use crate::devices::offload::Offload;
use crate::devices::packet_buffer::PacketBuffer;
use ethernet::{HardwareAddress, header, ip_packet};
use nix::errno::Errno;
use nix::sys::socket::{getsockopt, sockopt};
use nix::unistd::write;
use ring::Ring;
use stamps::StampClock;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The hardware addresses of the two ends of a host's pair.
#[derive(Debug, Clone, Copy)]
struct Addresses {
    host: HardwareAddress,
    far: HardwareAddress,
}

/// The device of one host, seen from the link.
#[derive(Debug)]
pub struct PacketDevice {
    // Before the socket, so that it is unmapped first.
    ring: Ring,
    socket: OwnedFd,
    addresses: Addresses,
    stamps: StampClock,
    /// Number of frames without a packet as on a wire.
    not_genuine_count: u64,
    /// True when a frame has come since the ring was last found empty.
    something_came: bool,
    /// Arrival time of the packet still held by the ring, because the packet came too late to be
    /// handed out.
    put_off_ns: Option<u64>,
}

impl PacketDevice {
    /// Returns the next packet sent by the host, if the packet came before `limit_ns`. A later
    /// packet stays the next. `None` when no packet is there (yet).
    pub fn receive_before(&mut self, limit_ns: u64) -> Result<Option<Arrival<'_>>, Errno> {
        let next = match self.put_off_ns.take() {
            Some(at_ns) => Some((at_ns, monotonic_ns())),
            None => self.advance()?,
        };
        let Some((at_ns, read_ns)) = next else {
            return Ok(None);
        };
        if at_ns >= limit_ns {
            self.put_off_ns = Some(at_ns);
            return Ok(None);
        }
        let packet = ip_packet(self.ring.held_bytes()).unwrap_or_default();
        Ok(Some(Arrival {
            frame: packet,
            offload: Offload::default(),
            at_ns,
            read_ns,
        }))
    }

    /// Moves the ring to the next packet; returns the times of the packet's arrival and reading.
    fn advance(&mut self) -> Result<Option<(u64, u64)>, Errno> {
        loop {
            let Some(frame) = self.ring.advance() else {
                self.check_for_error()?;
                return Ok(None);
            };
            self.something_came = true;
            if ip_packet(self.ring.held_bytes()).is_none() {
                continue;
            }
            if frame.is_genuine {
                return Ok(Some(self.arrival_ns(frame.stamp_wall_ns)));
            }
            self.not_genuine_count += 1;
        }
    }

    /// Hands an IP packet to the host.
    pub fn send(&mut self, packet_buffer: &mut PacketBuffer) -> Result<(), Errno> {
        let Addresses { host, far } = self.addresses;
        let header = header(host, far, packet_buffer.packet()).ok_or(Errno::EPROTONOSUPPORT)?;
        write(&self.socket, packet_buffer.prepend_header(header)).map(drop)
    }

    /// Returns the number of the host's packets lost here since the last call. Lost are packets
    /// arriving at a full ring, and packets unlike those on a wire (too large, or without
    /// checksums). The second kind comes from offloads turned on again.
    pub fn new_drops_count(&mut self) -> Result<u64, Errno> {
        let full_count = socket::new_ring_drops_count(&self.socket)?;
        Ok(full_count + std::mem::take(&mut self.not_genuine_count))
    }

    /// Returns the times of the packet's arrival and reading.
    fn arrival_ns(&mut self, stamp_wall_ns: u64) -> (u64, u64) {
        let mut now_ns = monotonic_ns();
        if self.stamps.needs_readings(stamp_wall_ns, now_ns) {
            self.stamps.compare(&stamps::readings());
            now_ns = monotonic_ns();
        }
        (self.stamps.arrival_ns(stamp_wall_ns, now_ns), now_ns)
    }

    /// Checks for a socket without a device: such a socket is readable for ever and has no frames.
    fn check_for_error(&mut self) -> Result<(), Errno> {
        if std::mem::take(&mut self.something_came) {
            return Ok(());
        }
        match getsockopt(&self.socket, sockopt::SocketError)? {
            0 => Ok(()),
            error => Err(Errno::from_raw(error)),
        }
    }
}

impl AsFd for PacketDevice {
    /// Returns a descriptor, readable when there is a packet to receive.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
