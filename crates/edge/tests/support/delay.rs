//! Relays that hold everything back for a while in both directions: on bare loopback the client's
//! Finished can overtake the reading of its early data, on a path with a delay it cannot.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

const DELAY: Duration = Duration::from_millis(15);

/// Address that leads to `server` over UDP, for one client after the other.
pub async fn delayed_udp(server: SocketAddr) -> SocketAddr {
    let front = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap());
    let back = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap());
    let address = front.local_addr().unwrap();
    let (client_sender, client) = tokio::sync::watch::channel(server);
    let (up, down) = (line(), line());
    tokio::spawn(receive(Arc::clone(&front), up.0, Some(client_sender)));
    tokio::spawn(receive(Arc::clone(&back), down.0, None));
    tokio::spawn(async move {
        let mut packets = up.1;
        while let Some((due, packet)) = packets.recv().await {
            sleep_until(due).await;
            let _ = back.send_to(&packet, server).await;
        }
    });
    tokio::spawn(async move {
        let mut packets = down.1;
        while let Some((due, packet)) = packets.recv().await {
            sleep_until(due).await;
            let to = *client.borrow();
            let _ = front.send_to(&packet, to).await;
        }
    });
    address
}

type Due = (Instant, Vec<u8>);

fn line() -> (mpsc::UnboundedSender<Due>, mpsc::UnboundedReceiver<Due>) {
    mpsc::unbounded_channel()
}

async fn receive(
    socket: Arc<UdpSocket>,
    line: mpsc::UnboundedSender<Due>,
    from: Option<tokio::sync::watch::Sender<SocketAddr>>,
) {
    let mut buffer = vec![0; 65_536];
    while let Ok((length, peer)) = socket.recv_from(&mut buffer).await {
        if let Some(from) = &from {
            from.send_replace(peer);
        }
        let _ = line.send((Instant::now() + DELAY, buffer[..length].to_vec()));
    }
}

/// Address that leads to `server` over TCP.
pub async fn delayed_tcp(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let back = TcpStream::connect(server).await.unwrap();
            client.set_nodelay(true).unwrap();
            back.set_nodelay(true).unwrap();
            let (client, back) = (client.into_split(), back.into_split());
            tokio::spawn(copy(client.0, back.1));
            tokio::spawn(copy(back.0, client.1));
        }
    });
    address
}

async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
    let (sender, mut receiver) = line();
    tokio::spawn(async move {
        while let Some((due, bytes)) = receiver.recv().await {
            sleep_until(due).await;
            let _ = to.write_all(&bytes).await;
        }
        let _ = to.shutdown().await;
    });
    let mut buffer = vec![0; 65_536];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let _ = sender.send((Instant::now() + DELAY, buffer[..length].to_vec()));
    }
}
