//! How the edge treats single names: extra delay and failure modes. Shapes of its configuration, its
//! commands and its summary.

use crate::edge_control::ConnectionsSummary;
use crate::terms::DnsTransport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Shape of a delay that is drawn anew for each query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DelayDistribution {
    /// Always `mean_ms`.
    Constant,
    /// Between `min_ms` and `max_ms`.
    Uniform,
    /// `min_ms` (absent: 0) and what is added to it, exponential with mean `mean_ms`.
    Exponential,
    /// Median `median_ms`, standard deviation of the logarithm `sigma`.
    Lognormal,
    /// At least `min_ms`, tail index `shape`.
    Pareto,
    /// One of `samples_ms`, all alike.
    Samples,
}

/// A delay drawn from a stream of its own. What the distribution does not take is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NameDelay {
    /// What the delays look like; which of the fields below it takes is said there.
    pub distribution: DelayDistribution,
    /// Of `constant`, `exponential`.
    #[serde(default)]
    pub mean_ms: Option<f64>,
    /// Of `uniform`, `exponential`, `pareto`.
    #[serde(default)]
    pub min_ms: Option<f64>,
    /// Of `uniform`; with the others no delay is longer than this.
    #[serde(default)]
    pub max_ms: Option<f64>,
    /// Of `lognormal`.
    #[serde(default)]
    pub median_ms: Option<f64>,
    /// Of `lognormal`.
    #[serde(default)]
    pub sigma: Option<f64>,
    /// Of `pareto`.
    #[serde(default)]
    pub shape: Option<f64>,
    /// Of `samples`.
    #[serde(default)]
    pub samples_ms: Option<Vec<f64>>,
    /// Share of the queries that are delayed, the others are not; absent: all.
    #[serde(default)]
    pub share_ratio: Option<f64>,
    /// Seed of the stream; absent: 1.
    #[serde(default)]
    pub seed: Option<u64>,
}

/// What the edge does with queries for a name instead of answering them from its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureMode {
    /// The name does not exist.
    Nxdomain,
    /// SERVFAIL.
    Servfail,
    /// REFUSED.
    Refused,
    /// No answer at all; a stream or request stays open.
    Drop,
    /// Over UDP an empty answer with TC, as if it were too long; elsewhere answered.
    Truncated,
}

/// What the edge did since it was started; written by a `summary` command and at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeSummaryRecord {
    /// Of the command; `null` at the end.
    pub label: Option<String>,
    /// `CLOCK_MONOTONIC` now.
    pub monotonic_ns: u64,
    /// DNS messages by transport (`doudp`, `dotcp`, ...); transports without any are absent.
    pub queries: BTreeMap<String, u64>,
    /// Answers by response code, forwarded ones not among them.
    pub rcodes: BTreeMap<String, u64>,
    /// Messages that are no query or whose names have the failure mode `drop`: not answered.
    pub unanswered_count: u64,
    /// Queries with an extra delay.
    pub delayed_count: u64,
    /// Queries with a failure mode.
    pub failed_on_purpose_count: u64,
    /// Queries forwarded upstream.
    pub forwarded_count: u64,
    /// Of these, those that got SERVFAIL for want of an answer.
    pub forward_failed_count: u64,
    /// The wire-format cache; `null` when it is off.
    pub wire_cache: Option<WireCacheSummary>,
    /// Connections, and what was refused.
    #[serde(default)]
    pub connections: Option<ConnectionsSummary>,
}

/// Figures of the wire-format cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WireCacheSummary {
    /// Answers taken from it.
    pub hit_count: u64,
    /// Answers that could have been in it and were not.
    pub miss_count: u64,
    /// Hits by hits and misses; `null` without either.
    pub hit_ratio: Option<f64>,
    /// Answers in it now.
    pub entry_count: u64,
    /// Bytes of those answers.
    pub entry_bytes: u64,
    /// Times it was emptied because what is answered had changed.
    pub invalidation_count: u64,
}

impl DnsTransport {
    /// As records spell it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Doudp => "doudp",
            Self::Dotcp => "dotcp",
            Self::Dot => "dot",
            Self::Doh => "doh",
            Self::Doh3 => "doh3",
            Self::Doq => "doq",
        }
    }
}
