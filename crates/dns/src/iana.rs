//! Registered names and numbers shared by clients and servers of DNS over TLS, HTTPS and QUIC.
//! Not for: the numbers of DNS messages (hickory).

/// ALPN of DNS over TLS (RFC 7858).
pub const ALPN_DOT: &str = "dot";
/// ALPN of HTTP/2 over TLS (RFC 9113 section 3.1).
pub const ALPN_H2: &str = "h2";
/// ALPN of HTTP/3 (RFC 9114 section 3.1).
pub const ALPN_H3: &str = "h3";
/// ALPN of DNS over dedicated QUIC connections (RFC 9250 section 4.1).
pub const ALPN_DOQ: &str = "doq";

/// The media type of a DNS message (RFC 8484 section 6).
pub const DNS_MESSAGE: &str = "application/dns-message";

/// Error codes of DoQ (RFC 9250 section 4.3).
pub mod doq_error {
    /// DOQ_NO_ERROR: a connection or stream is closed, and nothing is wrong.
    pub const NO_ERROR: u32 = 0x0;
    /// DOQ_PROTOCOL_ERROR: the peer violated the protocol, so the connection ends (section 4.3.3).
    pub const PROTOCOL_ERROR: u32 = 0x2;
    /// DOQ_REQUEST_CANCELLED: a cancelled query.
    pub const REQUEST_CANCELLED: u32 = 0x3;
    /// DOQ_EXCESSIVE_LOAD: more load than the server accepts.
    pub const EXCESSIVE_LOAD: u32 = 0x4;
}
