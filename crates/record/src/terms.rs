//! The closed vocabularies shared by many records (docs/glossary.md). Not for failures: those are
//! in `failure`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a DNS query travels.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum DnsTransport {
    /// DNS over UDP (RFC 1035, 6891).
    Doudp,
    /// DNS over TCP (RFC 7766).
    Dotcp,
    /// DNS over TLS (RFC 7858).
    Dot,
    /// DNS over HTTPS on HTTP/2 (RFC 8484).
    Doh,
    /// DNS over HTTPS on HTTP/3 (RFC 8484, 9114).
    Doh3,
    /// DNS over dedicated QUIC connections (RFC 9250).
    Doq,
}

impl DnsTransport {
    /// Every transport, in the order of lists and tables.
    pub const ALL: [Self; 6] = [
        Self::Doudp,
        Self::Dotcp,
        Self::Dot,
        Self::Doh,
        Self::Doh3,
        Self::Doq,
    ];

    /// Its place in [`Self::ALL`], for tables by transport.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Whether it has a TLS handshake, and with it certificates, tickets and handshake modes.
    pub const fn is_encrypted(self) -> bool {
        match self {
            Self::Doudp | Self::Dotcp => false,
            Self::Dot | Self::Doh | Self::Doh3 | Self::Doq => true,
        }
    }

    /// The HTTP version its queries are requests of; none where no HTTP is spoken.
    pub const fn http_version(self) -> Option<HttpVersion> {
        match self {
            Self::Doudp | Self::Dotcp | Self::Dot | Self::Doq => None,
            Self::Doh => Some(HttpVersion::H2),
            Self::Doh3 => Some(HttpVersion::H3),
        }
    }

    /// Whether its connection is a QUIC connection.
    pub const fn is_over_quic(self) -> bool {
        match self {
            Self::Doudp | Self::Dotcp | Self::Dot | Self::Doh => false,
            Self::Doh3 | Self::Doq => true,
        }
    }
}

/// A TLS 1.3 or QUIC handshake: as asked for in `requested_handshake_mode`, as it happened in
/// `handshake_mode`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum HandshakeMode {
    /// No ticket used.
    Full,
    /// A ticket used, without early data.
    Resumed,
    /// A ticket used, and the request itself was accepted as early data.
    ZeroRtt,
}

/// HTTP version spoken, or asked for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum HttpVersion {
    /// HTTP/1.1 (RFC 9112).
    H1,
    /// HTTP/2 (RFC 9113).
    H2,
    /// HTTP/3 (RFC 9114).
    H3,
    /// Whatever browser and site agree on: only ever asked for, never what was spoken.
    Any,
}

/// Whether a query found its connection open.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionState {
    /// Set-up belongs to this query.
    Cold,
    /// An open connection was reused.
    Warm,
}

/// What the edge gives out for later handshakes, per server name.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TicketPolicy {
    /// No session tickets, and none accepted: every handshake is full.
    None,
    /// Tickets without early data: handshakes can be resumed.
    Resume,
    /// Tickets that allow early data: 0-RTT.
    EarlyData,
    /// Tickets are taken back but early data offered with them is rejected.
    RejectEarlyData,
}

/// Which browser loads the page.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BrowserName {
    /// Chromium.
    Chromium,
    /// Firefox.
    Firefox,
}

/// Who asks over Do53 when the browser speaks no `DoH` itself.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NameResolution {
    /// The browser's own stub resolver.
    BuiltIn,
    /// The C library's: addresses only, no HTTPS records.
    Getaddrinfo,
}

/// How a browser comes to speak HTTP/3 to an origin.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum H3Discovery {
    /// Told at its start: no race against TCP, from the first request on.
    Forced,
    /// By the `alpn` of the name's HTTPS record (RFC 9460), in a race against TCP.
    HttpsRecord,
    /// By an earlier response's Alt-Svc field (RFC 7838): the warm-up goes over h2, the measured
    /// load over h3.
    AltSvc,
}

/// Whether a resolver has an answer in its cache or must fetch it first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ResolverCache {
    /// Answered at once.
    Hit,
    /// Answered after the time the plan gives a miss.
    Miss,
}

/// Browser settings of a published study, with what they got wrong.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BrowserPreset {
    /// Hounsel et al. (WWW 2020): Firefox.
    H20,
    /// Sengupta et al. (IEEE TNSM 2024): Chromium.
    S24,
}

/// How a `DoH` query is sent (RFC 8484, section 4.1).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum DohMethod {
    /// In the URL.
    Get,
    /// As the request's body.
    Post,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_holds_every_transport_in_the_order_of_its_declaration() {
        for (place, transport) in DnsTransport::ALL.into_iter().enumerate() {
            assert_eq!(transport.index(), place);
        }
        let schema = schemars::schema_for!(DnsTransport).to_value();
        let declared: Vec<_> = schema["oneOf"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["const"].clone())
            .collect();
        let listed: Vec<_> = DnsTransport::ALL
            .iter()
            .map(|one| serde_json::to_value(one).unwrap())
            .collect();
        assert_eq!(listed, declared);
    }
}
