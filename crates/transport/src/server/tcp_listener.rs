//! A TCP listener that takes data in a SYN (TCP Fast Open, RFC 7413) from clients that bring the
//! cookie, where `net.ipv4.tcp_fastopen` has its bit 2.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::ptr;
use tokio::net::TcpListener;

/// Connections with data in the SYN whose handshake has not ended.
const FAST_OPEN_QUEUE_COUNT: libc::c_int = 256;

/// Bind and listen. Without Fast Open in the kernel it is a listener like any other.
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
