//! A TCP listener accepting data in a SYN (TCP Fast Open, RFC 7413) from clients with the cookie.
//! Data is accepted when `net.ipv4.tcp_fastopen` has the server bit (2).

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::ptr;
use tokio::net::TcpListener;

/// The maximum number of connections with data in the SYN and without an ended handshake.
const FAST_OPEN_QUEUE_COUNT: libc::c_int = 256;

/// Binds and listens. Without Fast Open in the kernel the listener is an ordinary listener.
pub async fn listen_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address).await?;
    // SAFETY: the kernel reads the integer given, whose size is given too.
    unsafe {
        libc::setsockopt(
            listener.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_FASTOPEN,
            ptr::from_ref(&FAST_OPEN_QUEUE_COUNT).cast(),
            size_of_val(&FAST_OPEN_QUEUE_COUNT) as libc::socklen_t,
        );
    }
    Ok(listener)
}
