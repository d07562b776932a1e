//! A packet socket's options (packet(7)). Not for: the socket's ring.

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket, sockopt};
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Send buffer requested for packets entering a host, in bytes; the kernel may grant less, up to a
/// limit.
const SEND_BUFFER_BYTES: usize = 4 << 20;

/// Opens a packet socket in this thread's network namespace. The socket receives nothing until
/// bound, never blocks, bypasses every queueing discipline and does not receive its own packets.
pub fn open() -> Result<OwnedFd, Errno> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(AddressFamily::Packet, SockType::Raw, flags, None)?;
    let yes: libc::c_int = 1;
    for option in [libc::PACKET_IGNORE_OUTGOING, libc::PACKET_QDISC_BYPASS] {
        set_option(&socket, libc::SOL_PACKET, option, &yes)?;
    }
    // Makes the kernel stamp packets as they leave the host's end; otherwise it does so only when
    // they get to this socket.
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
    // Less room shows as packets the device lost.
    let _ = setsockopt(&socket, sockopt::SndBuf, &SEND_BUFFER_BYTES);
    Ok(socket)
}

/// Starts receiving all frames of a device, and sending to the device.
pub fn bind(socket: &OwnedFd, device: u32) -> Result<(), Errno> {
    // SAFETY: zeroed is a valid sockaddr_ll.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = device as libc::c_int;
    // SAFETY: a complete address of the length given.
    let bound = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    Errno::result(bound).map(drop)
}

/// Returns the number of frames lost to a full ring since the last call.
pub fn new_ring_drops_count(socket: &OwnedFd) -> Result<u64, Errno> {
    let mut counts = libc::tpacket_stats {
        tp_packets: 0,
        tp_drops: 0,
    };
    let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
    // SAFETY: the kernel writes no more than `length` bytes into `counts`.
    let asked = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut counts).cast(),
            &raw mut length,
        )
    };
    Errno::result(asked).map(|_| u64::from(counts.tp_drops))
}

/// Sets a socket option from a plain C structure.
pub fn set_option<T>(
    socket: impl std::os::fd::AsFd,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> Result<(), Errno> {
    let socket: BorrowedFd<'_> = socket.as_fd();
    // SAFETY: the kernel reads no more than the length of `value`.
    let set = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    Errno::result(set).map(drop)
}
