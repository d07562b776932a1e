//! Sends packets back to this process on the route of a path's packets: socket, device, this
//! program, device, socket, reader's wake-up. A virtual processor shares caches with the other
//! guests of the machine. After a packet's milliseconds on a link, kernel code and tables must come
//! from memory again. These reloads were found to double the cost of an exchange. For:
//! `keep_awake`. Not for: measuring.

use crate::devices::offload::HEADER_BYTES;
use crate::hosts::tun;
use crate::hosts::{CLIENT_ADDRESS, DEVICE_NAME, LINK_PREFIX_LENGTH, SERVER_ADDRESS};
use crate::netlink::Netlink;
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, unshare};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrIn, connect, setsockopt, socket, sockopt,
};
use nix::unistd::{read, write};
use std::io::{self, Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};

const UDP_PORT: u16 = 9;
const TCP_PORT: u16 = 9;
const FRAME_BYTES: usize = 2_048;
/// Position of the IPv4 source address in a frame; the destination follows.
const SOURCE: usize = HEADER_BYTES + 12;
const ADDRESS_BYTES: usize = 4;
const PROTOCOL: usize = HEADER_BYTES + 9;
const PORTS: usize = HEADER_BYTES + 20;
const PORT_BYTES: usize = 2;
/// Roughly the sizes of a query and a response.
const QUERY: [u8; 80] = [0; 80];
const RESPONSE: [u8; 300] = [0; 300];

/// A private network namespace of this thread with a loop-back device. The device returns each
/// packet with the two addresses swapped.
pub struct CacheWarmer {
    device: OwnedFd,
    udp: UdpSocket,
    listener: TcpListener,
    readiness: Epoll,
    runs_count: u64,
}

impl CacheWarmer {
    /// Moves this thread into a new namespace. `Err` without the right to make a namespace.
    pub fn prepare() -> io::Result<Self> {
        unshare(CloneFlags::CLONE_NEWNET)?;
        let device = tun::create(DEVICE_NAME, true)?;
        let index = if_nametoindex(DEVICE_NAME)?;
        let mut netlink = Netlink::open()?;
        netlink.set_up(index)?;
        netlink.add_address(index, CLIENT_ADDRESS.into(), LINK_PREFIX_LENGTH)?;
        let udp = UdpSocket::bind((CLIENT_ADDRESS, UDP_PORT))?;
        udp.set_nonblocking(true)?;
        let listener = TcpListener::bind((CLIENT_ADDRESS, TCP_PORT))?;
        listener.set_nonblocking(true)?;
        let readiness = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        readiness.add(&udp, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        readiness.add(&listener, EpollEvent::new(EpollFlags::EPOLLIN, 1))?;
        Ok(Self {
            device,
            udp,
            listener,
            readiness,
            runs_count: 0,
        })
    }

    /// Sends a datagram there and back and, every other time, makes a connection. Returns the
    /// arrivals; a missing arrival does no harm.
    pub fn run(&mut self) -> WarmerCounts {
        self.runs_count += 1;
        WarmerCounts {
            datagrams_count: self.datagram(),
            connections_count: match self.runs_count % 2 {
                0 => self.connection().map_or(0, |()| 1),
                _ => 0,
            },
        }
    }

    fn datagram(&self) -> u64 {
        let peer = SocketAddrV4::new(SERVER_ADDRESS, UDP_PORT);
        let _ = self.udp.send_to(&QUERY, peer);
        self.carry();
        self.poll_sockets();
        let mut buffer = [0; FRAME_BYTES];
        let mut count = 0;
        while self.udp.recv_from(&mut buffer).is_ok() {
            count += 1;
        }
        count
    }

    fn connection(&self) -> io::Result<()> {
        let mut client = connect_to_peer()?;
        self.carry();
        self.poll_sockets();
        let (mut server, _) = self.listener.accept()?;
        server.set_nonblocking(true)?;
        server.set_nodelay(true)?;
        let mut buffer = [0; FRAME_BYTES];
        client.write_all(&QUERY)?;
        self.carry();
        let asked = server.read(&mut buffer);
        server.write_all(&RESPONSE)?;
        self.carry();
        let answered = client.read(&mut buffer);
        // Ended by a reset: no side has to remember the connection.
        let reset = libc::linger {
            l_onoff: 1,
            l_linger: 0,
        };
        setsockopt(&client, sockopt::Linger, &reset)?;
        drop(client);
        self.carry();
        asked.and(answered).map(drop)
    }

    fn poll_sockets(&self) {
        let mut events = [EpollEvent::empty(); 2];
        let _ = self.readiness.wait(&mut events, EpollTimeout::ZERO);
    }

    /// Hands back every packet as if sent by the receiver, until no packet is left.
    fn carry(&self) {
        let mut frame = [0; FRAME_BYTES];
        while let Ok(length) = read(&self.device, &mut frame) {
            swap_addresses(&mut frame[..length]);
            let _ = write(&self.device, &frame[..length]);
        }
    }
}

fn connect_to_peer() -> io::Result<TcpStream> {
    let client = socket(
        AddressFamily::Inet,
        SockType::Stream,
        SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    setsockopt(&client, sockopt::TcpNoDelay, &true)?;
    let peer = SockaddrIn::from(SocketAddrV4::new(SERVER_ADDRESS, TCP_PORT));
    match connect(client.as_raw_fd(), &peer) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(TcpStream::from(client)),
        Err(error) => Err(error.into()),
    }
}

/// The arrivals of a run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct WarmerCounts {
    /// Number of datagrams received.
    pub datagrams_count: u64,
    /// Number of connections with a received query and response.
    pub connections_count: u64,
}

/// Swaps the addresses. For UDP, with a single socket here, swaps the ports too. Checksums stay
/// right.
fn swap_addresses(frame: &mut [u8]) {
    if let Some(addresses) = frame.get_mut(SOURCE..SOURCE + 2 * ADDRESS_BYTES) {
        addresses.rotate_left(ADDRESS_BYTES);
    }
    let is_udp = frame
        .get(PROTOCOL)
        .is_some_and(|&protocol| protocol == crate::devices::packet::UDP);
    if let Some(ports) = frame.get_mut(PORTS..PORTS + 2 * PORT_BYTES)
        && is_udp
    {
        ports.rotate_left(PORT_BYTES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn datagrams_and_connections_come_back() {
        // The namespace is the thread's.
        let rehearsed = thread::spawn(|| {
            let mut warmer = CacheWarmer::prepare().ok()?;
            Some(
                (0..2_000)
                    .map(|_| warmer.run())
                    .fold(WarmerCounts::default(), |sum, counts| WarmerCounts {
                        datagrams_count: sum.datagrams_count + counts.datagrams_count,
                        connections_count: sum.connections_count + counts.connections_count,
                    }),
            )
        });
        let rehearsed = rehearsed.join().unwrap();
        let privileged = nix::unistd::geteuid().is_root();
        if rehearsed.is_none() && !privileged {
            eprintln!("skipped: no right to make a network namespace");
            return;
        }
        let expected = WarmerCounts {
            datagrams_count: 2_000,
            connections_count: 1_000,
        };
        assert_eq!(rehearsed, Some(expected));
    }
}
