//! The stub's listeners: datagrams, and streams with pipelined queries (RFC 7766 section 6.2.1.1).

use super::Service;
use super::reply::Carrier;
use crate::framed::{frame, take_message};
use bytes::BytesMut;
use resolab_transport::clock::monotonic_ns;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::mpsc;

const DATAGRAM_MAX_BYTES: usize = 65_535;
/// Pause after a failed accept, which fails again at once when descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Where a reply goes.
pub(super) enum Client {
    Udp(Arc<UdpSocket>, SocketAddr),
    Tcp(mpsc::UnboundedSender<Vec<u8>>, SocketAddr),
}

impl Client {
    pub fn address(&self) -> SocketAddr {
        match self {
            Self::Udp(_, address) | Self::Tcp(_, address) => *address,
        }
    }

    pub fn carrier(&self) -> Carrier {
        match self {
            Self::Udp(..) => Carrier::Udp,
            Self::Tcp(..) => Carrier::Tcp,
        }
    }

    pub async fn send(&self, reply: Vec<u8>) -> io::Result<()> {
        match self {
            Self::Udp(socket, address) => socket.send_to(&reply, *address).await.map(drop),
            Self::Tcp(writer, _) => writer
                .send(frame(&reply))
                .map_err(|_| io::ErrorKind::BrokenPipe.into()),
        }
    }
}

/// Handle datagrams for ever.
pub(super) async fn serve_datagrams(socket: Arc<UdpSocket>, service: Arc<Service>) {
    let mut buffer = vec![0; DATAGRAM_MAX_BYTES];
    loop {
        // An error here is an ICMP message about an earlier reply.
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
            continue;
        };
        let received_ns = monotonic_ns();
        let (message, service) = (buffer[..length].to_vec(), Arc::clone(&service));
        let client = Client::Udp(Arc::clone(&socket), from);
        tokio::spawn(async move { service.handle(message, received_ns, client).await });
    }
}

/// Accept streams for ever.
pub(super) async fn serve_streams(listener: &TcpListener, service: &Arc<Service>) {
    loop {
        match listener.accept().await {
            Ok((stream, from)) => drop(tokio::spawn(serve(stream, from, Arc::clone(service)))),
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn serve(stream: TcpStream, from: SocketAddr, service: Arc<Service>) {
    let _ = stream.set_nodelay(true);
    let (mut reader, writer) = stream.into_split();
    let (replies, queue) = mpsc::unbounded_channel();
    tokio::spawn(write_replies(writer, queue));
    let mut buffer = BytesMut::with_capacity(1024);
    while matches!(reader.read_buf(&mut buffer).await, Ok(1..)) {
        while let Some(message) = take_message(&mut buffer) {
            let (received_ns, service) = (monotonic_ns(), Arc::clone(&service));
            let client = Client::Tcp(replies.clone(), from);
            tokio::spawn(async move { service.handle(message, received_ns, client).await });
        }
    }
}

/// Write until the client has gone and every reply under way was written.
async fn write_replies(mut writer: OwnedWriteHalf, mut queue: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(framed) = queue.recv().await {
        if writer.write_all(&framed).await.is_err() {
            return;
        }
    }
}
