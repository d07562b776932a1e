//! The `packet` back end's device: a packet socket on the far end of a host's virtual Ethernet pair,
//! with the kernel's stamp of when each packet came, so that a reader held up by a busy machine
//! delays what is done about a packet but not when it counts as come.
//! Not for: making the pair (that is [`far_side`]), nor deciding when to read.

mod ethernet;
pub mod far_side;
mod offloads;
mod ring;
mod socket;
mod stamps;

use crate::clock::monotonic_ns;
use crate::devices::arrival::Arrival;
use crate::devices::offload::Offload;
use crate::devices::parcel::Parcel;
use ethernet::{HardwareAddress, header, ip_packet};
use nix::errno::Errno;
use nix::sys::socket::{getsockopt, sockopt};
use nix::unistd::write;
use ring::Ring;
use stamps::StampClock;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The ends of a host's pair.
#[derive(Debug, Clone, Copy)]
struct Addresses {
    host: HardwareAddress,
    far: HardwareAddress,
}

/// One host's device, from the link's side.
#[derive(Debug)]
pub struct PacketDevice {
    // Before the socket, so that it is unmapped first.
    ring: Ring,
    socket: OwnedFd,
    addresses: Addresses,
    stamps: StampClock,
    /// Frames that were no packet a wire would carry.
    not_genuine_count: u64,
    /// Whether a frame has come since the ring was last found empty.
    something_came: bool,
    /// When the packet came that the ring holds and that was not handed out, since it came too late.
    put_off_ns: Option<u64>,
}

impl PacketDevice {
    /// The next packet the host sent, if it came before `limit_ns`; one that came later stays the
    /// next. `None` if there is none (yet).
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

    /// Have the ring hold the next packet; when it came and was read.
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

    /// Hand an IP packet to the host.
    pub fn send(&mut self, parcel: &mut Parcel) -> Result<(), Errno> {
        let Addresses { host, far } = self.addresses;
        let header = header(host, far, parcel.packet()).ok_or(Errno::EPROTONOSUPPORT)?;
        write(&self.socket, parcel.behind(header)).map(drop)
    }

    /// Packets of the host that were lost here since this was last asked: those that came while the
    /// ring was full, and those that were no packets a wire would carry (too large, or without
    /// their checksums), which offloads that came on again would make.
    pub fn new_drops_count(&mut self) -> Result<u64, Errno> {
        let full_count = socket::new_ring_drops_count(&self.socket)?;
        Ok(full_count + std::mem::take(&mut self.not_genuine_count))
    }

    /// When the packet came, and when it was read.
    fn arrival_ns(&mut self, stamp_wall_ns: u64) -> (u64, u64) {
        let mut now_ns = monotonic_ns();
        if self.stamps.needs_readings(stamp_wall_ns, now_ns) {
            self.stamps.compare(&stamps::readings());
            now_ns = monotonic_ns();
        }
        (self.stamps.arrival_ns(stamp_wall_ns, now_ns), now_ns)
    }

    /// A socket whose device went away is readable for ever and has no frames.
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
    /// Readable when there is a packet to receive.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
