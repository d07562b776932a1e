//! Echo requests (RFC 792; RFC 4443 section 4). The kernel's echo socket is used if
//! `net.ipv4.ping_group_range` permits this user, else a raw socket with the capability
//! `CAP_NET_RAW`. Not for: ICMP errors; the kernel reports errors of the socket.

use super::waiting::{await_answer, failure};
use super::{PingResult, Pinger};
use crate::clock::monotonic_ns;
use crate::receive_stamp::want_stamps;
use ring::rand::{SecureRandom, SystemRandom};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

/// The number of bytes after the header, the same as of ping(8): middleboxes know this size.
const PAYLOAD_BYTES: usize = 56;
const HEADER_BYTES: usize = 8;
/// The length of the token. The token identifies our answers on a raw socket with everybody's
/// answers.
const TOKEN_BYTES: usize = 16;

/// Pings one address by ICMP.
pub struct IcmpPinger {
    socket: Socket,
    is_raw: bool,
    is_v6: bool,
    token: [u8; TOKEN_BYTES],
}

impl IcmpPinger {
    /// Opens a socket. The error names the system's refusal and a remedy.
    /// The address has no port.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let (socket, is_raw) = open_socket(address.is_ipv6())?;
        socket.set_nonblocking(true)?;
        // Without stamps a round trip ends with its reading.
        let _ = want_stamps(&socket);
        socket.connect(&address.into())?;
        let mut token = [0; TOKEN_BYTES];
        let drawn = SystemRandom::new().fill(&mut token);
        drawn.map_err(|_| io::Error::other("the system has no random numbers"))?;
        Ok(Self {
            socket,
            is_raw,
            is_v6: address.is_ipv6(),
            token,
        })
    }

    fn request(&self, sequence: u16) -> [u8; HEADER_BYTES + PAYLOAD_BYTES] {
        let mut packet = [0; HEADER_BYTES + PAYLOAD_BYTES];
        packet[0] = if self.is_v6 { 128 } else { 8 };
        // The echo socket puts its own identifier here; on a raw one the token is what counts.
        packet[4..6].copy_from_slice(&self.token[..2]);
        packet[6..8].copy_from_slice(&sequence.to_be_bytes());
        packet[HEADER_BYTES..HEADER_BYTES + TOKEN_BYTES].copy_from_slice(&self.token);
        if self.is_raw && !self.is_v6 {
            let sum = checksum(&packet);
            packet[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        packet
    }

    fn is_reply(&self, received: &[u8], sequence: u16) -> bool {
        // Only IPv4's raw sockets deliver the IP header.
        let skipped = match received.first() {
            Some(first) if self.is_raw && !self.is_v6 => usize::from(first & 0x0f) * 4,
            _ => 0,
        };
        let Some(packet) = received.get(skipped..) else {
            return false;
        };
        let reply = if self.is_v6 { 129 } else { 0 };
        packet.len() >= HEADER_BYTES + TOKEN_BYTES
            && packet[0] == reply
            && packet[6..8] == sequence.to_be_bytes()
            && packet[HEADER_BYTES..HEADER_BYTES + TOKEN_BYTES] == self.token
    }
}

impl Pinger for IcmpPinger {
    fn ping(&mut self, sequence: u16, timeout: Duration) -> PingResult {
        let request = self.request(sequence);
        let sent_ns = monotonic_ns();
        match self.socket.send(&request) {
            Ok(_) => await_answer(&self.socket, sent_ns, timeout, |received| {
                self.is_reply(received, sequence)
            }),
            Err(error) => Err(failure(&error)),
        }
    }
}

fn open_socket(is_v6: bool) -> io::Result<(Socket, bool)> {
    let (domain, protocol) = if is_v6 {
        (Domain::IPV6, Protocol::ICMPV6)
    } else {
        (Domain::IPV4, Protocol::ICMPV4)
    };
    if let Ok(socket) = Socket::new(domain, Type::DGRAM, Some(protocol)) {
        return Ok((socket, false));
    }
    match Socket::new(domain, Type::RAW, Some(protocol)) {
        Ok(socket) => Ok((socket, true)),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(io::Error::new(
            error.kind(),
            "this user may not; allow it: sudo sysctl -w net.ipv4.ping_group_range='0 2147483647'",
        )),
        Err(error) => Err(error),
    }
}

/// Returns the Internet checksum (RFC 1071).
fn checksum(packet: &[u8]) -> u16 {
    let word =
        |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or_default());
    let mut sum: u32 = packet.chunks(2).map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_rfc_1071s() {
        // The example of its section 3.
        let data = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(&data), !0xddf2);
    }

    #[test]
    fn only_the_answer_to_this_request_counts() {
        let pinger = IcmpPinger {
            socket: Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap(),
            is_raw: true,
            is_v6: false,
            token: [7; TOKEN_BYTES],
        };
        let mut reply = vec![0x45; 20];
        reply.extend(pinger.request(3));
        assert!(!pinger.is_reply(&reply, 3), "a request is no reply");
        reply[20] = 0;
        assert!(pinger.is_reply(&reply, 3));
        assert!(!pinger.is_reply(&reply, 4));
        reply[20 + HEADER_BYTES] = 0;
        assert!(!pinger.is_reply(&reply, 3));
        for length in 0..reply.len() {
            assert!(!pinger.is_reply(&reply[..length], 3));
        }
    }
}
