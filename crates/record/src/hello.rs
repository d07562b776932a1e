//! What the hellos of a TLS or QUIC handshake were and took on the wire; part of every record of a
//! connection. Not for: when they came, or what was negotiated beside the key exchange.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Group of a TLS 1.3 key exchange (RFC 8446 section 4.2.7), in lower case.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum KeyExchangeGroup {
    /// X25519MLKEM768: X25519 with ML-KEM-768 (FIPS 203).
    #[serde(rename = "x25519mlkem768")]
    X25519Mlkem768,
    /// x25519 (RFC 7748).
    #[serde(rename = "x25519")]
    X25519,
    /// secp256r1, also P-256.
    #[serde(rename = "secp256r1")]
    Secp256r1,
    /// secp384r1, also P-384.
    #[serde(rename = "secp384r1")]
    Secp384r1,
}

impl KeyExchangeGroup {
    /// Every group, in the order in which Chromium and Firefox prefer them: the default of both our
    /// roles. As they do, our clients send shares of the first two.
    pub const ALL: [Self; 4] = [
        Self::X25519Mlkem768,
        Self::X25519,
        Self::Secp256r1,
        Self::Secp384r1,
    ];

    /// Its number in IANA's registry of TLS groups.
    pub const fn code(self) -> u16 {
        match self {
            Self::X25519Mlkem768 => 0x11ec,
            Self::X25519 => 0x001d,
            Self::Secp256r1 => 0x0017,
            Self::Secp384r1 => 0x0018,
        }
    }

    /// The group of a number; `None` for groups that are not spoken here.
    pub fn of_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.code() == code)
    }

    /// As in records and settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::X25519Mlkem768 => "x25519mlkem768",
            Self::X25519 => "x25519",
            Self::Secp256r1 => "secp256r1",
            Self::Secp384r1 => "secp384r1",
        }
    }
}

/// The hellos of one connection; part of its record, on the same level as its fields. All `null`
/// without TLS or before they were seen. Bytes are those of handshake messages, their four bytes of
/// header included, TLS records, QUIC frames and packet headers not.
///
/// Packets are UDP datagrams, counted as they pass the socket, or the TCP segments that the bytes
/// need at the connection's segment size, which is a calculation: no end sees its segments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelloFacts {
    /// Group the keys were agreed in; `null` for a group no client of ours speaks.
    #[serde(default)]
    pub key_exchange_group: Option<KeyExchangeGroup>,
    /// Whether the server asked for a second ClientHello with another key share
    /// (HelloRetryRequest, RFC 8446 section 4.1.4), which takes a round trip.
    #[serde(default)]
    pub hello_retry_request: Option<bool>,
    /// The first ClientHello.
    #[serde(default)]
    pub client_hello_bytes: Option<u32>,
    /// Packets of the first ClientHello. Over QUIC those that begin with an Initial packet: at the
    /// client sent before anything came, at the edge received until the message was whole; such as
    /// were sent again are among them.
    #[serde(default)]
    pub client_hello_packets_count: Option<u32>,
    /// The ServerHello, not a HelloRetryRequest.
    #[serde(default)]
    pub server_hello_bytes: Option<u32>,
    /// The server's certificates, DER, without framing; `null` when none was sent, as in a resumed
    /// handshake.
    #[serde(default)]
    pub certificate_bytes: Option<u32>,
    /// Packets of the server's flight, ServerHello to Finished. Over QUIC those that begin with an
    /// Initial or Handshake packet, acknowledgements alone left out: at the edge sent before the client answered, at the client
    /// received until its handshake was over. Over TCP at the client `null` where early data was
    /// accepted: an answer may have come along.
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
            assert_eq!(KeyExchangeGroup::of_code(group.code()), Some(group));
        }
        assert_eq!(KeyExchangeGroup::of_code(0x0019), None);
    }
}
