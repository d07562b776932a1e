//! Handshakes alone, on any transport, judged by the edge's record of the connection.

use super::Lab;
use quinn::VarInt;
use resolab_record::ConnectionRecord;
use rustls::ClientConfig;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// A client that keeps its tickets.
pub enum Client {
    Tls(Arc<ClientConfig>),
    Quic(quinn::Endpoint),
}

/// Tickets come after the client's Finished.
const TICKETS: Duration = Duration::from_millis(60);

impl Client {
    pub fn tls(lab: &Lab, alpn: &str) -> Self {
        Self::Tls(lab.tls_client(alpn))
    }

    pub fn quic(lab: &Lab, alpn: &str) -> Self {
        Self::Quic(lab.quic_client(alpn))
    }

    /// Connect, offering early data if there is a ticket for it; the edge's record, the last of
    /// `count` in all.
    pub async fn shake(
        &self,
        lab: &Lab,
        server: SocketAddr,
        name: &str,
        count: usize,
    ) -> ConnectionRecord {
        match self {
            Self::Tls(config) => shake_tls(config, server, name).await,
            Self::Quic(endpoint) => shake_quic(endpoint, server, name).await,
        }
        lab.connections(count).await.swap_remove(count - 1)
    }
}

async fn shake_tls(config: &Arc<ClientConfig>, server: SocketAddr, name: &str) {
    let tcp = TcpStream::connect(server).await.unwrap();
    let connector = TlsConnector::from(Arc::clone(config)).early_data(true);
    let name = name.to_owned().try_into().unwrap();
    let mut stream = connector.connect(name, tcp).await.unwrap();
    // What any of the protocols takes as a beginning: HTTP/2's preface, half a DNS message.
    let h2 = config.alpn_protocols[0] == b"h2";
    let beginning: &[u8] = if h2 {
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
    } else {
        b"\x00"
    };
    stream.write_all(beginning).await.unwrap();
    stream.flush().await.unwrap();
    let mut bytes = [0; 4_096];
    while let Ok(Ok(1..)) = tokio::time::timeout(TICKETS, stream.read(&mut bytes)).await {}
    let _ = stream.shutdown().await;
}

async fn shake_quic(endpoint: &quinn::Endpoint, server: SocketAddr, name: &str) {
    let quic = match endpoint.connect(server, name).unwrap().into_0rtt() {
        Ok((quic, accepted)) => {
            accepted.await;
            quic
        }
        Err(connecting) => connecting.await.unwrap(),
    };
    tokio::time::sleep(TICKETS).await;
    quic.close(VarInt::from_u32(0), b"");
    endpoint.wait_idle().await;
}
