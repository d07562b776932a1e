//! The socket of a QUIC listener. Datagrams can fall into a black hole in both directions, and
//! datagrams of handshakes are counted.
//!
//! For: the server role. Not for: clients; clients use `RawUdpSocket` directly.

use super::BlackHole;
use super::flight_table::FlightTable;
use crate::clock::monotonic_ns;
use crate::socket::RawUdpSocket;
use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A bare socket with a black hole in front.
#[derive(Debug)]
pub(super) struct QuicSocket {
    pub(super) inner: Arc<RawUdpSocket>,
    pub(super) black_hole: Arc<BlackHole>,
    pub(super) flights: Arc<FlightTable>,
}

impl AsyncUdpSocket for QuicSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Arc::clone(&self.inner).create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit) -> io::Result<()> {
        if self.black_hole.swallows_sent(transmit.destination) {
            return Ok(());
        }
        self.inner.try_send(transmit)?;
        self.flights.sends(transmit.destination, transmit.contents);
        Ok(())
    }

    fn poll_recv(
        &self,
        cx: &mut Context,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            let received = self.inner.poll_recv(cx, buffers, meta);
            let (Poll::Ready(Ok(1)), Some(buffer)) = (&received, buffers.first()) else {
                return received;
            };
            let (peer, datagram) = (meta[0].addr, &buffer[..meta[0].len]);
            if !self.black_hole.swallows_received(peer, datagram) {
                self.flights.receives(peer, datagram, monotonic_ns());
                return received;
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }
}
