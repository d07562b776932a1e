//! The end of a TCP connection with another owner of the stream: the written bytes are acknowledged
//! within a time, or no more bytes leave. After a close, a kernel continues to send the socket's
//! buffered bytes.
//! Not for: ending the protocol on the connection.

use socket2::SockRef;
use std::io;
use std::mem;
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::time::Duration;
use tokio::time::sleep;

/// The time between two reads of the socket's state.
const LOOKS_EVERY: Duration = Duration::from_millis(1);
/// Values of `tcpi_state` (net/tcp_states.h): the peer acknowledged our FIN, or the connection no
/// longer exists.
const FIN_IS_ACKNOWLEDGED: [u8; 2] = [5, 7];

/// A second descriptor of a connection's socket, beside the stream. The socket stays open until
/// both are dropped.
#[derive(Debug)]
pub struct TcpEnd(OwnedFd);

impl TcpEnd {
    pub(super) fn from_socket(socket: BorrowedFd<'_>) -> io::Result<Self> {
        socket.try_clone_to_owned().map(Self)
    }

    /// Resolves when the peer has acknowledged all written bytes and our FIN.
    pub async fn wait_until_acknowledged(&self) {
        // Where the stream sent it already, or is not connected, there is nothing to shut down.
        let _ = SockRef::from(&self.0).shutdown(Shutdown::Write);
        while tcp_info(&self.0).is_some_and(|info| !FIN_IS_ACKNOWLEDGED.contains(&info.tcpi_state))
        {
            sleep(LOOKS_EVERY).await;
        }
    }

    /// Stops sending: the connection is reset as soon as its stream is closed, too.
    pub fn reset(self) {
        let _ = SockRef::from(&self.0).set_linger(Some(Duration::ZERO));
    }
}

/// Reads the kernel's facts about a TCP socket; `None` for another socket.
pub(super) fn tcp_info(socket: impl AsFd) -> Option<libc::tcp_info> {
    let mut length = mem::size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: all zeros is a valid tcp_info, which has integers only.
    let mut info: libc::tcp_info = unsafe { mem::zeroed() };
    // SAFETY: the kernel writes at most `length` bytes into `info`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            ptr::from_mut(&mut info).cast(),
            &raw mut length,
        )
    };
    (result == 0).then_some(info)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::timeout;

    const LONG: Duration = Duration::from_secs(10);

    async fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).await;
        (near.unwrap(), listener.accept().await.unwrap().0)
    }

    /// Writes until the kernel takes no more bytes.
    async fn fill(stream: &mut TcpStream) {
        let bytes = vec![b'x'; 1 << 16];
        let short = Duration::from_millis(200);
        while timeout(short, stream.write(&bytes)).await.is_ok() {}
    }

    #[tokio::test]
    async fn what_was_written_is_waited_for() {
        let (mut near, mut far) = pair().await;
        let end = TcpEnd::from_socket(near.as_fd()).unwrap();
        fill(&mut near).await;
        drop(near);
        let short = Duration::from_millis(200);
        assert!(timeout(short, end.wait_until_acknowledged()).await.is_err());
        let reading = tokio::spawn(async move {
            let mut read = Vec::new();
            far.read_to_end(&mut read).await.map(|_| read.len())
        });
        timeout(LONG, end.wait_until_acknowledged()).await.unwrap();
        assert!(reading.await.unwrap().unwrap() > 1 << 16);
    }

    #[tokio::test]
    async fn what_has_not_left_by_a_reset_never_does() {
        let (mut near, mut far) = pair().await;
        let end = TcpEnd::from_socket(near.as_fd()).unwrap();
        fill(&mut near).await;
        end.reset();
        drop(near);
        let read = far.read_to_end(&mut Vec::new()).await;
        assert_eq!(read.unwrap_err().kind(), ErrorKind::ConnectionReset);
    }

    #[tokio::test]
    async fn a_connection_that_is_gone_has_ended() {
        let (near, far) = pair().await;
        let end = TcpEnd::from_socket(near.as_fd()).unwrap();
        far.set_zero_linger().unwrap();
        drop(far);
        timeout(LONG, end.wait_until_acknowledged()).await.unwrap();
    }
}
