//! How a TCP connection is to be opened.

/// How to connect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// TCP Fast Open: with a cookie of the server's from an earlier connection, connecting only
    /// gets ready and what is written first leaves in the SYN. Without one, ask for one.
    pub fast_open: bool,
}
