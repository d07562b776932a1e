//! TCP connect with its two instants, with TCP Fast Open (RFC 7413) on request. The stream reports
//! facts about its path. Each read stores the kernel's stamp in the log of the set-up.

use super::failure::MeasuredFailure;
use super::path_facts::{PathProbe, TcpProbe};
use super::setup::SetupLog;
use super::tcp_options::TcpOptions;
use crate::receive_stamp::{self, LastArrival};
use resolab_record::Failure;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};

/// A TCP stream with a log. On close, the stream stores its last `TCP_INFO` in the log of its
/// set-up.
#[derive(Debug)]
pub struct ClientTcpStream {
    inner: TcpStream,
    probe: Arc<TcpProbe>,
    last_arrival: Arc<LastArrival>,
}

/// Connects to a server. `TCP_NODELAY` is set before the SYN: with Nagle's algorithm the query
/// would wait a round trip for the acknowledgement of the handshake's last flight.
pub async fn connect(
    address: SocketAddr,
    options: TcpOptions,
    log: &SetupLog,
) -> Result<ClientTcpStream, MeasuredFailure> {
    log.tcp_connect.begin();
    let socket = new_socket(address, options)
        .map_err(|error| MeasuredFailure::new(tcp_connect_failure(&error), error))?;
    let inner = socket.connect(address).await.map_err(|error| {
        MeasuredFailure::new(
            tcp_connect_failure(&error),
            format_args!("connect to {address}: {error}"),
        )
    })?;
    log.tcp_connect.finish();
    let probe = Arc::new(TcpProbe::new(&inner, options));
    log.set_path(PathProbe::Tcp(Arc::clone(&probe)));
    Ok(ClientTcpStream {
        inner,
        probe,
        last_arrival: Arc::clone(&log.last_arrival),
    })
}

fn new_socket(address: SocketAddr, options: TcpOptions) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_nodelay(true)?;
    // Without stamps the connection is as good as ever, and the records say that there are none.
    let _ = receive_stamp::want_stamps(&socket);
    if options.fast_open {
        ask_for_fast_open(&socket).map_err(|error| {
            let why = "have TCP Fast Open, which needs bit 1 of net.ipv4.tcp_fastopen";
            io::Error::new(error.kind(), format!("{why}: {error}"))
        })?;
    }
    Ok(socket)
}

fn ask_for_fast_open(socket: &TcpSocket) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the kernel reads the integer given, whose size is given too.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_FASTOPEN_CONNECT,
            ptr::from_ref(&on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Classifies the error of a failed TCP connect.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "of the system's errors those with a failure of their own are named"
)]
pub fn tcp_connect_failure(error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => Failure::TcpConnectRefused,
        ErrorKind::TimedOut => Failure::TcpConnectTimeout,
        _ if is_unreachable(error) => Failure::TcpConnectUnreachable,
        _ => Failure::Other,
    }
}

/// Returns true when an error means an unreachable destination. The causes are a missing or
/// forbidden route, no source address, or an address family missing on this machine.
pub fn is_unreachable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::AddrNotAvailable
    ) || matches!(
        error.raw_os_error(),
        Some(libc::EAFNOSUPPORT | libc::EACCES)
    )
}

impl ClientTcpStream {
    /// Reads the available bytes. `None` when no bytes are available; the reactor then wakes the
    /// task.
    fn try_read(&self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        let mut result = None;
        let _ = self.inner.try_io(Interest::READABLE, || {
            let received = match receive_stamp::receive(&self.inner, buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(error),
                Err(error) => {
                    result = Some(Err(error));
                    return Ok(());
                }
            };
            if received.length > 0 {
                self.last_arrival.set(received.wall_ns);
            }
            result = Some(Ok(received.length));
            // Less than there was room for: nothing is left, and the next read would find that out
            // by a system call. Said in here, it means the readiness there was before the read.
            let is_drained = 0 < received.length && received.length < buffer.len();
            if is_drained {
                return Err(ErrorKind::WouldBlock.into());
            }
            Ok(())
        });
        result
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
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.inner.poll_read_ready(cx))?;
            if let Some(result) = self.try_read(buffer.initialize_unfilled()) {
                return Poll::Ready(result.map(|length| buffer.advance(length)));
            }
        }
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
    use crate::clock::wall_ns;
    use crate::stamped_udp::keep_stamping;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn stamps_a_connect_and_disables_nagle() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let log = SetupLog::default();
        let stream = connect(listener.local_addr().unwrap(), TcpOptions::default(), &log)
            .await
            .unwrap();
        assert!(stream.nodelay().unwrap());
        assert!(log.tcp_connect.end_ns() >= log.tcp_connect.start_ns());
        drop(stream);
        assert!(log.path_facts().unwrap().min_rtt_ns.is_some());
    }

    #[tokio::test]
    async fn reads_in_pieces_of_any_size_miss_nothing_and_leave_the_stamp() {
        keep_stamping();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let log = SetupLog::default();
        let address = listener.local_addr().unwrap();
        let mut stream = connect(address, TcpOptions::default(), &log).await.unwrap();
        assert_eq!(log.last_arrival.wall_ns(), None);
        let write = async {
            let (mut far, _) = listener.accept().await.unwrap();
            for number in 0..=255 {
                far.write_all(&vec![number; usize::from(number) * 7 + 1])
                    .await
                    .unwrap();
                tokio::task::yield_now().await;
            }
        };
        let read = async {
            let mut all = Vec::new();
            for size in [1, 3, 64, 5_000].iter().cycle() {
                let mut piece = vec![0; *size];
                let length = stream.read(&mut piece).await.unwrap();
                if length == 0 {
                    return all;
                }
                all.extend_from_slice(&piece[..length]);
            }
            unreachable!();
        };
        let began_ns = wall_ns();
        let both = async { tokio::join!(read, write).0 };
        let all = tokio::time::timeout(Duration::from_secs(20), both)
            .await
            .unwrap();
        let sent = (0..=255u8).flat_map(|number| vec![number; usize::from(number) * 7 + 1]);
        assert!(sent.eq(all));
        assert!((began_ns..=wall_ns()).contains(&log.last_arrival.wall_ns().unwrap()));
    }

    #[test]
    fn what_cannot_be_sent_to_is_unreachable() {
        // connect(2), ip(7): no route, interface down, no address to come from, IPv6 off, forbidden.
        for number in [
            libc::ENETUNREACH,
            libc::EHOSTUNREACH,
            libc::ENETDOWN,
            libc::EADDRNOTAVAIL,
            libc::EAFNOSUPPORT,
            libc::EACCES,
        ] {
            let error = io::Error::from_raw_os_error(number);
            let failure = tcp_connect_failure(&error);
            assert_eq!(failure, Failure::TcpConnectUnreachable, "{error}");
        }
        let error = io::Error::from_raw_os_error(libc::EMFILE);
        assert_eq!(tcp_connect_failure(&error), Failure::Other);
    }

    #[tokio::test]
    async fn a_closed_port_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let log = SetupLog::default();
        let failure = connect(address, TcpOptions::default(), &log)
            .await
            .unwrap_err();
        assert_eq!(failure.failure, Failure::TcpConnectRefused);
        assert_eq!((log.tcp_connect.end_ns(), log.path_facts()), (None, None));
    }
}
