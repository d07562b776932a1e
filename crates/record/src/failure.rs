//! The closed list of measured failures, `<phase>_<what>`. A failure is data: `null` means success.
//! Not for broken instruments: those end the process with an exit code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};

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
    /// No route, no address of this machine to come from, or the network said unreachable.
    TcpConnectUnreachable,
    /// The peer broke off the TLS handshake.
    TlsHandshakeFailed,
    /// The TLS handshake did not end in time.
    TlsHandshakeTimeout,
    /// The TLS handshake ended, and the peer had not chosen the protocol that the transport needs, such as
    /// HTTP/2 for DoH (RFC 7301, RFC 9113 section 3.2).
    TlsAlpnMismatch,
    /// The peer's certificate was not accepted.
    TlsCertificateInvalid,
    /// The peer broke off the QUIC handshake.
    QuicHandshakeFailed,
    /// The QUIC handshake did not end in time.
    QuicHandshakeTimeout,
    /// The kernel sent no packet of the QUIC handshake: no route, or no address of this machine to come from.
    QuicHandshakeUnreachable,
    /// No response to the query in time.
    QueryTimeout,
    /// ICMP port unreachable or a like refusal of the query.
    QueryRefused,
    /// The kernel did not send the query: no route, or no address of this machine to come from; or the
    /// network said unreachable.
    QueryUnreachable,
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

impl fmt::Display for Failure {
    /// As records spell it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, letter) in format!("{self:?}").char_indices() {
            if at > 0 && letter.is_ascii_uppercase() {
                formatter.write_char('_')?;
            }
            formatter.write_char(letter.to_ascii_lowercase())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_the_records() {
        for failure in [
            Failure::Other,
            Failure::TcpConnectRefused,
            Failure::TlsAlpnMismatch,
            Failure::QuicHandshakeUnreachable,
        ] {
            let recorded = serde_json::to_value(failure).unwrap();
            assert_eq!(recorded, failure.to_string());
        }
    }
}
