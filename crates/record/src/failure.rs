//! The closed list of measured failures, `<phase>_<what>`. A failure is data: `null` means success.
//! Not for broken instruments: those end the process with an exit code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a query, connection or request failed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The resolver's host name had no address.
    BootstrapFailed,
    /// The peer answered the SYN with a reset, or nothing listens.
    TcpConnectRefused,
    /// No answer to the SYN in time.
    TcpConnectTimeout,
    /// No route, or the network said unreachable.
    TcpConnectUnreachable,
    /// The peer broke off the TLS handshake.
    TlsHandshakeFailed,
    /// The TLS handshake did not end in time.
    TlsHandshakeTimeout,
    /// The peer's certificate was not accepted.
    TlsCertificateInvalid,
    /// The peer broke off the QUIC handshake.
    QuicHandshakeFailed,
    /// The QUIC handshake did not end in time.
    QuicHandshakeTimeout,
    /// No response to the query in time.
    QueryTimeout,
    /// ICMP port unreachable or a like refusal of the query.
    QueryRefused,
    /// The connection ended before the response was complete.
    QueryConnectionClosed,
    /// The response was no valid answer to the query.
    QueryMalformed,
    /// The response was truncated and could not be had whole.
    QueryTruncated,
    /// The response carried an error code other than NXDOMAIN.
    DnsRcode,
    /// The DoH exchange ended with a status other than 200.
    HttpStatus,
    /// HTTP framing failed.
    HttpProtocol,
    /// None of the above; `failure_detail` says what.
    Other,
}
