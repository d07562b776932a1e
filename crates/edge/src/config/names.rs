//! The parts of the edge's configuration about single names, forwarding and what is written out.
//!
//! For: shapes and their defaults. Not for: reading the file; that is `config`.

use crate::dns::behaviour::{Behaviours, one_delay};
use resolab_record::{FailureMode, HandshakeMode, NameDelay};
use serde::{Deserialize, Deserializer};
use std::path::PathBuf;

/// `[[name]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NameConfig {
    /// The name, or a wildcard.
    pub name: String,
    /// Constant extra delay.
    #[serde(default)]
    pub delay_ms: Option<f64>,
    /// Extra delay drawn for each query.
    #[serde(default)]
    pub delay: Option<NameDelay>,
    /// Failure mode.
    #[serde(default)]
    pub failure: Option<FailureMode>,
}

impl NameConfig {
    /// What is wrong with it.
    pub fn contradiction(&self) -> Option<String> {
        let wrong = |reason: String| format!("[[name]] {}: {reason}", self.name);
        if self.delay_ms.is_none() && self.delay.is_none() && self.failure.is_none() {
            return Some(wrong("neither delay_ms, delay nor failure".to_owned()));
        }
        self.add_to(&mut Behaviours::default()).err().map(wrong)
    }

    /// Put it in force.
    pub fn add_to(&self, behaviours: &mut Behaviours) -> Result<(), String> {
        let delay = one_delay(self.delay_ms, self.delay.clone())?;
        behaviours.set(&self.name, delay.as_ref(), self.failure)
    }
}

/// `[resolver.forward]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForwardConfig {
    /// Resolver, as `--resolver` of `query`.
    pub url: String,
    /// Authorities to trust; absent: the system's.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// Handshake asked for.
    #[serde(default = "default_handshake")]
    pub handshake: HandshakeMode,
    /// `HOST=ADDRESS` for its name.
    #[serde(default)]
    pub resolve: Vec<String>,
    /// Time after which the answer is SERVFAIL.
    #[serde(default = "default_timeout_ms", deserialize_with = "timeout_ms")]
    pub timeout_ms: u64,
    /// Whether answers go into the wire-format cache for their TTL.
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

/// `[records]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WrittenConfig {
    /// Of DNS queries.
    pub queries: QueryRecords,
}

/// What is written of DNS queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryRecords {
    /// An `edge_query` record of each.
    #[default]
    Each,
    /// Their numbers only, in `edge_summary`.
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
