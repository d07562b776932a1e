//! A UDP socket with the kernel's receive time on each packet. Not for: selecting packets (see
//! `receive`).

use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

/// Receive buffer for unread packets, in bytes, if granted by the machine: some 100,000 full
/// packets.
const WANTED_BUFFER_BYTES: usize = 256 << 20;
/// Receive buffer on a machine with a limit (net.core.rmem_max), in bytes.
const MODEST_BUFFER_BYTES: usize = 16 << 20;
/// getsockopt(2) option at socket level from asm-generic/socket.h, missing in libc.
const SO_MEMINFO: libc::c_int = 55;
/// Number of values of `SO_MEMINFO`; the last value counts packets dropped at a full buffer.
const MEMINFO_VALUES: usize = 9;

/// The data read of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StampedPacket {
    /// Wall time of the arrival; `None` when the kernel put no stamp on the packet.
    pub wall_ns: Option<i64>,
    /// Number of buffer bytes filled.
    pub length: usize,
}

/// Requests stamps and a large buffer. The kernel begins to stamp a little later.
pub fn prepare(socket: &UdpSocket) -> Result<(), Errno> {
    setsockopt(socket, sockopt::ReceiveTimestampns, &true)?;
    setsockopt(socket, sockopt::RcvBufForce, &WANTED_BUFFER_BYTES)
        .or_else(|_| setsockopt(socket, sockopt::RcvBuf, &MODEST_BUFFER_BYTES))
}

/// Takes the next packet and reads the packet's start; `None` when no packet is there.
pub fn take(
    socket: &UdpSocket,
    start: &mut [u8],
    control: &mut [u8],
) -> Result<Option<StampedPacket>, Errno> {
    let mut parts = [IoSliceMut::new(start)];
    let flags = MsgFlags::MSG_DONTWAIT;
    let descriptor = socket.as_raw_fd();
    let message = match recvmsg::<SockaddrStorage>(descriptor, &mut parts, Some(control), flags) {
        Ok(message) => message,
        Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
        Err(error) => return Err(error),
    };
    let wall_ns = message.cmsgs()?.find_map(|part| {
        if let ControlMessageOwned::ScmTimestampns(at) = part {
            Some(nanoseconds(at))
        } else {
            None
        }
    });
    Ok(Some(StampedPacket {
        wall_ns,
        length: message.bytes,
    }))
}

/// Makes a buffer for the control messages of [`take`].
pub fn control_buffer() -> Vec<u8> {
    nix::cmsg_space!(TimeSpec)
}

/// Returns the number of packets dropped at a full buffer.
pub fn overflow_count(socket: &UdpSocket) -> Result<u32, Errno> {
    let mut values = [0_u32; MEMINFO_VALUES];
    let mut length = size_of_val(&values) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into the array, which outlives the call.
    let answer = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_MEMINFO,
            values.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    Errno::result(answer)?;
    Ok(values[MEMINFO_VALUES - 1])
}

fn nanoseconds(at: TimeSpec) -> i64 {
    at.tv_sec() * 1_000_000_000 + at.tv_nsec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_packet_is_read_with_its_stamp_and_overflow_is_counted() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        prepare(&socket).unwrap();
        // The kernel switches stamps on in the background.
        std::thread::sleep(Duration::from_millis(50));
        let to = socket.local_addr().unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.send_to(&[7; 100], to).unwrap();
        let (mut start, mut control) = ([0; 8], control_buffer());
        let taken = take(&socket, &mut start, &mut control).unwrap().unwrap();
        assert_eq!((taken.length, start), (8, [7; 8]));
        let wall_ns = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as i64;
        assert!((0..1_000_000_000).contains(&(wall_ns - taken.wall_ns.unwrap())));
        assert_eq!(take(&socket, &mut start, &mut control).unwrap(), None);
        assert_eq!(overflow_count(&socket).unwrap(), 0);
        setsockopt(&socket, sockopt::RcvBuf, &4_096).unwrap();
        for _ in 0..100 {
            sender.send_to(&[7; 1_000], to).unwrap();
        }
        assert!(overflow_count(&socket).unwrap() > 50);
    }
}
