//! TCP connect with its two instants, and a stream whose path can be asked about.

use super::failure::MeasuredFailure;
use super::path_facts::{PathProbe, TcpProbe};
use super::setup::SetupLog;
use resolab_record::Failure;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};

/// A TCP stream that leaves its last `TCP_INFO` in the log of its set-up when it is closed.
#[derive(Debug)]
pub struct ClientTcpStream {
    inner: TcpStream,
    probe: Arc<TcpProbe>,
}

/// Connect. `TCP_NODELAY` is set before the SYN: with Nagle's algorithm the query would wait a
/// round trip for the acknowledgement of the handshake's last flight.
pub async fn connect(
    address: SocketAddr,
    log: &SetupLog,
) -> Result<ClientTcpStream, MeasuredFailure> {
    log.tcp_connect.begin();
    let socket =
        new_socket(address).map_err(|error| MeasuredFailure::new(Failure::Other, error))?;
    let inner = socket.connect(address).await.map_err(|error| {
        MeasuredFailure::new(
            failure_of(&error),
            format_args!("connect to {address}: {error}"),
        )
    })?;
    log.tcp_connect.finish();
    let probe = Arc::new(TcpProbe::new(&inner));
    log.set_path(PathProbe::Tcp(Arc::clone(&probe)));
    Ok(ClientTcpStream { inner, probe })
}

fn new_socket(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_nodelay(true)?;
    Ok(socket)
}

fn failure_of(error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => Failure::TcpConnectRefused,
        ErrorKind::TimedOut => Failure::TcpConnectTimeout,
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
            Failure::TcpConnectUnreachable
        }
        _ => Failure::Other,
    }
}

impl Drop for ClientTcpStream {
    fn drop(&mut self) {
        self.probe.end();
    }
}

impl Deref for ClientTcpStream {
    type Target = TcpStream;

    fn deref(&self) -> &TcpStream {
        &self.inner
    }
}

impl AsyncRead for ClientTcpStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl AsyncWrite for ClientTcpStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn stamps_a_connect_and_disables_nagle() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let log = SetupLog::default();
        let stream = connect(listener.local_addr().unwrap(), &log).await.unwrap();
        assert!(stream.nodelay().unwrap());
        assert!(log.tcp_connect.end_ns() >= log.tcp_connect.start_ns());
        drop(stream);
        assert!(log.path_facts().unwrap().min_rtt_ns.is_some());
    }

    #[tokio::test]
    async fn a_closed_port_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let log = SetupLog::default();
        let failure = connect(address, &log).await.unwrap_err();
        assert_eq!(failure.failure, Failure::TcpConnectRefused);
        assert_eq!((log.tcp_connect.end_ns(), log.path_facts()), (None, None));
    }
}
