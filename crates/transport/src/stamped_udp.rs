//! A connected UDP socket for one exchange, whose datagrams the kernel stamps as it hands them to
//! the device and as it receives them (SO_TIMESTAMPING, software stamps).
//!
//! For: telling what the wire took from what this process took to be woken and to read. Making
//! and using it costs three system calls until the first datagram has left.
//! Not for: the kernel's stamps of a device (hardware stamps), nor for waiting: whoever uses it
//! registers it with a reactor, best after sending.

use crate::clock::wall_ns;
use crate::receive_stamp::{self, Received, software_stamp};
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, RecvMsg, SockFlag, SockType, SockaddrStorage,
    TimestampingFlag, connect, recvmsg, send, setsockopt, socket, sockopt,
};
use nix::sys::time::TimeSpec;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

/// How often [`keep_stamping`] looks whether the kernel stamps, and the pause in between.
const LOOK_COUNT: u32 = 2_000;
const LOOK_PAUSE: Duration = Duration::from_micros(50);
/// Its pause where there is no loopback device to look at.
const BLIND_PAUSE: Duration = Duration::from_millis(5);

/// When the kernel handed a datagram to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmitted {
    /// Which one: datagrams of a socket are counted from 0.
    pub index: u32,
    /// Wall time.
    pub wall_ns: i64,
}

/// A connected, non-blocking UDP socket.
#[derive(Debug)]
pub struct StampedUdpSocket {
    socket: OwnedFd,
}

impl AsRawFd for StampedUdpSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

impl StampedUdpSocket {
    /// Connected to a peer, so that the kernel drops datagrams from elsewhere and reports a closed
    /// port. Connecting binds, to the address the route has and any port.
    pub fn connect(peer: SocketAddr) -> io::Result<Self> {
        let family = match peer {
            SocketAddr::V4(_) => AddressFamily::Inet,
            SocketAddr::V6(_) => AddressFamily::Inet6,
        };
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let socket = socket(family, SockType::Datagram, flags, None)?;
        // Without stamps the exchange is as good as ever, and its record says that there are none.
        let _ = setsockopt(&socket, sockopt::Timestamping, &stamps_wanted());
        connect(socket.as_raw_fd(), &SockaddrStorage::from(peer))?;
        Ok(Self { socket })
    }

    /// Where it is bound.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        socket2::SockRef::from(&self.socket)
            .local_addr()?
            .as_socket()
            .ok_or_else(|| io::ErrorKind::Unsupported.into())
    }

    /// Send one datagram.
    pub fn send(&self, datagram: &[u8]) -> io::Result<()> {
        loop {
            match send(self.as_raw_fd(), datagram, MsgFlags::empty()) {
                Ok(_) => return Ok(()),
                Err(Errno::EINTR) => (),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Take a datagram that is there; `WouldBlock` if none is, and what ICMP said of one sent.
    pub fn try_receive(&self, buffer: &mut [u8]) -> io::Result<Received> {
        receive_stamp::receive(self, buffer)
    }

    /// Take the stamps of the datagrams sent that are there, in the order of their making. A stamp
    /// is there as soon as the device has the datagram, usually before `send` returns.
    pub fn take_transmitted(&self) -> Vec<Transmitted> {
        let mut taken = Vec::new();
        let mut control = cmsg_space!([TimeSpec; 3], libc::sock_extended_err, SockaddrStorage);
        loop {
            let flags = MsgFlags::MSG_ERRQUEUE;
            match recvmsg(self.as_raw_fd(), &mut [], Some(&mut control), flags) {
                Ok(message) => taken.extend(transmitted(&message)),
                Err(_) => return taken,
            }
        }
    }
}

fn stamps_wanted() -> TimestampingFlag {
    TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_TX_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_OPT_ID
        | TimestampingFlag::SOF_TIMESTAMPING_OPT_TSONLY
}

/// The stamp of an error queue's message; `None` for an ICMP error.
fn transmitted(message: &RecvMsg<'_, '_, SockaddrStorage>) -> Option<Transmitted> {
    let (mut index, mut wall_ns) = (None, None);
    for part in message.cmsgs().ok()? {
        wall_ns = wall_ns.or(software_stamp(&part));
        if let ControlMessageOwned::Ipv4RecvErr(error, _)
        | ControlMessageOwned::Ipv6RecvErr(error, _) = part
        {
            let is_stamp = error.ee_origin == libc::SO_EE_ORIGIN_TIMESTAMPING;
            index = is_stamp.then_some(error.ee_data);
        }
    }
    Some(Transmitted {
        index: index?,
        wall_ns: wall_ns?,
    })
}

/// Have the kernel stamp received packets from now until this process ends, and wait until it
/// does. It stamps while any socket of the machine wants stamps, and begins and stops in the
/// background by rewriting code of its own: without this, sockets made for one exchange each would
/// be too late for their own datagram, and would pay for the rewriting inside the clock.
pub fn keep_stamping() {
    static KEEPER: OnceLock<Option<UdpSocket>> = OnceLock::new();
    KEEPER.get_or_init(|| begin_stamping().ok());
}

fn begin_stamping() -> io::Result<UdpSocket> {
    let keeper = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    setsockopt(&keeper, sockopt::Timestamping, &stamps_wanted())?;
    if await_stamps().is_err() {
        thread::sleep(BLIND_PAUSE);
    }
    Ok(keeper)
}

/// Send a datagram over loopback and read it a little later, until its stamp is older than the
/// reading: one that came without a stamp gets that of its reading.
fn await_stamps() -> io::Result<()> {
    let receiver = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let peer = StampedUdpSocket::connect(receiver.local_addr()?)?;
    receiver.connect(peer.local_address()?)?;
    for _ in 0..LOOK_COUNT {
        receiver.send(&[0])?;
        thread::sleep(LOOK_PAUSE);
        let read_ns = wall_ns();
        let received = peer.try_receive(&mut [0])?;
        if received.wall_ns.is_some_and(|wall_ns| wall_ns < read_ns) {
            return Ok(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv6Addr;

    fn pair(ip: std::net::IpAddr) -> (UdpSocket, StampedUdpSocket) {
        keep_stamping();
        let server = UdpSocket::bind((ip, 0)).unwrap();
        server
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        let client = StampedUdpSocket::connect(server.local_addr().unwrap()).unwrap();
        (server, client)
    }

    /// Loopback delivers before the sender goes on, but the machine may pause in between.
    fn receive(client: &StampedUdpSocket, buffer: &mut [u8]) -> Received {
        for _ in 0..1000 {
            match client.try_receive(buffer) {
                Ok(received) => return received,
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
            thread::sleep(Duration::from_millis(1));
        }
        panic!("nothing came");
    }

    #[test]
    fn each_datagram_has_a_stamp_of_its_own_between_what_surrounds_it() {
        for ip in [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()] {
            let (server, client) = pair(ip);
            let mut instants = Vec::new();
            for text in [b"one", b"two"] {
                instants.push(wall_ns());
                client.send(text).unwrap();
            }
            instants.push(wall_ns());
            let (_, from) = server.recv_from(&mut [0; 8]).unwrap();
            server.send_to(b"back", from).unwrap();
            let answered_ns = wall_ns();
            // The stamp is of the arrival, not of the reading.
            thread::sleep(Duration::from_millis(2));
            let mut buffer = [0; 8];
            let received = receive(&client, &mut buffer);
            assert_eq!(&buffer[..received.length], b"back");
            let wall_ns = received.wall_ns.unwrap();
            assert!(instants[2] < wall_ns && wall_ns < answered_ns + 1_000_000);
            let taken = client.take_transmitted();
            let indices: Vec<_> = taken.iter().map(|stamp| stamp.index).collect();
            assert_eq!(indices, [0, 1]);
            for (stamp, around) in taken.iter().zip(instants.windows(2)) {
                assert!(
                    (around[0]..=around[1]).contains(&stamp.wall_ns),
                    "{stamp:?}"
                );
            }
            assert_eq!(client.take_transmitted(), []);
        }
    }

    #[test]
    fn a_closed_port_is_reported_and_its_query_stamped_all_the_same() {
        let (server, client) = pair(Ipv4Addr::LOCALHOST.into());
        drop(server);
        client.send(b"x").unwrap();
        let error = client.try_receive(&mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(client.take_transmitted().len(), 1);
    }
}
