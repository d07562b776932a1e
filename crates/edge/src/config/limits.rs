//! The sections `[limits]` and `[tls]` of the configuration: limits for each client and for all
//! clients together.
//!
//! For: numbers with defaults beyond the needs of any experiment. Not for: enforcing the limits.

use resolab_record::KeyExchangeGroup;
use resolab_transport::server::INITIAL_WINDOW_BYTES;
use serde::{Deserialize, Deserializer};
use std::ops::RangeInclusive;
use std::time::Duration;

/// The permitted initial windows, in bytes: from two datagrams to 16 MiB.
const INITIAL_WINDOWS_BYTES: RangeInclusive<u32> = 2_400..=1 << 24;

/// The section `[limits]`: the limits on clients' resources.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The maximum of concurrent connections.
    pub connections_count: usize,
    /// The maximum of concurrent connections from one address.
    pub connections_per_peer_count: usize,
    /// The time limit from the first packet to the client's Finished.
    #[serde(rename = "handshake_timeout_s", deserialize_with = "seconds")]
    pub handshake_timeout: Duration,
    /// The idle time before a connection is closed.
    #[serde(rename = "idle_timeout_s", deserialize_with = "seconds")]
    pub idle_timeout: Duration,
    /// The time limit from the first byte of a query or request to the last byte.
    #[serde(rename = "message_timeout_s", deserialize_with = "seconds")]
    pub message_timeout: Duration,
    /// The maximum of concurrent requests on a connection.
    pub streams_count: u32,
    /// The maximum length of a request's head, in bytes.
    pub header_bytes: u32,
    /// The flow control window of a QUIC stream: unread bytes from the client.
    pub stream_window_bytes: u32,
    /// The flow control window of all streams of a QUIC connection, in bytes.
    pub connection_window_bytes: u32,
    /// The edge's initial congestion window on a QUIC connection, in bytes, before any
    /// acknowledgement.
    pub quic_initial_window_bytes: u32,
    /// The maximum of first packets of QUIC clients waiting to be accepted.
    pub waiting_count: usize,
    /// The bytes buffered for each waiting QUIC client; the total limit is 64 times this value.
    pub waiting_bytes: u64,
    /// The resident memory of the process, in bytes, above which the edge refuses new clients.
    pub resident_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_count: 65_536,
            connections_per_peer_count: 32_768,
            handshake_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(30),
            message_timeout: Duration::from_secs(10),
            streams_count: 100,
            header_bytes: 16_384,
            stream_window_bytes: 131_072,
            connection_window_bytes: 1_048_576,
            quic_initial_window_bytes: INITIAL_WINDOW_BYTES,
            waiting_count: 4_096,
            waiting_bytes: 262_144,
            resident_bytes: 4 << 30,
        }
    }
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    let duration = Duration::try_from_secs_f64(seconds).ok();
    duration
        .filter(|duration| !duration.is_zero() && seconds <= 86_400.0)
        .ok_or_else(|| serde::de::Error::custom("a time above 0 s and up to 86,400 s is needed"))
}

impl Limits {
    /// Returns the first invalid limit, if any.
    pub fn contradiction(&self) -> Option<String> {
        let zero = [
            ("connections_count", self.connections_count == 0),
            (
                "connections_per_peer_count",
                self.connections_per_peer_count == 0,
            ),
            ("streams_count", self.streams_count == 0),
            ("waiting_count", self.waiting_count == 0),
        ];
        if let Some((name, _)) = zero.iter().find(|(_, zero)| *zero) {
            return Some(format!("[limits] {name} is 0: nobody could be served"));
        }
        // RFC 9002 section 7.2: less than two datagrams is no window; more than this no queue of ours holds.
        if !INITIAL_WINDOWS_BYTES.contains(&self.quic_initial_window_bytes) {
            let (least, most) = (INITIAL_WINDOWS_BYTES.start(), INITIAL_WINDOWS_BYTES.end());
            return Some(format!(
                "[limits] quic_initial_window_bytes: {least} to {most}"
            ));
        }
        // A stream must take the largest DNS message, or its sender waits for ever.
        (self.stream_window_bytes < 65_537 || self.connection_window_bytes < 65_537).then(|| {
            "[limits] stream_window_bytes, connection_window_bytes: 65,537 at least".into()
        })
    }
}

/// The section `[tls]`: TLS versions and key exchange groups.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TlsConfig {
    /// The TLS versions over TCP; QUIC has 1.3 only.
    pub versions: Vec<TlsVersion>,
    /// The accepted key exchange groups, the preferred group first.
    pub groups: Vec<KeyExchangeGroup>,
}

/// A version of TLS over TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum TlsVersion {
    /// TLS 1.2, without early data.
    #[serde(rename = "1.2")]
    Tls12,
    /// TLS 1.3, with early data.
    #[serde(rename = "1.3")]
    Tls13,
}

impl Default for TlsConfig {
    fn default() -> Self {
        Self {
            versions: vec![TlsVersion::Tls13],
            groups: KeyExchangeGroup::ALL.to_vec(),
        }
    }
}

impl TlsConfig {
    /// Returns true when TLS 1.2 is also accepted.
    pub fn tls12_allowed(&self) -> bool {
        self.versions.contains(&TlsVersion::Tls12)
    }

    /// Returns the fault of the section, if any.
    pub fn contradiction(&self) -> Option<String> {
        if self.groups.is_empty() {
            return Some("[tls] groups is empty: nobody could agree on keys".to_owned());
        }
        (!self.versions.contains(&TlsVersion::Tls13))
            .then(|| "[tls] versions must hold \"1.3\"; \"1.2\" can stand beside it".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_keys_have_defaults_and_wrong_ones_are_named() {
        let limits: Limits = toml::from_str("idle_timeout_s = 0.5").unwrap();
        assert_eq!(limits.idle_timeout, Duration::from_millis(500));
        assert_eq!(limits.streams_count, 100);
        assert_eq!(limits.contradiction(), None);
        for wrong in ["idle_timeout_s = 0", "idle_timeout_s = -1", "oops = 1"] {
            assert!(toml::from_str::<Limits>(wrong).is_err(), "{wrong}");
        }
        let limits: Limits = toml::from_str("connections_count = 0").unwrap();
        assert!(
            limits
                .contradiction()
                .unwrap()
                .contains("connections_count")
        );
        let limits: Limits = toml::from_str("stream_window_bytes = 9").unwrap();
        assert!(limits.contradiction().unwrap().contains("65,537"));
        for (bytes, is_wrong) in [
            (2_399, true),
            (2_400, false),
            (1 << 24, false),
            (20_000_000, true),
        ] {
            let text = format!("quic_initial_window_bytes = {bytes}");
            let limits: Limits = toml::from_str(&text).unwrap();
            assert_eq!(limits.contradiction().is_some(), is_wrong, "{text}");
        }
    }

    #[test]
    fn every_group_is_taken_unless_told() {
        assert_eq!(TlsConfig::default().groups, KeyExchangeGroup::ALL);
        let only: TlsConfig = toml::from_str(r#"groups = ["secp384r1"]"#).unwrap();
        assert_eq!(only.groups, [KeyExchangeGroup::Secp384r1]);
        let none: TlsConfig = toml::from_str("groups = []").unwrap();
        assert!(none.contradiction().unwrap().contains("groups"));
        assert!(toml::from_str::<TlsConfig>(r#"groups = ["p384"]"#).is_err());
    }

    #[test]
    fn tls_is_1_3_unless_told() {
        assert!(!TlsConfig::default().tls12_allowed());
        let both: TlsConfig = toml::from_str(r#"versions = ["1.2", "1.3"]"#).unwrap();
        assert!(both.tls12_allowed() && both.contradiction().is_none());
        let old: TlsConfig = toml::from_str(r#"versions = ["1.2"]"#).unwrap();
        assert!(old.contradiction().is_some());
        assert!(toml::from_str::<TlsConfig>(r#"versions = ["1.1"]"#).is_err());
    }
}
