//! The closed list of measured failures, named `<phase>_<what>`. A failure is data: `null` means
//! success. Not for broken instruments: these end the process with an exit code.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};

/// The reason for the failure of a query, connection or request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The resolver's host name had no address.
    BootstrapFailed,
    /// The peer answered the SYN with a reset, or no program listens.
    TcpConnectRefused,
    /// No answer to the SYN came in time.
    TcpConnectTimeout,
    /// No route, no usable source address on this machine, or the network answered unreachable.
    TcpConnectUnreachable,
    /// The peer broke off the TLS handshake.
    TlsHandshakeFailed,
    /// The TLS handshake did not end in time.
    TlsHandshakeTimeout,
    /// The TLS handshake ended, but the peer had not chosen the protocol needed by the transport,
    /// e.g. HTTP/2 for DoH (RFC 7301, RFC 9113 section 3.2).
    TlsAlpnMismatch,
    /// The peer's certificate was not accepted.
    TlsCertificateInvalid,
    /// The peer broke off the QUIC handshake.
    QuicHandshakeFailed,
    /// The QUIC handshake did not end in time.
    QuicHandshakeTimeout,
    /// The kernel sent no packet of the QUIC handshake: no route, or no usable source address on
    /// this machine.
    QuicHandshakeUnreachable,
    /// No response to the query came in time.
    QueryTimeout,
    /// The query was refused by ICMP port unreachable or the like.
    QueryRefused,
    /// The kernel did not send the query (no route, or no usable source address on this machine),
    /// or the network answered unreachable.
    QueryUnreachable,
    /// The connection ended before the response was complete.
    QueryConnectionClosed,
    /// The response was no valid answer to the query.
    QueryMalformed,
    /// The response was truncated, and the whole response was not available.
    QueryTruncated,
    /// The response had an error code other than NXDOMAIN.
    DnsRcode,
    /// The DoH exchange ended with a status other than 200.
    HttpStatus,
    /// HTTP framing failed during the exchange.
    HttpProtocol,
    /// Another reason, given in `failure_detail`.
    Other,
}

impl fmt::Display for Failure {
    /// Writes the failure's name in records.
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
