//! The edge's treatment of single names: extra delay and failure modes. Shapes of the edge's
//! configuration, commands and summary.

use crate::edge_control::ConnectionsSummary;
use crate::terms::DnsTransport;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The shape of a delay drawn anew for each query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DelayDistribution {
    /// Always `mean_ms`, for every query.
    Constant,
    /// Uniform between `min_ms` and `max_ms`.
    Uniform,
    /// `min_ms` (absent: 0) plus an exponential addition with mean `mean_ms`.
    Exponential,
    /// Log-normal with median `median_ms` and standard deviation of the logarithm `sigma`.
    Lognormal,
    /// Pareto with minimum `min_ms` and tail index `shape`.
    Pareto,
    /// One of `samples_ms`, all with equal probability.
    Samples,
}

/// A delay drawn from a separate random stream. Fields unused by the distribution are absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NameDelay {
    /// Distribution of the delays; each field below lists the distributions using the field.
    pub distribution: DelayDistribution,
    /// Mean in ms, of `constant` and `exponential`.
    #[serde(default)]
    pub mean_ms: Option<f64>,
    /// Minimum in ms, of `uniform`, `exponential` and `pareto`.
    #[serde(default)]
    pub min_ms: Option<f64>,
    /// Maximum in ms, of `uniform`; for other distributions, the longest delay.
    #[serde(default)]
    pub max_ms: Option<f64>,
    /// Median in ms, of `lognormal`.
    #[serde(default)]
    pub median_ms: Option<f64>,
    /// Standard deviation of the logarithm, of `lognormal`.
    #[serde(default)]
    pub sigma: Option<f64>,
    /// Tail index, of `pareto`.
    #[serde(default)]
    pub shape: Option<f64>,
    /// Delays to choose from in ms, of `samples`.
    #[serde(default)]
    pub samples_ms: Option<Vec<f64>>,
    /// Share of delayed queries, 0 to 1; other queries are not delayed. Absent: all queries.
    #[serde(default)]
    pub share_ratio: Option<f64>,
    /// Seed of the random stream; absent: 1.
    #[serde(default)]
    pub seed: Option<u64>,
}

/// The edge's deliberate failure of queries for a name, in place of an answer from its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureMode {
    /// The answer is NXDOMAIN: the name does not exist.
    Nxdomain,
    /// The answer is SERVFAIL.
    Servfail,
    /// The answer is REFUSED.
    Refused,
    /// No answer at all; a stream or request stays open.
    Drop,
    /// Over UDP: an empty answer with TC, as for too long an answer. Over other transports: the
    /// usual answer.
    Truncated,
}

/// The edge's counts since its start, written by a `summary` command and at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct EdgeSummaryRecord {
    /// Label of the command; `null` at the end, and without a label.
    pub label: Option<String>,
    /// Instant of this record, `CLOCK_MONOTONIC` in ns.
    pub monotonic_ns: u64,
    /// Number of DNS messages by transport (`doudp`, `dotcp`, ...); transports without messages are
    /// absent.
    pub queries: BTreeMap<String, u64>,
    /// Number of answers by response code, forwarded answers excluded.
    pub rcodes: BTreeMap<String, u64>,
    /// Number of unanswered messages: no query, or a name with the failure mode `drop`.
    pub unanswered_count: u64,
    /// Number of queries with an extra delay.
    pub delayed_count: u64,
    /// Number of queries with a failure mode.
    pub failed_on_purpose_count: u64,
    /// Number of queries forwarded upstream.
    pub forwarded_count: u64,
    /// Number of forwarded queries answered by SERVFAIL for lack of an answer.
    pub forward_failed_count: u64,
    /// The wire-format cache; `null` when the cache is off.
    pub wire_cache: Option<WireCacheSummary>,
    /// Connections accepted and refused by the edge.
    #[serde(default)]
    pub connections: Option<ConnectionsSummary>,
}

/// The counts of the wire-format cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WireCacheSummary {
    /// Number of answers taken from the cache.
    pub hit_count: u64,
    /// Number of cacheable answers missing from the cache.
    pub miss_count: u64,
    /// Share of hits in hits and misses, 0 to 1; `null` without hits and misses.
    pub hit_ratio: Option<f64>,
    /// Number of answers in the cache now.
    pub entry_count: u64,
    /// Number of bytes of these answers.
    pub entry_bytes: u64,
    /// Number of times the cache was emptied after a change of the answers.
    pub invalidation_count: u64,
}

impl DnsTransport {
    /// Returns the transport's spelling in records.
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
