//! The hellos of a TLS or QUIC handshake and their size on the wire; part of every connection's
//! record. Not for: the hellos' instants, or negotiated parameters beside the key exchange.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Group of a TLS 1.3 key exchange (RFC 8446 section 4.2.7), in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub enum KeyExchangeGroup {
    /// X25519MLKEM768: X25519 with ML-KEM-768 (FIPS 203).
    #[serde(rename = "x25519mlkem768")]
    X25519Mlkem768,
    /// The group x25519 (RFC 7748).
    #[serde(rename = "x25519")]
    X25519,
    /// The group secp256r1, also P-256.
    #[serde(rename = "secp256r1")]
    Secp256r1,
    /// The group secp384r1, also P-384.
    #[serde(rename = "secp384r1")]
    Secp384r1,
}

impl KeyExchangeGroup {
    /// Every group, in the order preferred by Chromium and Firefox: the default of our clients and
    /// servers. Like these browsers, our clients send shares of the first two.
    pub const ALL: [Self; 4] = [
        Self::X25519Mlkem768,
        Self::X25519,
        Self::Secp256r1,
        Self::Secp384r1,
    ];

    /// Returns the number in IANA's registry of TLS groups.
    pub const fn code(self) -> u16 {
        match self {
            Self::X25519Mlkem768 => 0x11ec,
            Self::X25519 => 0x001d,
            Self::Secp256r1 => 0x0017,
            Self::Secp384r1 => 0x0018,
        }
    }

    /// Returns the group of a number; `None` for groups without support here.
    pub fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.code() == code)
    }

    /// Returns the name in records and settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::X25519Mlkem768 => "x25519mlkem768",
            Self::X25519 => "x25519",
            Self::Secp256r1 => "secp256r1",
            Self::Secp384r1 => "secp384r1",
        }
    }
}

/// The hellos of a connection; part of its record, on the same level as its fields. All fields are
/// `null` without TLS, and for messages not seen. Bytes are lengths of handshake messages with
/// their 4-byte headers, without TLS records, QUIC frames and packet headers.
///
/// Packets are UDP datagrams, counted at the socket, or TCP segments. Segments are calculated from
/// the bytes and the connection's segment size, because neither end sees its segments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HelloFacts {
    /// Group of the key exchange; `null` for a group without support in our clients.
    #[serde(default)]
    pub key_exchange_group: Option<KeyExchangeGroup>,
    /// True when the server requested a second ClientHello with another key share
    /// (HelloRetryRequest, RFC 8446 section 4.1.4). The request costs a round trip. `null` while
    /// undecided.
    #[serde(default)]
    pub hello_retry_request: Option<bool>,
    /// Length of the first ClientHello, in bytes; `null` when not seen.
    #[serde(default)]
    pub client_hello_bytes: Option<u32>,
    /// Number of packets of the first ClientHello; `null` when not counted. Over QUIC: packets
    /// beginning with an Initial packet, retransmitted packets included. The client counts packets
    /// sent before the first received packet, the edge packets received until the message was
    /// whole.
    #[serde(default)]
    pub client_hello_packets_count: Option<u32>,
    /// Length of the ServerHello (not of a HelloRetryRequest), in bytes; `null` when not seen.
    #[serde(default)]
    pub server_hello_bytes: Option<u32>,
    /// Length of the server's certificates in DER, in bytes, without framing; `null` when not sent,
    /// as in a resumed handshake.
    #[serde(default)]
    pub certificate_bytes: Option<u32>,
    /// Number of packets of the server's flight, ServerHello to Finished; `null` when not counted.
    /// Over QUIC: packets beginning with an Initial or Handshake packet, without packets of
    /// acknowledgements alone. The edge counts packets sent before the client's answer, the client
    /// packets received until the end of the handshake. Over TCP at the client: `null` with
    /// accepted early data, because a response may have come along.
    #[serde(default)]
    pub server_flight_packets_count: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_one_name_and_one_number() {
        for group in KeyExchangeGroup::ALL {
            assert_eq!(serde_json::to_value(group).unwrap(), group.name());
            assert_eq!(KeyExchangeGroup::from_code(group.code()), Some(group));
        }
        assert_eq!(KeyExchangeGroup::from_code(0x0019), None);
    }
}
