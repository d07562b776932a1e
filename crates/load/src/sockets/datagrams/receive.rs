//! Receiving datagrams. The kernel stamps by the wall clock; `Stamps` converts to the monotonic
//! clock.

use nix::time::{ClockId, clock_gettime};
use resolab_transport::clock::monotonic_ns;
use std::io;
use std::mem;
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The buffer size for a datagram, above the largest answer a client may request. The size is no
/// power of two. Beginnings of buffers therefore do not all fall on the same cache lines.
const BUFFER_BYTES: usize = 4096 + 64;
/// The space for a control message with a timestamp, suitably aligned.
type ReceiveControl = [u64; 8];

/// The receive buffers of a worker.
pub struct ReceiveBatch {
    headers: Vec<libc::mmsghdr>,
    /// The I/O vectors, read only by the kernel, by the pointers in `headers`. Moving a vector
    /// leaves the contents in place.
    _iovecs: Vec<libc::iovec>,
    buffers: Vec<u8>,
    _controls: Vec<ReceiveControl>,
}

impl ReceiveBatch {
    /// Creates the buffers for the datagrams of one call.
    pub fn new(count: usize) -> Self {
        let mut buffers = vec![0_u8; count * BUFFER_BYTES];
        let mut controls: Vec<ReceiveControl> = vec![[0; 8]; count];
        let mut iovecs: Vec<libc::iovec> = buffers
            .chunks_exact_mut(BUFFER_BYTES)
            .map(|buffer| libc::iovec {
                iov_base: buffer.as_mut_ptr().cast(),
                iov_len: BUFFER_BYTES,
            })
            .collect();
        let headers = iovecs.iter_mut().zip(&mut controls);
        let headers = headers
            .map(|(iovec, control)| {
                // SAFETY: all-zero is a value of this plain C struct.
                let mut header: libc::mmsghdr = unsafe { mem::zeroed() };
                header.msg_hdr.msg_iov = iovec;
                header.msg_hdr.msg_iovlen = 1;
                header.msg_hdr.msg_control = control.as_mut_ptr().cast();
                header.msg_hdr.msg_controllen = size_of::<ReceiveControl>();
                header
            })
            .collect();
        Self {
            headers,
            _iovecs: iovecs,
            buffers,
            _controls: controls,
        }
    }

    /// Returns the number of datagrams per call.
    pub fn capacity(&self) -> usize {
        self.headers.len()
    }

    /// Receives the queued datagrams without waiting; returns their number.
    pub fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        // SAFETY: headers, iovecs, buffers and controls live as long as `self` and none has been
        // resized since the pointers were taken.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                self.headers.len() as u32,
                libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        };
        if count < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(count as usize)
    }

    /// Returns a datagram of the last call.
    pub fn message(&self, position: usize) -> &[u8] {
        let length = (self.headers[position].msg_len as usize).min(BUFFER_BYTES);
        let start = position * BUFFER_BYTES;
        &self.buffers[start..start + length]
    }

    /// Returns the kernel's wall-clock stamp of a datagram. Call this function once per call of
    /// `receive`: it makes room for the next stamp.
    pub fn realtime_ns(&mut self, position: usize) -> Option<u64> {
        let header = &mut self.headers[position].msg_hdr;
        let stamp = stamp_of(header);
        header.msg_controllen = size_of::<ReceiveControl>();
        stamp
    }
}

fn stamp_of(header: &libc::msghdr) -> Option<u64> {
    // SAFETY: the header's control buffer is ours and holds what the kernel wrote; the macros of
    // cmsg(3) stay inside it, and a stamp is read only where its length says there is one.
    unsafe {
        let message = libc::CMSG_FIRSTHDR(header).as_ref()?;
        let is_stamp =
            message.cmsg_level == libc::SOL_SOCKET && message.cmsg_type == libc::SCM_TIMESTAMPNS;
        let has_room =
            message.cmsg_len >= libc::CMSG_LEN(size_of::<libc::timespec>() as u32) as usize;
        if !is_stamp || !has_room {
            return None;
        }
        let stamp: libc::timespec = libc::CMSG_DATA(message)
            .cast::<libc::timespec>()
            .read_unaligned();
        Some(stamp.tv_sec as u64 * 1_000_000_000 + stamp.tv_nsec as u64)
    }
}

/// Requests kernel timestamps for datagrams received by the socket.
pub fn want_stamps(socket: &UdpSocket) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option's value is an int that lives through the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The offset between the wall clock and the monotonic clock. The offset is measured for each pass,
/// because the wall clock may be set.
#[derive(Debug, Clone, Copy)]
pub struct ClockOffset {
    realtime_minus_monotonic_ns: i64,
}

impl ClockOffset {
    /// Reads the wall clock and the monotonic clock.
    pub fn now() -> Self {
        let before_ns = monotonic_ns();
        let realtime_ns = clock_gettime(ClockId::CLOCK_REALTIME)
            .map_or(0, |now| now.tv_sec() * 1_000_000_000 + now.tv_nsec());
        let monotonic_ns = u64::midpoint(before_ns, monotonic_ns());
        Self {
            realtime_minus_monotonic_ns: realtime_ns - monotonic_ns as i64,
        }
    }

    /// Converts a wall-clock stamp to the monotonic clock.
    pub fn monotonic(self, realtime_ns: u64) -> u64 {
        realtime_ns.saturating_add_signed(-self.realtime_minus_monotonic_ns)
    }
}
