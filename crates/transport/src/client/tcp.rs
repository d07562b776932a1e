//! TCP connect with its two instants.

use super::failure::MeasuredFailure;
use super::setup::SetupLog;
use resolab_record::Failure;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use tokio::net::{TcpSocket, TcpStream};

/// Connect. `TCP_NODELAY` is set before the SYN: with Nagle's algorithm the query would wait a
/// round trip for the acknowledgement of the handshake's last flight.
pub async fn connect(address: SocketAddr, log: &SetupLog) -> Result<TcpStream, MeasuredFailure> {
    log.tcp_connect.begin();
    let socket =
        new_socket(address).map_err(|error| MeasuredFailure::new(Failure::Other, error))?;
    let stream = socket.connect(address).await.map_err(|error| {
        MeasuredFailure::new(
            failure_of(&error),
            format_args!("connect to {address}: {error}"),
        )
    })?;
    log.tcp_connect.finish();
    Ok(stream)
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
    }

    #[tokio::test]
    async fn a_closed_port_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let log = SetupLog::default();
        let failure = connect(address, &log).await.unwrap_err();
        assert_eq!(failure.failure, Failure::TcpConnectRefused);
        assert_eq!(log.tcp_connect.end_ns(), None);
    }
}
