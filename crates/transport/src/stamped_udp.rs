//! A connected UDP socket for one exchange. The kernel stamps each datagram on the handover to the
//! device and on reception (SO_TIMESTAMPING, software stamps).
//!
//! For: separating the time on the wire from the time for wake-up and reading in this process.
//! Making and using the socket costs three system calls until the first datagram has left.
//! Not for: the stamps of a device (hardware stamps), nor for waiting. The user registers the
//! socket with a reactor, best after sending.

use crate::clock::wall_ns;
use crate::receive_stamp::{self, StampedRead, software_stamp};
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

/// The number of checks for stamps by [`keep_stamping`], and the pause between the checks.
const LOOK_COUNT: u32 = 2_000;
const LOOK_PAUSE: Duration = Duration::from_micros(50);
/// The pause of [`keep_stamping`] on a machine without a loopback device.
const BLIND_PAUSE: Duration = Duration::from_millis(5);

/// The time of a datagram's handover from the kernel to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransmitStamp {
    /// The datagram's number; the datagrams of a socket are counted from 0.
    pub index: u32,
    /// The wall time of the handover, in ns.
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
    /// Connects to a peer: the kernel then drops datagrams from other sources and reports a closed
    /// port. Connecting also binds, to the route's address and any port.
    pub fn connect(peer: SocketAddr) -> io::Result<Self> {
        let family = match peer {
            SocketAddr::V4(_) => AddressFamily::Inet,
            SocketAddr::V6(_) => AddressFamily::Inet6,
        };
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let socket = socket(family, SockType::Datagram, flags, None)?;
        // Without stamps the exchange is as good as ever, and its record says that there are none.
        let _ = setsockopt(&socket, sockopt::Timestamping, &wanted_stamps());
        connect(socket.as_raw_fd(), &SockaddrStorage::from(peer))?;
        Ok(Self { socket })
    }

    /// Returns the bound address and port.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        socket2::SockRef::from(&self.socket)
            .local_addr()?
            .as_socket()
            .ok_or_else(|| io::ErrorKind::Unsupported.into())
    }

    /// Sends one datagram to the peer.
    pub fn send(&self, datagram: &[u8]) -> io::Result<()> {
        loop {
            match send(self.as_raw_fd(), datagram, MsgFlags::empty()) {
                Ok(_) => return Ok(()),
                Err(Errno::EINTR) => (),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads an available datagram. Errors with `WouldBlock` when there is no datagram, and with
    /// the ICMP error of a sent datagram.
    pub fn try_receive(&self, buffer: &mut [u8]) -> io::Result<StampedRead> {
        receive_stamp::receive(self, buffer)
    }

    /// Takes the available stamps of sent datagrams, in the order of creation. A stamp is available
    /// as soon as the device has the datagram, usually before `send` returns.
    pub fn take_transmitted(&self) -> Vec<TransmitStamp> {
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

fn wanted_stamps() -> TimestampingFlag {
    TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_TX_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_OPT_ID
        | TimestampingFlag::SOF_TIMESTAMPING_OPT_TSONLY
}

/// Returns the stamp of an error queue's message; `None` for an ICMP error.
fn transmitted(message: &RecvMsg<'_, '_, SockaddrStorage>) -> Option<TransmitStamp> {
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
    Some(TransmitStamp {
        index: index?,
        wall_ns: wall_ns?,
    })
}

/// Keeps the kernel's stamping of received packets active until the end of this process, and waits
/// for its start. The kernel stamps while any socket of the machine requests stamps. The kernel
/// starts and stops stamping in the background by rewriting its own code. Without this call, a
/// short-lived socket would start stamping too late for its own datagram. The rewriting would also
/// add to the measured time.
pub fn keep_stamping() {
    static KEEPER: OnceLock<Option<UdpSocket>> = OnceLock::new();
    KEEPER.get_or_init(|| begin_stamping().ok());
}

fn begin_stamping() -> io::Result<UdpSocket> {
    let keeper = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    setsockopt(&keeper, sockopt::Timestamping, &wanted_stamps())?;
    if await_stamps().is_err() {
        thread::sleep(BLIND_PAUSE);
    }
    Ok(keeper)
}

/// Sends datagrams over loopback and reads each after a pause, until the stamp is older than the
/// read. A datagram without an arrival stamp gets a stamp at the read.
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

    /// Receives a datagram. Loopback delivers before the sender continues, but the machine may
    /// pause in between.
    fn receive(client: &StampedUdpSocket, buffer: &mut [u8]) -> StampedRead {
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
