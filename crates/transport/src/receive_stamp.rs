//! The kernel's receive time of data read from a socket (SO_TIMESTAMPING, software stamps). On a
//! datagram socket the stamp is the datagram's arrival. On a stream the stamp is the arrival of the
//! last segment with bytes of the read. A stamp comes with the read and costs no system call.
//!
//! For: separating the arrival from the wake-up and read of this process.
//! Not for: send times. A send stamp is an event on the socket. A reactor would take the event for
//! the end of the stream's writing side.

use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, RecvMsg, SockaddrLike, SockaddrStorage, TimestampingFlag,
    recvmsg, setsockopt, sockopt,
};
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::atomic::{AtomicI64, Ordering};

/// The size of a control message with stamps, in bytes: a header and three stamps.
const CONTROL_BYTES: usize = 64;
/// The value in [`LastArrival`] when no data came yet, or data without a stamp.
const NONE: i64 = 0;

/// The arrival of the data last read from a connection, in nanoseconds of wall time. The reader of
/// the socket writes the value, and the receiver of the data reads the value.
#[derive(Debug, Default)]
pub struct LastArrival(AtomicI64);

impl LastArrival {
    /// Notes a read, with this stamp or without a stamp.
    pub fn set(&self, wall_ns: Option<i64>) {
        self.0.store(wall_ns.unwrap_or(NONE), Ordering::Release);
    }

    /// Returns the arrival of the data last read. `None` also when these data had no stamp: the
    /// stamp of earlier data would be wrong.
    pub fn wall_ns(&self) -> Option<i64> {
        Some(self.0.load(Ordering::Acquire)).filter(|wall_ns| *wall_ns != NONE)
    }
}

/// Requests the kernel's stamps for the socket's data from now on. Stamps begin a while after the
/// first request on the machine; see [`crate::stamped_udp::keep_stamping`].
pub fn want_stamps(socket: &impl AsFd) -> io::Result<()> {
    let wanted = TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE;
    Ok(setsockopt(socket, sockopt::Timestamping, &wanted)?)
}

/// The result of a read: length and stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StampedRead {
    /// The number of bytes in the buffer.
    pub length: usize,
    /// The wall time of the kernel's reception, in ns.
    pub wall_ns: Option<i64>,
}

/// Reads the available bytes. Errors with `WouldBlock` when no bytes are available.
pub fn receive(socket: &impl AsRawFd, buffer: &mut [u8]) -> io::Result<StampedRead> {
    let (received, ()) = take(socket.as_raw_fd(), buffer, |_: Option<()>| ())?;
    Ok(received)
}

/// Reads a datagram and its source address.
pub fn receive_from(
    socket: &impl AsRawFd,
    buffer: &mut [u8],
) -> io::Result<(StampedRead, SocketAddr)> {
    let (received, from) = take(socket.as_raw_fd(), buffer, socket_address)?;
    Ok((received, from.ok_or(io::ErrorKind::Unsupported)?))
}

pub(crate) fn socket_address(storage: Option<SockaddrStorage>) -> Option<SocketAddr> {
    let storage = storage?;
    let v4 = storage
        .as_sockaddr_in()
        .map(|&v4| SocketAddr::V4(v4.into()));
    v4.or_else(|| {
        storage
            .as_sockaddr_in6()
            .map(|&v6| SocketAddr::V6(v6.into()))
    })
}

/// A buffer with the alignment of control messages' headers.
#[repr(align(8))]
struct ControlBuffer([u8; CONTROL_BYTES]);

fn take<S: SockaddrLike, A>(
    socket: RawFd,
    buffer: &mut [u8],
    address: impl Fn(Option<S>) -> A,
) -> io::Result<(StampedRead, A)> {
    let mut control = ControlBuffer([0; CONTROL_BYTES]);
    loop {
        let mut parts = [IoSliceMut::new(&mut *buffer)];
        let control = Some(&mut control.0[..]);
        match recvmsg::<S>(socket, &mut parts, control, MsgFlags::empty()) {
            Ok(message) => {
                let wall_ns = stamp_of(&message);
                let length = message.bytes;
                return Ok((StampedRead { length, wall_ns }, address(message.address)));
            }
            Err(Errno::EINTR) => (),
            Err(error) => return Err(error.into()),
        }
    }
}

fn stamp_of<S>(message: &RecvMsg<'_, '_, S>) -> Option<i64> {
    message.cmsgs().ok()?.find_map(|part| software_stamp(&part))
}

/// Returns the stamp in a control message. `None` for another kind of message, or without a stamp.
pub(crate) fn software_stamp(part: &ControlMessageOwned) -> Option<i64> {
    let ControlMessageOwned::ScmTimestampsns(stamps) = part else {
        return None;
    };
    let wall_ns = stamps.system.tv_sec() * 1_000_000_000 + stamps.system.tv_nsec();
    (wall_ns != NONE).then_some(wall_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::wall_ns;
    use crate::stamped_udp::keep_stamping;
    use nix::cmsg_space;
    use nix::sys::time::TimeSpec;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::thread;
    use std::time::Duration;

    /// A pause longer than the machine usually takes from sending to delivering over loopback.
    const PAUSE: Duration = Duration::from_millis(30);

    fn stream() -> (TcpStream, TcpStream) {
        keep_stamping();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        want_stamps(&near).unwrap();
        let far = listener.accept().unwrap().0;
        far.set_nodelay(true).unwrap();
        (near, far)
    }

    #[test]
    fn the_control_buffer_holds_the_stamps() {
        assert_eq!(cmsg_space!([TimeSpec; 3]).len(), CONTROL_BYTES);
    }

    #[test]
    fn a_streams_stamp_is_of_the_last_segment_read_and_not_of_the_reading() {
        let (near, mut far) = stream();
        let first_ns = wall_ns();
        far.write_all(b"first").unwrap();
        thread::sleep(PAUSE);
        let second_ns = wall_ns();
        far.write_all(b"second").unwrap();
        thread::sleep(PAUSE);
        let mut buffer = [0; 5];
        let first = receive(&near, &mut buffer).unwrap();
        let second = receive(&near, &mut [0; 64]).unwrap();
        assert_eq!((&buffer, second.length), (b"first", 6));
        let second_wall_ns = second.wall_ns.unwrap();
        assert!(first.wall_ns.unwrap() >= first_ns);
        assert!(second_wall_ns >= second_ns, "{first:?} {second:?}");
        assert!(second_wall_ns < wall_ns() - PAUSE.as_nanos() as i64 / 2);
        // The last segment's also when one read takes both.
        far.write_all(b"first").unwrap();
        thread::sleep(PAUSE);
        let second_ns = wall_ns();
        far.write_all(b"second").unwrap();
        thread::sleep(PAUSE);
        let both = receive(&near, &mut [0; 64]).unwrap();
        assert!(both.length == 11 && both.wall_ns.unwrap() >= second_ns);
    }

    #[test]
    fn datagrams_have_their_sources() {
        keep_stamping();
        for ip in ["127.0.0.1:0", "[::1]:0"] {
            let (near, far) = (UdpSocket::bind(ip).unwrap(), UdpSocket::bind(ip).unwrap());
            want_stamps(&near).unwrap();
            let sent_ns = wall_ns();
            far.send_to(b"datagram", near.local_addr().unwrap())
                .unwrap();
            let (received, from) = receive_from(&near, &mut [0; 64]).unwrap();
            assert_eq!((received.length, from), (8, far.local_addr().unwrap()));
            assert!((sent_ns..=wall_ns()).contains(&received.wall_ns.unwrap()));
        }
    }

    #[test]
    fn without_being_asked_for_there_is_no_stamp() {
        keep_stamping();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        listener.accept().unwrap().0.write_all(b"x").unwrap();
        let received = receive(&near, &mut [0; 8]).unwrap();
        assert_eq!((received.length, received.wall_ns), (1, None));
        let arrival = LastArrival::default();
        assert_eq!(arrival.wall_ns(), None);
        arrival.set(Some(5));
        assert_eq!(arrival.wall_ns(), Some(5));
        arrival.set(received.wall_ns);
        assert_eq!(arrival.wall_ns(), None);
    }
}
