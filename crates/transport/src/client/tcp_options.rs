//! Options for opening a TCP connection.

/// Options for a TCP connect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// TCP Fast Open. With the server's cookie from an earlier connection, connecting only prepares
    /// the socket, and the first write leaves in the SYN. Without a cookie, the SYN requests a
    /// cookie.
    pub fast_open: bool,
}
