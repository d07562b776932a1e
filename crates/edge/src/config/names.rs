//! The parts of the edge's configuration for single names, forwarding and record output.
//!
//! For: the settings with their defaults. Not for: reading the file, see `config`.

use crate::dns::behaviour::{Behaviours, choose_delay};
use resolab_record::{FailureMode, HandshakeMode, NameDelay};
use serde::{Deserialize, Deserializer};
use std::path::PathBuf;

/// An entry of `[[name]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NameConfig {
    /// The name, or a wildcard.
    pub name: String,
    /// The constant additional delay, in ms.
    #[serde(default)]
    pub delay_ms: Option<f64>,
    /// The additional delay drawn for each query.
    #[serde(default)]
    pub delay: Option<NameDelay>,
    /// The failure mode of the name.
    #[serde(default)]
    pub failure: Option<FailureMode>,
}

impl NameConfig {
    /// Returns the fault of the entry, if any.
    pub fn contradiction(&self) -> Option<String> {
        let wrong = |reason: String| format!("[[name]] {}: {reason}", self.name);
        if self.delay_ms.is_none() && self.delay.is_none() && self.failure.is_none() {
            return Some(wrong("neither delay_ms, delay nor failure".to_owned()));
        }
        self.add_to(&mut Behaviours::default()).err().map(wrong)
    }

    /// Adds the entry to the active behaviours.
    pub fn add_to(&self, behaviours: &mut Behaviours) -> Result<(), String> {
        let delay = choose_delay(self.delay_ms, self.delay.clone())?;
        behaviours.set(&self.name, delay.as_ref(), self.failure)
    }
}

/// The section `[resolver.forward]`: the upstream resolver.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForwardConfig {
    /// The upstream resolver, in the notation of `--resolver` of `query`.
    pub url: String,
    /// The file of trusted authorities; absent: the system's.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// The requested handshake mode.
    #[serde(default = "default_handshake")]
    pub handshake: HandshakeMode,
    /// The address of the resolver's name, as `HOST=ADDRESS`.
    #[serde(default)]
    pub resolve: Vec<String>,
    /// The time after which the answer is SERVFAIL, in ms.
    #[serde(default = "default_timeout_ms", deserialize_with = "timeout_ms")]
    pub timeout_ms: u64,
    /// True when answers go into the wire-format cache for their TTL.
    #[serde(default)]
    pub cache: bool,
}

fn default_handshake() -> HandshakeMode {
    HandshakeMode::Full
}

fn default_timeout_ms() -> u64 {
    5_000
}

fn timeout_ms<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let timeout_ms = u64::deserialize(deserializer)?;
    Some(timeout_ms)
        .filter(|timeout_ms| (1..=86_400_000).contains(timeout_ms))
        .ok_or_else(|| serde::de::Error::custom("1 to 86,400,000 ms are needed"))
}

/// The section `[records]`: the choice of records to write.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecordOutputConfig {
    /// The records of DNS queries.
    pub queries: QueryRecords,
}

/// The choice of records for DNS queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryRecords {
    /// An `edge_query` record for each query.
    #[default]
    Each,
    /// Only the counts, in `edge_summary`.
    Count,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::EdgeConfig;

    const HEAD: &str =
        "[ca]\nfolder = \"ca\"\n[resolver]\nname = \"r.test\"\naddresses = [\"10.0.0.1\"]\n";

    #[test]
    fn names_forwarding_and_records_are_read() {
        let text = r#"
            [resolver.forward]
            url = "tls://192.0.2.1"
            handshake = "resumed"
            [[name]]
            name = "*.slow.test"
            delay = { distribution = "samples", samples_ms = [1.0, 2.0], share_ratio = 0.5 }
            failure = "servfail"
            [records]
            queries = "count"
        "#;
        let config = EdgeConfig::parse(&format!("{HEAD}{text}"), "edge.toml").unwrap();
        assert_eq!(config.written.queries, QueryRecords::Count);
        assert_eq!(config.names[0].failure, Some(FailureMode::Servfail));
        let resolver = config.resolver.unwrap();
        assert!(resolver.wire_cache && resolver.padding_block_bytes == 468);
        let forward = resolver.forward.unwrap();
        assert_eq!(
            (forward.handshake, forward.timeout_ms),
            (HandshakeMode::Resumed, 5_000)
        );
        assert!(!forward.cache);
        let plain = EdgeConfig::parse(HEAD, "edge.toml").unwrap();
        assert_eq!(plain.written.queries, QueryRecords::Each);
    }

    #[test]
    fn names_that_say_nothing_or_wrong_are_errors() {
        for (lines, part) in [
            ("name = \"a.test\"", "neither delay_ms, delay nor failure"),
            ("name = \"a..test\"\ndelay_ms = 1", "no name"),
            ("name = \"a.test\"\ndelay_ms = -1", "mean_ms -1"),
            (
                "name = \"a.test\"\nfailure = \"sometimes\"",
                "unknown variant",
            ),
            (
                "name = \"a.test\"\ndelay = { distribution = \"pareto\" }",
                "min_ms is missing",
            ),
            (
                "name = \"a.test\"\ndelay_ms = 1\ndelay = { distribution = \"constant\", mean_ms = 1 }",
                "exclude each other",
            ),
        ] {
            let text = format!("{HEAD}[[name]]\n{lines}\n");
            let error = EdgeConfig::parse(&text, "edge.toml")
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(part) && error.contains("edge.toml"),
                "{error}"
            );
        }
    }
}
