//! The devices the forwarder reads packets from and writes packets to: one device per host. Not
//! for: making a host's device (see `path`), nor deciding when to read.

use crate::clock::monotonic_ns;
use crate::devices::arrival::Arrival;
use crate::devices::offload::{HEADER_BYTES, Offload};
use crate::devices::packet_buffer::PacketBuffer;
use crate::devices::packet_device::PacketDevice;
use nix::errno::Errno;
use nix::unistd::{read, write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The largest IP packet with the TUN header, in bytes.
const BUFFER_BYTES: usize = 65_536 + HEADER_BYTES;

/// The device of one host.
#[derive(Debug)]
pub enum Device {
    /// The host's TUN device.
    Tun(TunDevice),
    /// The packet socket on the host's virtual Ethernet pair.
    Packet(PacketDevice),
}

impl Device {
    /// Returns the next packet sent by the host; `None` when no packet is there (yet).
    pub fn receive(&mut self) -> Result<Option<Arrival<'_>>, Errno> {
        self.receive_before(u64::MAX)
    }

    /// Returns the next packet sent by the host, if the packet came before `limit_ns`
    /// (`CLOCK_MONOTONIC`). A later packet stays the next.
    pub fn receive_before(&mut self, limit_ns: u64) -> Result<Option<Arrival<'_>>, Errno> {
        match self {
            // None has come that was not read.
            Self::Tun(_) if limit_ns != u64::MAX && monotonic_ns() >= limit_ns => Ok(None),
            Self::Tun(device) => device.receive(),
            Self::Packet(device) => device.receive_before(limit_ns),
        }
    }

    /// Hands a packet or train to the host.
    pub fn send(&mut self, packet_buffer: &mut PacketBuffer) -> Result<(), Errno> {
        match self {
            Self::Tun(device) => {
                let header = packet_buffer.offload.encode();
                write(&device.descriptor, packet_buffer.prepend_header(header)).map(drop)
            }
            Self::Packet(device) => device.send(packet_buffer),
        }
    }

    /// Returns the number of the host's packets lost on this side of the device since the last
    /// call. The kernel's counters hold the packets dropped on the host's side.
    pub fn new_drops_count(&mut self) -> Result<u64, Errno> {
        match self {
            Self::Tun(_) => Ok(0),
            Self::Packet(device) => device.new_drops_count(),
        }
    }
}

impl AsFd for Device {
    /// Returns a descriptor, readable when there is a packet to receive.
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tun(device) => device.descriptor.as_fd(),
            Self::Packet(device) => device.as_fd(),
        }
    }
}

/// A TUN device: a packet's arrival is the moment of reading.
#[derive(Debug)]
pub struct TunDevice {
    descriptor: OwnedFd,
    buffer: Box<[u8]>,
}

impl TunDevice {
    /// Wraps a non-blocking descriptor.
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
