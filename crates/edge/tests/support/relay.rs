//! Relays that remember what passed: the bytes of a TCP stream's beginning, the kinds of QUIC
//! datagrams in their order. Not for: delaying anything; that is `delay`.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

/// What passed: bytes, and whether they went up.
type Passed = Arc<Mutex<Vec<(bool, Vec<u8>)>>>;

/// A relay and its memory.
pub struct Relayed {
    pub address: SocketAddr,
    passed: Passed,
}

impl Relayed {
    /// All bytes that went up.
    pub fn up_bytes(&self) -> Vec<u8> {
        let passed = self.passed.lock().unwrap();
        let up = passed.iter().filter(|(is_up, _)| *is_up);
        up.flat_map(|(_, bytes)| bytes.clone()).collect()
    }

    /// Datagrams that began with an Initial packet before any came down; those that began with an
    /// Initial or Handshake packet and came down before the next one of those went up. Initial
    /// packets in short datagrams acknowledge and do no more (RFC 9000 section 14.1).
    pub fn first_flights(&self) -> (u32, u32) {
        let passed = self.passed.lock().unwrap();
        let (mut up, mut down) = (0, 0);
        for (is_up, bytes) in passed.iter() {
            let kind = (bytes[0] & 0x80 != 0).then_some((bytes[0] >> 4) & 3);
            match (is_up, kind) {
                (_, Some(0)) if bytes.len() < 1_200 => {}
                (true, Some(0)) if down == 0 => up += 1,
                (true, Some(0 | 2)) => break,
                (false, Some(0 | 2)) => down += 1,
                _ => {}
            }
        }
        (up, down)
    }
}

/// A way to `server` for one TCP connection.
pub async fn relayed_tcp(server: SocketAddr) -> Relayed {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let passed = Passed::default();
    let remembered = Arc::clone(&passed);
    tokio::spawn(async move {
        let (near, _) = listener.accept().await.unwrap();
        let far = TcpStream::connect(server).await.unwrap();
        let ((near_read, near_write), (far_read, far_write)) =
            (near.into_split(), far.into_split());
        let copy = |is_up,
                    mut from: tokio::net::tcp::OwnedReadHalf,
                    mut to: tokio::net::tcp::OwnedWriteHalf| {
            let remembered = Arc::clone(&remembered);
            async move {
                let mut buffer = vec![0; 65_536];
                while let Ok(count @ 1..) = from.read(&mut buffer).await {
                    let bytes = buffer[..count].to_vec();
                    remembered.lock().unwrap().push((is_up, bytes));
                    if to.write_all(&buffer[..count]).await.is_err() {
                        break;
                    }
                }
            }
        };
        tokio::join!(
            copy(true, near_read, far_write),
            copy(false, far_read, near_write)
        );
    });
    Relayed { address, passed }
}

/// A way to `server` for one QUIC connection.
pub async fn relayed_udp(server: SocketAddr) -> Relayed {
    let near = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let far = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = near.local_addr().unwrap();
    let passed = Passed::default();
    let remembered = Arc::clone(&passed);
    tokio::spawn(async move {
        let mut client = None;
        let (mut up, mut down) = (vec![0; 65_536], vec![0; 65_536]);
        loop {
            tokio::select! {
                Ok((count, from)) = near.recv_from(&mut up) => {
                    client = Some(from);
                    remembered.lock().unwrap().push((true, up[..count].to_vec()));
                    let _ = far.send_to(&up[..count], server).await;
                }
                Ok((count, _)) = far.recv_from(&mut down) => {
                    remembered.lock().unwrap().push((false, down[..count].to_vec()));
                    if let Some(client) = client {
                        let _ = near.send_to(&down[..count], client).await;
                    }
                }
            }
        }
    });
    Relayed { address, passed }
}
