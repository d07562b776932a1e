//! The parts of the edge's configuration about single names, forwarding and what is written out.
//!
//! For: shapes and their defaults. Not for: reading the file; that is `config`.

use crate::behaviour::{Behaviours, one_delay};
use resolab_record::{FailureMode, HandshakeMode, NameDelay};
use serde::Deserialize;
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
    /// After so long the answer is SERVFAIL.
    #[serde(default = "default_timeout_ms")]
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
