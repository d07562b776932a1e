//! Sends a packet with an invalid QUIC version. A server answers with its versions (RFC 9000
//! sections 6 and 15). The exchange takes one round trip, without a handshake, a certificate or
//! state at the server. Not for: silent servers; the next method handles silent servers.

use super::waiting::{await_answer, failure};
use super::{PingResult, Pinger};
use crate::clock::monotonic_ns;
use crate::receive_stamp::want_stamps;
use resolab_record::PingFailure;
use ring::rand::{SecureRandom, SystemRandom};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

/// The datagram length, in bytes. Servers ignore smaller datagrams (RFC 9000 section 14.1).
const DATAGRAM_BYTES: usize = 1200;
/// A version of the pattern 0x?a?a?a?a, reserved for this use (RFC 9000 section 15).
const NO_VERSION: [u8; 4] = [0x5a, 0x6a, 0x7a, 0x8a];
/// The first byte: long header (RFC 8999 section 5.1) with the fixed bit.
const FIRST_BYTE: u8 = 0xc0;
const IDENTIFIER_BYTES: usize = 8;
/// The length of the first byte, the version, and the length byte of the next identifier.
const HEAD_BYTES: usize = 6;

/// Pings one port by QUIC.
pub struct QuicPinger {
    socket: UdpSocket,
    random: SystemRandom,
}

impl QuicPinger {
    /// Binds and connects a socket.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let local = match address {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let socket = UdpSocket::bind(local)?;
        socket.set_nonblocking(true)?;
        // Without stamps a round trip ends with its reading.
        let _ = want_stamps(&socket);
        socket.connect(address)?;
        Ok(Self {
            socket,
            random: SystemRandom::new(),
        })
    }
}

impl Pinger for QuicPinger {
    fn ping(&mut self, _sequence: u16, timeout: Duration) -> PingResult {
        let mut ours = [0; IDENTIFIER_BYTES];
        let mut theirs = [0; IDENTIFIER_BYTES];
        for identifier in [&mut ours, &mut theirs] {
            let drawn = self.random.fill(identifier);
            drawn.map_err(|_| PingFailure::Other)?;
        }
        let datagram = datagram(&theirs, &ours);
        let sent_ns = monotonic_ns();
        let sent = self.socket.send(&datagram);
        sent.map_err(|error| failure(&error))?;
        await_answer(&self.socket, sent_ns, timeout, |received| {
            is_version_negotiation(received, &ours, &theirs)
        })
    }
}

fn datagram(destination: &[u8], source: &[u8]) -> Vec<u8> {
    let mut datagram = vec![FIRST_BYTE];
    datagram.extend(NO_VERSION);
    for identifier in [destination, source] {
        datagram.push(identifier.len() as u8);
        datagram.extend(identifier);
    }
    datagram.resize(DATAGRAM_BYTES, 0);
    datagram
}

/// Returns true for a Version Negotiation packet to us (RFC 9000 section 17.2.1): version 0, our
/// identifiers exchanged.
fn is_version_negotiation(received: &[u8], ours: &[u8], theirs: &[u8]) -> bool {
    let both = 2 * IDENTIFIER_BYTES + 1;
    let Some(identifiers) = received.get(HEAD_BYTES..HEAD_BYTES + both) else {
        return false;
    };
    received[0] & 0x80 != 0
        && received[1..5] == [0; 4]
        && usize::from(received[HEAD_BYTES - 1]) == IDENTIFIER_BYTES
        && &identifiers[..IDENTIFIER_BYTES] == ours
        && usize::from(identifiers[IDENTIFIER_BYTES]) == IDENTIFIER_BYTES
        && &identifiers[IDENTIFIER_BYTES + 1..] == theirs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_to_this_packet_counts() {
        let (ours, theirs) = ([1; IDENTIFIER_BYTES], [2; IDENTIFIER_BYTES]);
        let mut answer = datagram(&ours, &theirs);
        assert!(!is_version_negotiation(&answer, &ours, &theirs));
        answer[1..5].fill(0);
        assert!(is_version_negotiation(&answer, &ours, &theirs));
        assert!(!is_version_negotiation(&answer, &theirs, &ours));
        for length in 0..HEAD_BYTES + 2 * IDENTIFIER_BYTES {
            assert!(!is_version_negotiation(&answer[..length], &ours, &theirs));
        }
    }
}
