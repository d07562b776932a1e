//! Records of a load run (`resolab-load`): a line for each interval, and a last line at the
//! end. Not for single queries: a load run keeps counts and distributions only.

use crate::failure::Failure;
use crate::hello::HelloFacts;
use crate::terms::DnsTransport;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The rule for sending queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LoadPace {
    /// Closed loop: a query is sent when another query has ended.
    Closed,
    /// Open loop: at equal distances, independent of the answers.
    Constant,
    /// Open loop: at distances drawn from an exponential distribution.
    Poisson,
}

/// The distribution of a set of durations. Quantiles are exact to three digits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TimeDistribution {
    /// Number of durations in the set.
    pub sample_count: u64,
    /// Smallest duration, in ns.
    pub min_ns: u64,
    /// Mean duration, in ns.
    pub mean_ns: f64,
    /// Standard deviation of the durations, in ns.
    pub stddev_ns: f64,
    /// Median duration, in ns.
    pub p50_ns: u64,
    /// 90th percentile of the durations, in ns.
    pub p90_ns: u64,
    /// 95th percentile of the durations, in ns.
    pub p95_ns: u64,
    /// 99th percentile of the durations, in ns.
    pub p99_ns: u64,
    /// 99.9th percentile of the durations, in ns.
    pub p99_9_ns: u64,
    /// 99.99th percentile of the durations, in ns; `null` in records before format 1.15.
    #[serde(default)]
    pub p99_99_ns: Option<u64>,
    /// Largest duration, in ns.
    pub max_ns: u64,
}

/// The counts of a load run in one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LoadProgressRecord {
    /// Start of the interval, in ns since the first query could be sent.
    pub interval_start_ns: u64,
    /// End of the interval, in ns since the first query could be sent.
    pub interval_end_ns: u64,
    /// Number of queries sent.
    pub sent_count: u64,
    /// Number of queries answered in time.
    pub completed_count: u64,
    /// Number of queries without an answer in time.
    pub lost_count: u64,
    /// Number of queries cut off by the end of their connection or of the run.
    pub interrupted_count: u64,
    /// Number of queries failed otherwise.
    pub failed_count: u64,
    /// Rate of answers, per second.
    pub completed_rate_per_s: f64,
    /// Mean response time of the answered queries, in ns, from the scheduled time; `null` without
    /// answers.
    pub mean_query_response_time_ns: Option<f64>,
}

/// Connections with equal hellos.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HelloCount {
    /// Number of these connections.
    pub connection_count: u64,
    /// The hellos of these connections; datagrams are not counted.
    #[serde(flatten)]
    pub hello_facts: HelloFacts,
}

/// The settings, counts and distributions of a load run. Each query sent has exactly one end:
/// `sent_count` is the sum of completed, lost, interrupted and failed.
#[allow(clippy::struct_excessive_bools)] // Each is a fact of its own, true of a run or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LoadRecord {
    /// DNS transport of the queries.
    pub dns_transport: DnsTransport,
    /// The resolver as given, a URL.
    pub resolver: String,
    /// Address and port of the resolver.
    pub resolver_address: SocketAddr,
    /// False when the resolver's certificate was not checked in any way; `null` without TLS.
    pub certificate_checked: Option<bool>,
    /// Rule for sending queries.
    pub pace: LoadPace,
    /// Seed of a Poisson schedule.
    pub seed: u64,
    /// Number of sending and receiving threads.
    pub thread_count: u32,
    /// Number of connections kept open (sockets, for `doudp`).
    pub connection_count: u32,
    /// Largest number of queries without an answer at any moment. With a schedule, sending stops at
    /// this bound.
    pub outstanding_limit_count: u32,
    /// Longest wait for an answer, in ns.
    pub timeout_ns: u64,
    /// HTTP method of DoH, `GET` or `POST`; `null` for other transports.
    pub http_method: Option<String>,
    /// True when UDP segmentation offload carried the queries. On a path without segmentation
    /// (loopback), the result says nothing about a network.
    pub segmentation_offload: bool,
    /// True when waiting for the next send was spinning.
    pub spinning: bool,
    /// Time from the first possible send to the end of the last query, in ns. Connecting comes
    /// before.
    pub run_ns: u64,
    /// True when the run ended before its time: stopped, or given up (`failure`).
    pub stopped_early: bool,
    /// Reason for giving up; `null` for a run not given up. For `timeout_ns` no query waited for an
    /// answer and no query could be sent. The value is the result of the last attempt to connect,
    /// or `query_timeout` with open connections.
    #[serde(default)]
    pub failure: Option<Failure>,
    /// Requested rate of queries, per second; `null` in a closed loop.
    pub asked_rate_per_s: Option<f64>,
    /// Rate of sending, per second, from the first query to the last.
    pub sent_rate_per_s: f64,
    /// `sent_rate_per_s` over `asked_rate_per_s`, minus 1. The sampling error of a Poisson schedule
    /// is about 1 over the square root of the number of queries. `null` in a closed loop, and for
    /// fewer than two queries.
    pub rate_error_ratio: Option<f64>,
    /// Rate of answers over the run, per second.
    pub completed_rate_per_s: f64,
    /// Number of queries sent.
    pub sent_count: u64,
    /// Number of queries answered in time.
    pub completed_count: u64,
    /// Number of queries without an answer in time.
    pub lost_count: u64,
    /// Number of queries cut off by the end of their connection or of the run.
    pub interrupted_count: u64,
    /// Number of queries failed otherwise.
    pub failed_count: u64,
    /// Number of queries cut off or failed, by reason; names as in query records.
    pub failures: BTreeMap<Failure, u64>,
    /// Number of answers by response code, as text.
    pub rcodes: BTreeMap<String, u64>,
    /// Number of truncated answers; these queries are not repeated.
    pub truncated_count: u64,
    /// Number of answers to queries already given up; these queries are not completed.
    pub late_count: u64,
    /// Number of times the server reported a query as unprocessed (HTTP/2 REFUSED_STREAM and the
    /// like). The query was then repeated.
    #[serde(default)]
    pub refused_count: u64,
    /// Number of second answers to the same query.
    pub duplicate_count: u64,
    /// Number of messages answering no query of ours: wrong id, question or QR bit, or no DNS.
    pub alien_count: u64,
    /// Length of all DNS messages sent, in bytes, without framing.
    pub query_bytes: u64,
    /// Length of all DNS messages of completed queries, in bytes, without framing.
    pub response_bytes: u64,
    /// Time from wanting a query to its answer. In a closed loop a query is wanted at its sending,
    /// in an open loop at its scheduled time. In an open loop a slow answer therefore cannot hold
    /// back the load during its own measurement (no coordinated omission).
    pub query_response_time: TimeDistribution,
    /// Time from sending a query to its answer; `null` in a closed loop, where this time equals
    /// `query_response_time`.
    pub query_exchange: Option<TimeDistribution>,
    /// Delay of sending after the scheduled time; `null` in a closed loop.
    pub send_lateness: Option<TimeDistribution>,
    /// Upper bounds of the histogram of `query_response_time`, in ns; empty buckets are left out.
    pub histogram_upper_ns: Vec<u64>,
    /// Number of values up to each bound and above the previous bound.
    pub histogram_count: Vec<u64>,
    /// Longest wait from the first answer to the reading of all answers, in ns: the requested wait,
    /// or the maximum of the adaptive rule.
    pub coalescing_wait_limit_ns: u64,
    /// True when the wait adapted to the answers.
    pub coalescing_adaptive: bool,
    /// Mean wait from the first answer to the reading of all answers, in ns.
    pub coalescing_wait_mean_ns: f64,
    /// Number of wakes with at least one answer.
    pub wake_count: u64,
    /// Mean number of answers at a wake.
    pub answers_per_wake: f64,
    /// True when `doudp` answers have the kernel's stamps: their times have no coalescing wait.
    pub kernel_receive_stamps: bool,
    /// Number of connections opened to replace an ended connection.
    pub reconnect_count: u64,
    /// Number of completed handshakes of TCP, TLS or QUIC.
    pub handshake_count: u64,
    /// Number of failed handshakes of TCP, TLS or QUIC.
    pub handshake_failure_count: u64,
    /// Time from the start of connecting to an open connection, TLS included; `null` without any
    /// connection.
    pub connect: Option<TimeDistribution>,
    /// Number of connections over TLS or QUIC, by their hellos.
    #[serde(default)]
    pub hellos: Vec<HelloCount>,
    /// CPU time of this process over the run, user and system, in ns.
    pub client_cpu_ns: u64,
    /// CPU time of this process for each answered query, in ns; `null` without answers.
    pub client_cpu_per_query_ns: Option<f64>,
}
