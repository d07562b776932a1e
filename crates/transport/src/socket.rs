//! A bare UDP socket for QUIC, for both roles: one datagram a system call.
//!
//! For: endpoints with a creation time of tens of microseconds. Quinn's own socket probes offloads
//! with extra sockets, and its endpoint allocates megabytes for coalesced receives. Both would add
//! to the measured time of every cold exchange. Also, super-packets must not reach an emulated
//! link.
//! Not for: ECN, path MTU discovery, or a socket bound to a wildcard address on a host with many
//! addresses (replies leave from the bound address).

use crate::client::is_unreachable;
use crate::flights::{FirstPacket, Flights};
use crate::receive_stamp::{self, LastArrival};
use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use std::fmt;
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use tokio::io::{Interest, ReadBuf};
use tokio::net::UdpSocket;
use tokio::sync::Notify;

/// The kernel's reason for not sending a connection's datagram to an unreachable peer.
#[derive(Debug, Default)]
pub struct SendFailure {
    reason: OnceLock<String>,
    told: Notify,
}

impl SendFailure {
    fn tell(&self, error: &io::Error) {
        self.reason.get_or_init(|| error.to_string());
        self.told.notify_waiters();
    }

    /// Returns the first reason, in the system's words.
    pub fn reason(&self) -> Option<&str> {
        self.reason.get().map(String::as_str)
    }

    /// Resolves at the first reason; never for a reachable peer.
    pub async fn wait(&self) -> &str {
        loop {
            let told = self.told.notified();
            if let Some(reason) = self.reason() {
                return reason;
            }
            told.await;
        }
    }
}

/// The maximum datagram, in bytes: Ethernet's 1,500 bytes without the headers of IPv4 and UDP.
pub(crate) const DATAGRAM_MAX_BYTES: u16 = 1_472;

/// A non-blocking UDP socket without offloads.
#[derive(Debug)]
pub struct RawUdpSocket {
    io: UdpSocket,
    watched: Option<ConnectionObservations>,
}

/// The observations on the datagrams of a client's connection.
#[derive(Debug)]
struct ConnectionObservations {
    last_arrival: Arc<LastArrival>,
    flights: Arc<Flights>,
    unsent: Arc<SendFailure>,
}

impl RawUdpSocket {
    /// Binds a socket; needs the context of a tokio runtime.
    pub fn bind(local: SocketAddr) -> io::Result<Arc<Self>> {
        Self::from_std(std::net::UdpSocket::bind(local)?)
    }

    /// Binds a socket for one connection, with observations: the receive stamp of the last
    /// datagram, the datagram counts of the handshake, and the reason for unsent datagrams. Needs
    /// the context of a tokio runtime.
    pub(crate) fn bind_stamped(
        local: SocketAddr,
        last_arrival: Arc<LastArrival>,
        flights: Arc<Flights>,
        unsent: Arc<SendFailure>,
    ) -> io::Result<Arc<Self>> {
        let socket = std::net::UdpSocket::bind(local)?;
        // Without stamps the connection is as good as ever, and the records say that there are
        // none.
        let _ = receive_stamp::want_stamps(&socket);
        let watched = ConnectionObservations {
            last_arrival,
            flights,
            unsent,
        };
        Self::new(socket, Some(watched))
    }

    /// Takes over a bound socket; needs the context of a tokio runtime.
    pub fn from_std(socket: std::net::UdpSocket) -> io::Result<Arc<Self>> {
        Self::new(socket, None)
    }

    fn new(
        socket: std::net::UdpSocket,
        watched: Option<ConnectionObservations>,
    ) -> io::Result<Arc<Self>> {
        socket.set_nonblocking(true)?;
        let io = UdpSocket::from_std(socket)?;
        Ok(Arc::new(Self { io, watched }))
    }

    fn send(&self, transmit: &Transmit) -> io::Result<()> {
        match self.io.try_send_to(transmit.contents, transmit.destination) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
            // Any other refusal is to QUIC what a lost packet is: its timers deal with it. An
            // error here would end every connection of the endpoint.
            Err(error) => {
                if let Some(watched) = self.watched.as_ref().filter(|_| is_unreachable(&error)) {
                    watched.unsent.tell(&error);
                }
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }

    fn poll_receive(
        &self,
        cx: &mut Context,
        buffer: &mut [u8],
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        let Some(watched) = &self.watched else {
            let mut datagram = ReadBuf::new(buffer);
            let from = ready!(self.io.poll_recv_from(cx, &mut datagram))?;
            return Poll::Ready(Ok((datagram.filled().len(), from)));
        };
        loop {
            ready!(self.io.poll_recv_ready(cx))?;
            let receive = || receive_stamp::receive_from(&self.io, buffer);
            match self.io.try_io(Interest::READABLE, receive) {
                Ok((received, from)) => {
                    watched.last_arrival.set(received.wall_ns);
                    let packet = FirstPacket::from_datagram(&buffer[..received.length]);
                    watched.flights.client_receives(packet);
                    return Poll::Ready(Ok((received.length, from)));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => (),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncUdpSocket for RawUdpSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(WritePoller {
            socket: self,
            waiting: None,
        })
    }

    fn try_send(&self, transmit: &Transmit) -> io::Result<()> {
        self.send(transmit)?;
        if let Some(watched) = &self.watched {
            let packet = FirstPacket::from_datagram(transmit.contents);
            watched.flights.client_sends(packet);
        }
        Ok(())
    }

    fn poll_recv(
        &self,
        cx: &mut Context,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let (Some(buffer), Some(meta)) = (buffers.first_mut(), meta.first_mut()) else {
            return Poll::Ready(Ok(0));
        };
        let (length, from) = ready!(self.poll_receive(cx, buffer))?;
        *meta = RecvMeta {
            addr: from,
            len: length,
            stride: length,
            ecn: None,
            dst_ip: None,
        };
        Poll::Ready(Ok(1))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }
}

type Writable = Pin<Box<dyn Future<Output = io::Result<()>> + Send + Sync>>;

/// Wakes one connection when the socket can take a datagram. Each poller has its own future,
/// because the socket's `poll_send_ready` remembers only the last waiting task.
struct WritePoller {
    socket: Arc<RawUdpSocket>,
    waiting: Option<Writable>,
}

impl UdpPoller for WritePoller {
    fn poll_writable(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<io::Result<()>> {
        let socket = Arc::clone(&self.socket);
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(async move { socket.io.writable().await }));
        let result = ready!(waiting.as_mut().poll(cx));
        self.waiting = None;
        Poll::Ready(result)
    }
}

impl fmt::Debug for WritePoller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WritePoller")
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::wall_ns;
    use crate::stamped_udp::keep_stamping;
    use std::future::poll_fn;

    async fn receive(socket: &RawUdpSocket, buffer: &mut [u8]) -> RecvMeta {
        let mut meta = [RecvMeta::default()];
        poll_fn(|cx| socket.poll_recv(cx, &mut [IoSliceMut::new(&mut *buffer)], &mut meta))
            .await
            .unwrap();
        meta[0]
    }

    #[tokio::test]
    async fn carries_one_datagram_with_its_source() {
        let left = RawUdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let right = RawUdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let mut poller = Arc::clone(&left).create_io_poller();
        poll_fn(|cx| poller.as_mut().poll_writable(cx))
            .await
            .unwrap();
        for contents in [&b"first"[..], b"second, longer"] {
            let transmit = Transmit {
                destination: right.local_addr().unwrap(),
                ecn: None,
                contents,
                segment_size: None,
                src_ip: None,
            };
            left.try_send(&transmit).unwrap();
        }
        let mut buffer = [0; 64];
        let meta = receive(&right, &mut buffer).await;
        assert_eq!((meta.len, meta.stride), (5, 5));
        assert_eq!(meta.addr, left.local_addr().unwrap());
        assert_eq!(&buffer[..5], b"first");
        assert_eq!(receive(&right, &mut buffer).await.len, 14);
    }

    #[tokio::test]
    async fn the_stamp_of_the_last_datagram_is_left_where_it_is_wanted() {
        keep_stamping();
        let last_arrival = Arc::<LastArrival>::default();
        let local = "127.0.0.1:0".parse().unwrap();
        let socket = RawUdpSocket::bind_stamped(
            local,
            Arc::clone(&last_arrival),
            Arc::default(),
            Arc::default(),
        )
        .unwrap();
        let peer = std::net::UdpSocket::bind(local).unwrap();
        let mut instants = Vec::new();
        for contents in [&b"first"[..], b"second, longer"] {
            instants.push(wall_ns());
            peer.send_to(contents, socket.local_addr().unwrap())
                .unwrap();
        }
        instants.push(wall_ns());
        let mut buffer = [0; 64];
        for (around, length) in instants.windows(2).zip([5, 14]) {
            let meta = receive(&socket, &mut buffer).await;
            assert_eq!((meta.len, meta.addr), (length, peer.local_addr().unwrap()));
            assert!((around[0]..=around[1]).contains(&last_arrival.wall_ns().unwrap()));
        }
    }

    #[tokio::test]
    async fn a_refused_send_counts_as_lost() {
        let socket = RawUdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let mut poller = Arc::clone(&socket).create_io_poller();
        poll_fn(|cx| poller.as_mut().poll_writable(cx))
            .await
            .unwrap();
        let transmit = Transmit {
            destination: "[::1]:9".parse().unwrap(),
            ecn: None,
            contents: b"x",
            segment_size: None,
            src_ip: None,
        };
        socket.try_send(&transmit).unwrap();
    }
}
