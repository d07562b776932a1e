//! When the kernel received what a socket is read for (SO_TIMESTAMPING, software stamps): on a
//! datagram socket the datagram's own arrival, on a stream that of the last segment a read took
//! bytes from. A stamp comes with the read and costs no system call.
//!
//! For: telling when something came from when this process was woken and had read it.
//! Not for: when something left. Such a stamp is an event on the socket, and a reactor takes it
//! for a stream that can no longer be written.

use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, RecvMsg, SockaddrLike, SockaddrStorage, TimestampingFlag,
    recvmsg, setsockopt, sockopt,
};
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::atomic::{AtomicI64, Ordering};

/// What a control message with stamps takes: a header and three of them.
const CONTROL_BYTES: usize = 64;
/// In [`LastArrival`]: nothing came yet, or it came without a stamp.
const NONE: i64 = 0;

/// The arrival of what was last read from a connection; wall time, nanoseconds. Written by whoever
/// reads the socket, read by those whose data it was.
#[derive(Debug, Default)]
pub struct LastArrival(AtomicI64);

impl LastArrival {
    /// Bytes were read, with this stamp or without.
    pub fn set(&self, wall_ns: Option<i64>) {
        self.0.store(wall_ns.unwrap_or(NONE), Ordering::Release);
    }

    /// `None` as well if what was last read had no stamp: that of something else would be wrong.
    pub fn wall_ns(&self) -> Option<i64> {
        Some(self.0.load(Ordering::Acquire)).filter(|wall_ns| *wall_ns != NONE)
    }
}

/// Have the kernel stamp what the socket receives from now on. Stamps begin a while after the
/// first socket of the machine wants them; see [`crate::stamped_udp::keep_stamping`].
pub fn want_stamps(socket: &impl AsFd) -> io::Result<()> {
    let wanted = TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE;
    Ok(setsockopt(socket, sockopt::Timestamping, &wanted)?)
}

/// Bytes and their stamp, as received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// How much of the buffer they fill.
    pub length: usize,
    /// Wall time at which the kernel received them.
    pub wall_ns: Option<i64>,
}

/// Take what is there; `WouldBlock` if nothing is.
pub fn receive(socket: &impl AsRawFd, buffer: &mut [u8]) -> io::Result<Received> {
    let (received, ()) = take(socket.as_raw_fd(), buffer, |_: Option<()>| ())?;
    Ok(received)
}

/// Take a datagram and where it came from.
pub fn receive_from(
    socket: &impl AsRawFd,
    buffer: &mut [u8],
) -> io::Result<(Received, SocketAddr)> {
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

/// Aligned as the headers of control messages are.
#[repr(align(8))]
struct Control([u8; CONTROL_BYTES]);

fn take<S: SockaddrLike, A>(
    socket: RawFd,
    buffer: &mut [u8],
    address: impl Fn(Option<S>) -> A,
) -> io::Result<(Received, A)> {
    let mut control = Control([0; CONTROL_BYTES]);
    loop {
        let mut parts = [IoSliceMut::new(&mut *buffer)];
        let control = Some(&mut control.0[..]);
        match recvmsg::<S>(socket, &mut parts, control, MsgFlags::empty()) {
            Ok(message) => {
                let wall_ns = stamp_of(&message);
                let length = message.bytes;
                return Ok((Received { length, wall_ns }, address(message.address)));
            }
            Err(Errno::EINTR) => (),
            Err(error) => return Err(error.into()),
        }
    }
}

fn stamp_of<S>(message: &RecvMsg<'_, '_, S>) -> Option<i64> {
    message.cmsgs().ok()?.find_map(|part| software_stamp(&part))
}

/// The stamp in a control message; `None` if it has another kind or none.
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

    /// Longer than the machine takes from sending to delivering over loopback, as a rule.
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
