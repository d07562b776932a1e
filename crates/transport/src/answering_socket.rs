//! A UDP socket able to listen on every address of the machine. Each reply leaves from the address
//! of its query, as clients expect (RFC 2181 section 4.1). The kernel reports this address with
//! each datagram (IP_PKTINFO, IPV6_RECVPKTINFO).
//!
//! For: servers with a datagram for each query.
//! Not for: QUIC, with sockets bound to a single address; clients.

use crate::receive_stamp::socket_address;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, RecvMsg, SockaddrStorage, recvmsg, sendmsg,
    setsockopt, sockopt,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd;
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// A bound UDP socket.
#[derive(Debug)]
pub struct AnsweringSocket(UdpSocket);

/// The addresses of a reply: to the client, from the address of the query.
#[derive(Debug, Clone, Copy)]
pub struct ReplyAddresses {
    /// The client's address and port.
    pub client: SocketAddr,
    asked_address: Option<QueriedAddress>,
}

#[derive(Debug, Clone, Copy)]
enum QueriedAddress {
    V4(libc::in_pktinfo),
    V6(libc::in6_pktinfo),
}

impl AnsweringSocket {
    /// Takes over a bound socket.
    pub fn new(socket: UdpSocket) -> io::Result<Self> {
        match socket.local_addr()? {
            SocketAddr::V4(_) => setsockopt(&socket, sockopt::Ipv4PacketInfo, &true)?,
            // Of IPv4, too, where the socket takes that.
            SocketAddr::V6(_) => setsockopt(&socket, sockopt::Ipv6RecvPacketInfo, &true)?,
        }
        Ok(Self(socket))
    }

    /// Returns the bound address and port.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// Receives the next datagram, and returns its length and the addresses for the reply.
    pub async fn receive(&self, buffer: &mut [u8]) -> io::Result<(usize, ReplyAddresses)> {
        let receive = || self.try_receive(buffer);
        self.0.async_io(Interest::READABLE, receive).await
    }

    fn try_receive(&self, buffer: &mut [u8]) -> io::Result<(usize, ReplyAddresses)> {
        let mut control = nix::cmsg_space!(libc::in_pktinfo, libc::in6_pktinfo);
        let mut parts = [IoSliceMut::new(buffer)];
        let flags = MsgFlags::empty();
        let message =
            recvmsg::<SockaddrStorage>(self.0.as_raw_fd(), &mut parts, Some(&mut control), flags)?;
        let addresses = ReplyAddresses {
            client: socket_address(message.address).ok_or(io::ErrorKind::Unsupported)?,
            asked_address: asked_address(&message),
        };
        Ok((message.bytes, addresses))
    }

    /// Sends a reply to a client.
    pub async fn send(&self, reply: &[u8], addresses: &ReplyAddresses) -> io::Result<()> {
        let parts = [IoSlice::new(reply)];
        let from = addresses
            .asked_address
            .as_ref()
            .map(|asked_address| match asked_address {
                QueriedAddress::V4(info) => ControlMessage::Ipv4PacketInfo(info),
                QueriedAddress::V6(info) => ControlMessage::Ipv6PacketInfo(info),
            });
        let to = SockaddrStorage::from(addresses.client);
        let send = || {
            let flags = MsgFlags::empty();
            sendmsg(
                self.0.as_raw_fd(),
                &parts,
                from.as_slice(),
                flags,
                Some(&to),
            )?;
            Ok(())
        };
        self.0.async_io(Interest::WRITABLE, send).await
    }
}

/// Returns the address of the query. `None` when the address cannot be a sender's: the kernel then
/// chooses the source address.
fn asked_address(message: &RecvMsg<'_, '_, SockaddrStorage>) -> Option<QueriedAddress> {
    message.cmsgs().ok()?.find_map(|part| {
        if let ControlMessageOwned::Ipv4PacketInfo(mut info) = part {
            // By which device is for the routes to say.
            info.ipi_ifindex = 0;
            return Some(QueriedAddress::V4(info));
        }
        let ControlMessageOwned::Ipv6PacketInfo(mut info) = part else {
            return None;
        };
        let address = Ipv6Addr::from(info.ipi6_addr.s6_addr);
        if !address.is_unicast_link_local() {
            info.ipi6_ifindex = 0;
        }
        (!address.is_multicast()).then_some(QueriedAddress::V6(info))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Binds a socket to `listen`, sends a query to `asked`, and returns the source address of the
    /// reply.
    async fn reply_from(listen: &str, asked: &str) -> SocketAddr {
        let socket = UdpSocket::bind((listen, 0)).await.unwrap();
        let port = socket.local_addr().unwrap().port();
        let socket = AnsweringSocket::new(socket).unwrap();
        let client = UdpSocket::bind((
            if asked.contains(':') {
                "::1"
            } else {
                "127.0.0.1"
            },
            0,
        ));
        let client = client.await.unwrap();
        client.send_to(b"query", (asked, port)).await.unwrap();
        let mut buffer = [0; 16];
        let (length, addresses) = socket.receive(&mut buffer).await.unwrap();
        assert_eq!(&buffer[..length], b"query");
        socket.send(b"reply", &addresses).await.unwrap();
        let (length, from) = client.recv_from(&mut buffer).await.unwrap();
        assert_eq!(&buffer[..length], b"reply");
        assert_eq!(from.port(), port);
        from
    }

    #[tokio::test]
    async fn a_reply_leaves_from_the_address_that_was_asked() {
        for (listen, asked) in [
            ("127.0.0.1", "127.0.0.1"),
            ("0.0.0.0", "127.0.0.1"),
            ("0.0.0.0", "127.0.0.9"),
            ("::1", "::1"),
            ("::", "::1"),
            ("::", "127.0.0.9"),
        ] {
            let from = reply_from(listen, asked).await;
            assert_eq!(from.ip().to_string(), asked, "{listen}");
        }
    }
}
