//! What the ferry reads packets from and writes them to: one device per host.
//! Not for: making a host's device (that is `path`), nor deciding when to read.

use crate::clock::monotonic_ns;
use crate::devices::arrival::Arrival;
use crate::devices::offload::{HEADER_BYTES, Offload};
use crate::devices::packet_device::PacketDevice;
use crate::devices::parcel::Parcel;
use nix::errno::Errno;
use nix::unistd::{read, write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The largest IP packet and its header.
const BUFFER_BYTES: usize = 65_536 + HEADER_BYTES;

/// One host's.
#[derive(Debug)]
pub enum Device {
    /// Its TUN device.
    Tun(TunDevice),
    /// The packet socket on its virtual Ethernet pair.
    Packet(PacketDevice),
}

impl Device {
    /// The next packet the host sent; `None` if there is none (yet).
    pub fn receive(&mut self) -> Result<Option<Arrival<'_>>, Errno> {
        self.receive_before(u64::MAX)
    }

    /// The next packet the host sent, if it came before `limit_ns` (`CLOCK_MONOTONIC`); one that came
    /// later stays the next.
    pub fn receive_before(&mut self, limit_ns: u64) -> Result<Option<Arrival<'_>>, Errno> {
        match self {
            // None has come that was not read.
            Self::Tun(_) if limit_ns != u64::MAX && monotonic_ns() >= limit_ns => Ok(None),
            Self::Tun(device) => device.receive(),
            Self::Packet(device) => device.receive_before(limit_ns),
        }
    }

    /// Hand a packet or train to the host.
    pub fn send(&mut self, parcel: &mut Parcel) -> Result<(), Errno> {
        match self {
            Self::Tun(device) => {
                let header = parcel.offload.encode();
                write(&device.descriptor, parcel.behind(header)).map(drop)
            }
            Self::Packet(device) => device.send(parcel),
        }
    }

    /// Packets of the host that were lost on this side of its device since this was last asked;
    /// those its own side dropped stand in the kernel's counters of that.
    pub fn new_drops_count(&mut self) -> Result<u64, Errno> {
        match self {
            Self::Tun(_) => Ok(0),
            Self::Packet(device) => device.new_drops_count(),
        }
    }
}

impl AsFd for Device {
    /// Readable when there is a packet to receive.
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tun(device) => device.descriptor.as_fd(),
            Self::Packet(device) => device.as_fd(),
        }
    }
}

/// A TUN device: a packet has come when it was read.
#[derive(Debug)]
pub struct TunDevice {
    descriptor: OwnedFd,
    buffer: Box<[u8]>,
}

impl TunDevice {
    /// Around a descriptor that does not block.
    pub fn new(descriptor: OwnedFd) -> Self {
        Self {
            descriptor,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
        }
    }

    fn receive(&mut self) -> Result<Option<Arrival<'_>>, Errno> {
        loop {
            match read(&self.descriptor, &mut self.buffer) {
                Ok(length) => {
                    let at_ns = monotonic_ns();
                    let (header, frame) = self.buffer[..length]
                        .split_first_chunk::<HEADER_BYTES>()
                        .ok_or(Errno::EBADMSG)?;
                    return Ok(Some(Arrival {
                        frame,
                        offload: Offload::decode(*header),
                        at_ns,
                        read_ns: at_ns,
                    }));
                }
                Err(Errno::EAGAIN) => return Ok(None),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error),
            }
        }
    }
}
