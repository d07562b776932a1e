//! Records of a load run (`resolab-core bench`): a line per interval and one at the end.
//! Not for single queries: a load run keeps counts and distributions only.

use crate::failure::Failure;
use crate::hello::HelloFacts;
use crate::terms::DnsTransport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// When queries are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadPace {
    /// Closed loop: a query is sent when another one has come to its end.
    Closed,
    /// Open loop: at equal distances, whatever the answers do.
    Constant,
    /// Open loop: at distances drawn from an exponential distribution.
    Poisson,
}

/// What a set of durations looks like; quantiles are exact to three digits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeDistribution {
    /// How many there are.
    pub sample_count: u64,
    /// Smallest.
    pub min_ns: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Standard deviation.
    pub stddev_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 90 % are not above.
    pub p90_ns: u64,
    /// 95 % are not above.
    pub p95_ns: u64,
    /// 99 % are not above.
    pub p99_ns: u64,
    /// 99.9 % are not above.
    pub p99_9_ns: u64,
    /// 99.99 % are not above; `null` in records of before format 1.15.
    #[serde(default)]
    pub p99_99_ns: Option<u64>,
    /// Largest.
    pub max_ns: u64,
}

/// What a load run did in one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadProgressRecord {
    /// Interval's start, since the first query could be sent.
    pub interval_start_ns: u64,
    /// Interval's end.
    pub interval_end_ns: u64,
    /// Queries sent.
    pub sent_count: u64,
    /// Queries answered in time.
    pub completed_count: u64,
    /// Queries without an answer in time.
    pub lost_count: u64,
    /// Queries cut off, their connection having ended or the run having been stopped.
    pub interrupted_count: u64,
    /// Queries that failed otherwise.
    pub failed_count: u64,
    /// Answers a second.
    pub completed_rate_per_s: f64,
    /// Mean of what the answered ones took, from when they were wanted; `null` without any.
    pub mean_query_response_time_ns: Option<f64>,
}

/// Connections whose hellos were alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelloCount {
    /// How many.
    pub connection_count: u64,
    /// Their hellos; datagrams are not counted.
    #[serde(flatten)]
    pub hello_facts: HelloFacts,
}

/// What a load run asked for, did and found. Each query sent has come to one end:
/// `sent_count` is the sum of completed, lost, interrupted and failed.
#[allow(clippy::struct_excessive_bools)] // Each is a fact of its own, true of a run or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadRecord {
    /// Transport used.
    pub dns_transport: DnsTransport,
    /// The resolver as given, a URL.
    pub resolver: String,
    /// Address and port asked.
    pub resolver_address: SocketAddr,
    /// `false`: the resolver's certificate was not checked in any way; `null` without TLS.
    pub certificate_checked: Option<bool>,
    /// When queries were sent.
    pub pace: LoadPace,
    /// Seed of a Poisson schedule.
    pub seed: u64,
    /// Threads that sent and received.
    pub thread_count: u32,
    /// Connections (sockets, for `doudp`) kept open.
    pub connection_count: u32,
    /// Queries without an answer there may be at any moment; with a schedule, the bound it held
    /// sending up at.
    pub outstanding_limit_count: u32,
    /// How long an answer was waited for.
    pub timeout_ns: u64,
    /// HTTP method of DoH, `GET` or `POST`.
    pub http_method: Option<String>,
    /// UDP segmentation offload carried the queries: on a path without segmentation (loopback) the
    /// result says nothing about a network.
    pub segmentation_offload: bool,
    /// Waited for the next send by spinning.
    pub spinning: bool,
    /// From when the first query could be sent to the last one's end; connecting is before it.
    pub run_ns: u64,
    /// The run ended before its time: it was stopped, or gave up (`failure`).
    pub stopped_early: bool,
    /// Why the run gave up: for `timeout_ns` no query waited for an answer and none could be sent.
    /// What the last attempt to connect came to, or `query_timeout` if connections were open.
    /// `null`: it did not.
    #[serde(default)]
    pub failure: Option<Failure>,
    /// Rate asked for, per second; `null` in a closed loop.
    pub asked_rate_per_s: Option<f64>,
    /// Rate of sending, per second, from the first query to the last.
    pub sent_rate_per_s: f64,
    /// `sent_rate_per_s` over `asked_rate_per_s`, minus 1. A Poisson schedule has a sampling error
    /// of about one over the square root of the number of queries. `null` in a closed loop, and of
    /// fewer than two queries.
    pub rate_error_ratio: Option<f64>,
    /// Answers per second of the run.
    pub completed_rate_per_s: f64,
    /// Queries sent.
    pub sent_count: u64,
    /// Queries answered in time.
    pub completed_count: u64,
    /// Queries without an answer in time.
    pub lost_count: u64,
    /// Queries cut off, their connection having ended or the run having been stopped.
    pub interrupted_count: u64,
    /// Queries that failed otherwise.
    pub failed_count: u64,
    /// Why queries were cut off or failed; names as in query records.
    pub failures: BTreeMap<Failure, u64>,
    /// Response codes of the answers, as text.
    pub rcodes: BTreeMap<String, u64>,
    /// Truncated answers; not asked for again.
    pub truncated_count: u64,
    /// Answers to queries given up before; not among those completed.
    pub late_count: u64,
    /// Times the server left a query unprocessed and said so (HTTP/2 REFUSED_STREAM and the like);
    /// it was then asked again.
    #[serde(default)]
    pub refused_count: u64,
    /// Second answers to the same query.
    pub duplicate_count: u64,
    /// What came and answers no query of ours: id, question or QR bit wrong, or no DNS.
    pub alien_count: u64,
    /// DNS messages sent, without framing.
    pub query_bytes: u64,
    /// DNS messages of completed queries, without framing.
    pub response_bytes: u64,
    /// From when a query was wanted to its answer. In a closed loop it is wanted when it is sent,
    /// in an open one when the schedule says, so that a slow answer cannot hold back the load it is
    /// measured under (no coordinated omission).
    pub query_response_time: TimeDistribution,
    /// From when a query was sent to its answer; `null` in a closed loop, where it is the same.
    pub query_exchange: Option<TimeDistribution>,
    /// How long after the schedule's time queries were sent; `null` in a closed loop.
    pub send_lateness: Option<TimeDistribution>,
    /// Upper bounds of the histogram of `query_response_time`; those of nothing are left out.
    pub histogram_upper_ns: Vec<u64>,
    /// How many there are up to each bound and above the one before.
    pub histogram_count: Vec<u64>,
    /// Wait after the first answer before all there are were taken: as asked for, or the most the
    /// adaptive rule was allowed.
    pub coalescing_wait_limit_ns: u64,
    /// Whether the wait followed the answers.
    pub coalescing_adaptive: bool,
    /// Mean wait.
    pub coalescing_wait_mean_ns: f64,
    /// Times answers were looked for and found.
    pub wake_count: u64,
    /// Answers per such time.
    pub answers_per_wake: f64,
    /// Whether `doudp` answers have the kernel's stamps: their times have no coalescing wait in
    /// them.
    pub kernel_receive_stamps: bool,
    /// Connections opened anew because the one before had ended.
    pub reconnect_count: u64,
    /// Handshakes that came to an end, of TCP, TLS or QUIC.
    pub handshake_count: u64,
    /// Those that failed.
    pub handshake_failure_count: u64,
    /// From the start of connecting to an open connection, TLS included; `null` without any.
    pub connect: Option<TimeDistribution>,
    /// Of those over TLS or QUIC: how many had which hellos.
    #[serde(default)]
    pub hellos: Vec<HelloCount>,
    /// CPU time of this process over the run, user and system.
    pub client_cpu_ns: u64,
    /// The same per answered query; `null` without any.
    pub client_cpu_per_query_ns: Option<f64>,
}
