//! The receive ring of a packet socket, TPACKET_V2 (packet(7), Documentation/networking/
//! packet_mmap.rst of the kernel). The ring holds frames in memory shared with the kernel, each
//! with an arrival time. The reason for V2: V3 hands over blocks of frames, and wakes the reader
//! only for a full or old block. Not for: the content of frames.

use super::ethernet::HEADER_BYTES as ETHERNET_HEADER_BYTES;
use super::socket::set_option;
use nix::errno::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

/// Maximum number of frames waiting for the reader, unless large frames need more than
/// [`LIMIT_BYTES`].
const FRAMES_COUNT: usize = 10_240;
/// Maximum memory for the frames, reached when packets are larger than usual.
const LIMIT_BYTES: usize = 64 << 20;
/// Size of one allocation by the kernel: a multiple of every frame size up to this size.
const BLOCK_BYTES: usize = 64 << 10;
/// Room for any usual packet, for a later increase of the MTU.
const LEAST_FRAME_BYTES: usize = 2_048;

/// The receive ring. The ring's socket has to live as long as the ring.
#[derive(Debug)]
pub struct Ring {
    memory: NonNull<libc::c_void>,
    frame_bytes: usize,
    frames_count: usize,
    next: usize,
    held: Option<Frame>,
}

/// A frame received from the kernel.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// Arrival time by `CLOCK_REALTIME`, in ns.
    pub stamp_wall_ns: u64,
    /// True when the frame is as on a wire: whole, with computed checksums.
    pub is_genuine: bool,
    offset: usize,
    length: usize,
}

/// The number and size of a ring's frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    frame_bytes: usize,
    block_bytes: usize,
    blocks_count: usize,
}

impl Layout {
    fn with_packet_bytes(largest_bytes: usize) -> Self {
        let frame_bytes = (packet_offset() + largest_bytes)
            .next_power_of_two()
            .max(LEAST_FRAME_BYTES);
        let block_bytes = frame_bytes.max(BLOCK_BYTES);
        let ring_bytes = (FRAMES_COUNT * frame_bytes).min(LIMIT_BYTES);
        Self {
            frame_bytes,
            block_bytes,
            blocks_count: ring_bytes / block_bytes,
        }
    }

    fn frames_count(self) -> usize {
        self.blocks_count * (self.block_bytes / self.frame_bytes)
    }
}

/// Returns the largest offset of the IP packet in a frame. Before the packet come the kernel's
/// header and the Ethernet header, for which the kernel reserves at least 16 bytes.
fn packet_offset() -> usize {
    let reserved = ETHERNET_HEADER_BYTES.max(16);
    (libc::TPACKET2_HDRLEN + reserved).next_multiple_of(libc::TPACKET_ALIGNMENT)
}

impl Ring {
    /// Gives `socket`, which must not be bound yet, a ring for packets of up to `largest_bytes`.
    pub fn new(socket: BorrowedFd<'_>, largest_bytes: usize) -> Result<Self, Errno> {
        let layout = Layout::with_packet_bytes(largest_bytes);
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        set_option(socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
        let request = libc::tpacket_req {
            tp_block_size: layout.block_bytes as libc::c_uint,
            tp_block_nr: layout.blocks_count as libc::c_uint,
            tp_frame_size: layout.frame_bytes as libc::c_uint,
            tp_frame_nr: layout.frames_count() as libc::c_uint,
        };
        set_option(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        Ok(Self {
            memory: map(socket, layout.blocks_count * layout.block_bytes)?,
            frame_bytes: layout.frame_bytes,
            frames_count: layout.frames_count(),
            next: 0,
            held: None,
        })
    }

    /// Returns the size of the largest packet fitting into a frame.
    pub fn largest_packet_bytes(&self) -> usize {
        self.frame_bytes - packet_offset()
    }

    /// Gives the held frame back to the kernel and holds the next; `None` when no frame has come.
    pub fn advance(&mut self) -> Option<Frame> {
        if self.held.take().is_some() {
            // Everything read from the frame was read before this.
            self.status(self.next)
                .store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % self.frames_count;
        }
        let status = self.status(self.next).load(Ordering::Acquire);
        if status & libc::TP_STATUS_USER != 0 {
            self.held = Some(self.read(self.next, status));
        }
        self.held
    }

    /// Returns the held frame, from the Ethernet header on; empty when no frame is held.
    pub fn held_bytes(&self) -> &[u8] {
        let Some(frame) = self.held else {
            return &[];
        };
        // SAFETY: within the mapping (checked when the frame was read); the kernel does not touch
        // the frame until `advance` gives it back, which needs `self` mutably.
        unsafe {
            slice::from_raw_parts(
                self.pointer_at(frame.offset).cast::<u8>().as_ptr(),
                frame.length,
            )
        }
    }

    fn read(&self, index: usize, status: u32) -> Frame {
        let start = index * self.frame_bytes;
        // SAFETY: every frame starts with this header, which fits into it, and the kernel has
        // handed the frame over.
        let header = unsafe { self.pointer_at(start).cast::<libc::tpacket2_hdr>().read() };
        let (offset, length) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
        let fits = offset + length <= self.frame_bytes;
        let is_whole = fits && header.tp_len == header.tp_snaplen;
        Frame {
            stamp_wall_ns: u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec),
            is_genuine: is_whole && status & libc::TP_STATUS_CSUMNOTREADY == 0,
            offset: start + offset,
            length: if fits { length } else { 0 },
        }
    }

    fn status(&self, index: usize) -> &AtomicU32 {
        // SAFETY: the first field of the header every frame starts with, aligned since frames are;
        // the kernel changes it, hence atomic.
        unsafe { AtomicU32::from_ptr(self.pointer_at(index * self.frame_bytes).cast().as_ptr()) }
    }

    fn pointer_at(&self, offset: usize) -> NonNull<libc::c_void> {
        // SAFETY: callers stay within the frames, which are within the mapping.
        unsafe { self.memory.byte_add(offset) }
    }

    fn mapped_bytes(&self) -> usize {
        self.frames_count * self.frame_bytes
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: exactly what `map` mapped, and nothing borrowed from it is left.
        unsafe { libc::munmap(self.memory.as_ptr(), self.mapped_bytes()) };
    }
}

fn map(socket: BorrowedFd<'_>, bytes: usize) -> Result<NonNull<libc::c_void>, Errno> {
    // SAFETY: a new mapping at an address the kernel chooses.
    let memory = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            socket.as_raw_fd(),
            0,
        )
    };
    if memory == libc::MAP_FAILED {
        return Err(Errno::last());
    }
    NonNull::new(memory).ok_or(Errno::ENOMEM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_usual_packets_fit() {
        let layout = Layout::with_packet_bytes(1_500);
        assert_eq!(layout.frame_bytes, 2_048);
        assert!(layout.frames_count() >= 10_000);
        assert_eq!(Layout::with_packet_bytes(576), layout);
        assert_eq!(Layout::with_packet_bytes(2_048 - packet_offset()), layout);
    }

    #[test]
    fn frames_fill_blocks_and_large_ones_stay_within_the_limit() {
        for largest_bytes in [1_500, 1_969, 9_000, 16_384, 65_535] {
            let layout = Layout::with_packet_bytes(largest_bytes);
            assert!(layout.frame_bytes >= packet_offset() + largest_bytes);
            assert_eq!(layout.block_bytes % layout.frame_bytes, 0);
            assert!(layout.blocks_count * layout.block_bytes <= LIMIT_BYTES);
            assert!(layout.frames_count() >= 512, "{layout:?}");
        }
    }
}
