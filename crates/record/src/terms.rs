//! The closed vocabularies shared by many records (docs/glossary.md). Not for failures: see
//! `failure`.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The transport of a DNS query.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DnsTransport {
    /// DNS over UDP (RFC 1035, 6891).
    #[default]
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

    /// Returns the position in [`Self::ALL`], for tables by transport.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns true for a transport with a TLS handshake, hence with certificates, tickets and
    /// handshake modes.
    pub const fn is_encrypted(self) -> bool {
        match self {
            Self::Doudp | Self::Dotcp => false,
            Self::Dot | Self::Doh | Self::Doh3 | Self::Doq => true,
        }
    }

    /// Returns the HTTP version of the transport's queries; `None` without HTTP.
    pub const fn http_version(self) -> Option<HttpVersion> {
        match self {
            Self::Doudp | Self::Dotcp | Self::Dot | Self::Doq => None,
            Self::Doh => Some(HttpVersion::H2),
            Self::Doh3 => Some(HttpVersion::H3),
        }
    }

    /// Returns true for a transport over QUIC connections.
    pub const fn is_over_quic(self) -> bool {
        match self {
            Self::Doudp | Self::Dotcp | Self::Dot | Self::Doh => false,
            Self::Doh3 | Self::Doq => true,
        }
    }
}

/// A TLS 1.3 or QUIC handshake: the requested handshake in `requested_handshake_mode`, the actual
/// handshake in `handshake_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HandshakeMode {
    /// A handshake without a ticket.
    Full,
    /// A handshake with a ticket, without early data.
    Resumed,
    /// A handshake with a ticket; the request itself was accepted as early data.
    ZeroRtt,
}

/// An HTTP version, requested or used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HttpVersion {
    /// HTTP/1.1 (RFC 9112), with `http/1.1` as ALPN.
    H1,
    /// HTTP/2 (RFC 9113), with `h2` as ALPN.
    H2,
    /// HTTP/3 (RFC 9114), with `h3` as ALPN.
    H3,
    /// Any version agreed by browser and site: only a requested version, never a used version.
    Any,
}

/// The state of a query's connection at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConnectionState {
    /// The connection's set-up belongs to this query.
    Cold,
    /// The query reused an open connection.
    Warm,
}

/// The edge's rule for issuing and accepting session tickets, per server name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TicketPolicy {
    /// No session tickets are issued or accepted: every handshake is full.
    None,
    /// Tickets without early data: handshakes can be resumed.
    Resume,
    /// Tickets with permission for early data: 0-RTT.
    EarlyData,
    /// Tickets are accepted, but early data offered with a ticket is rejected.
    RejectEarlyData,
}

/// The kind of a browser, which decides how it is driven. Builds of one kind differ in version or code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BrowserKind {
    /// The browser is Chromium.
    Chromium,
    /// The browser is Firefox.
    Firefox,
    /// The browser is Chromium's headless shell: Chromium's network stack and renderer without the
    /// parts of a desktop browser.
    #[serde(rename = "chromium-headless-shell")]
    ChromiumHeadlessShell,
}

/// The resolver asking over Do53 when the browser itself uses no `DoH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NameResolution {
    /// The browser's own stub resolver.
    BuiltIn,
    /// The C library's resolver: addresses only, no HTTPS records.
    Getaddrinfo,
}

/// The reason for a browser's use of HTTP/3 to an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum H3Discovery {
    /// Forced at the browser's start: no race against TCP, from the first request on.
    Forced,
    /// The `alpn` of the name's HTTPS record (RFC 9460), in a race against TCP.
    HttpsRecord,
    /// The Alt-Svc field of an earlier response (RFC 7838): the warm-up uses h2, the measured load
    /// h3.
    AltSvc,
}

/// The presence of an answer in a resolver's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResolverCache {
    /// The answer is in the cache: answered at once.
    Hit,
    /// The answer must be fetched: answered after the plan's time for a miss.
    Miss,
}

/// The browser settings of a published study, including their errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BrowserPreset {
    /// Hounsel et al. (WWW 2020), with Firefox.
    H20,
    /// Sengupta et al. (IEEE TNSM 2024), with Chromium.
    S24,
}

/// The method of a `DoH` query (RFC 8484, section 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DohMethod {
    /// GET, with the query in the URL.
    Get,
    /// POST, with the query as the request's body.
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
        let schema = include_str!("../../../schema/records.schema.json");
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        let declared: Vec<_> = schema["$defs"]["DnsTransport"]["oneOf"]
            .as_array()
            .unwrap()
            .iter()
            .map(|value| value["const"].clone())
            .collect();
        let listed: Vec<_> = DnsTransport::ALL
            .iter()
            .map(|value| serde_json::to_value(value).unwrap())
            .collect();
        assert_eq!(listed, declared);
    }
}
