//! Makes the record of a load run from the plan and the tally. Not for: counting.

use crate::counting::{DurationHistogram, Tally};
use crate::gathering::{GatheringRule, gathering_limit};
use crate::plan::{ArrivalProcess, LoadPacing, LoadPlan};
use resolab_record::{DohMethod, LoadPace, LoadRecord, RCODE_NAMES, TimeDistribution};
use std::collections::BTreeMap;

/// The facts of a run missing from plan and tally.
#[derive(Debug, Clone, Copy)]
pub struct RunFacts {
    /// The time from the start of the clock to the last query's end.
    pub run_ns: u64,
    /// The CPU time of the process in between.
    pub client_cpu_ns: u64,
    /// True when the run was stopped early.
    pub stopped_early: bool,
}

/// Returns the record of a run.
pub fn record(plan: &LoadPlan, tally: &Tally, facts: &RunFacts) -> LoadRecord {
    let asked_rate_per_s = asked_rate(plan);
    let sent_rate_per_s = sent_rate(tally);
    let (histogram_upper_ns, histogram_count) = histogram(&tally.response_time);
    LoadRecord {
        dns_transport: plan.resolver.transport,
        resolver: plan.resolver.url.clone(),
        resolver_address: plan.resolver_address,
        certificate_checked: plan.certificate_checked,
        pace: pace(plan),
        seed: plan.seed,
        thread_count: plan.threads,
        connection_count: plan.connections,
        outstanding_limit_count: plan.outstanding,
        timeout_ns: plan.timeout.as_nanos() as u64,
        http_method: http_method(plan),
        segmentation_offload: plan.segmentation_offload,
        spinning: plan.spin,
        run_ns: facts.run_ns,
        stopped_early: facts.stopped_early || tally.given_up.is_some(),
        failure: tally.given_up,
        asked_rate_per_s,
        sent_rate_per_s,
        rate_error_ratio: asked_rate_per_s
            .filter(|_| tally.sent_count > 1)
            .map(|asked| sent_rate_per_s / asked - 1.0),
        completed_rate_per_s: ratio(tally.completed_count as f64 * 1e9, facts.run_ns as f64),
        sent_count: tally.sent_count,
        completed_count: tally.completed_count,
        lost_count: tally.lost_count,
        interrupted_count: tally.interrupted_count,
        failed_count: tally.failed_count,
        failures: tally.failures.clone(),
        rcodes: rcodes(tally),
        truncated_count: tally.truncated_count,
        late_count: tally.late_count,
        refused_count: tally.refused_count,
        duplicate_count: tally.duplicate_count,
        alien_count: tally.alien_count,
        query_bytes: tally.query_bytes,
        response_bytes: tally.response_bytes,
        query_response_time: distribution(&tally.response_time),
        query_exchange: tally.open.as_ref().map(|open| distribution(&open.exchange)),
        send_lateness: tally.open.as_ref().map(|open| distribution(&open.lateness)),
        histogram_upper_ns,
        histogram_count,
        coalescing_wait_limit_ns: coalescing_wait_limit_ns(plan),
        coalescing_adaptive: matches!(plan.gathering, GatheringRule::Adaptive),
        coalescing_wait_mean_ns: mean(tally.gathering_wait_sum_ns, tally.wake_count),
        wake_count: tally.wake_count,
        answers_per_wake: mean(tally.woken_answer_count, tally.wake_count),
        kernel_receive_stamps: tally.kernel_receive_stamps,
        reconnect_count: tally.reconnect_count,
        handshake_count: tally.connect.histogram().len(),
        handshake_failure_count: tally.handshake_failure_count,
        connect: connect(tally),
        hellos: tally.hellos.clone(),
        client_cpu_ns: facts.client_cpu_ns,
        client_cpu_per_query_ns: client_cpu_per_query_ns(tally, facts),
    }
}

fn coalescing_wait_limit_ns(plan: &LoadPlan) -> u64 {
    let limit = match plan.gathering {
        GatheringRule::Adaptive => gathering_limit(plan.resolver.transport),
        GatheringRule::Fixed(wait) => wait,
    };
    limit.as_nanos() as u64
}

fn connect(tally: &Tally) -> Option<TimeDistribution> {
    (!tally.connect.histogram().is_empty()).then(|| distribution(&tally.connect))
}

fn client_cpu_per_query_ns(tally: &Tally, facts: &RunFacts) -> Option<f64> {
    let per_query_ns = || mean(facts.client_cpu_ns, tally.completed_count);
    (tally.completed_count > 0).then(per_query_ns)
}

fn ratio(of: f64, to: f64) -> f64 {
    if to > 0.0 { of / to } else { 0.0 }
}

fn mean(sum: u64, count: u64) -> f64 {
    ratio(sum as f64, count as f64)
}

fn pace(plan: &LoadPlan) -> LoadPace {
    match plan.pace {
        LoadPacing::Closed => LoadPace::Closed,
        LoadPacing::Open { arrivals, .. } => match arrivals {
            ArrivalProcess::Constant => LoadPace::Constant,
            ArrivalProcess::Poisson => LoadPace::Poisson,
        },
    }
}

fn asked_rate(plan: &LoadPlan) -> Option<f64> {
    match plan.pace {
        LoadPacing::Closed => None,
        LoadPacing::Open { rate_per_s, .. } => Some(rate_per_s),
    }
}

fn http_method(plan: &LoadPlan) -> Option<String> {
    plan.resolver.transport.http_version()?;
    let name = match plan.doh_method {
        DohMethod::Get => "GET",
        DohMethod::Post => "POST",
    };
    Some(name.to_owned())
}

/// Returns the sending rate. The rate counts distances between queries, one fewer than queries.
fn sent_rate(tally: &Tally) -> f64 {
    match (tally.first_sent_ns, tally.last_sent_ns) {
        (Some(first), Some(last)) => {
            let distances = tally.sent_count.saturating_sub(1) as f64;
            ratio(distances * 1e9, (last - first) as f64)
        }
        _ => 0.0,
    }
}

fn rcodes(tally: &Tally) -> BTreeMap<String, u64> {
    let all = RCODE_NAMES.iter().zip(tally.rcodes);
    all.filter(|(_, count)| *count > 0)
        .map(|(name, count)| ((*name).to_owned(), count))
        .collect()
}

/// Returns the statistics of a set of durations.
pub fn distribution(times: &DurationHistogram) -> TimeDistribution {
    let histogram = times.histogram();
    if histogram.is_empty() {
        return TimeDistribution::default();
    }
    TimeDistribution {
        sample_count: histogram.len(),
        min_ns: histogram.min(),
        mean_ns: histogram.mean(),
        stddev_ns: histogram.stdev(),
        p50_ns: histogram.value_at_quantile(0.5),
        p90_ns: histogram.value_at_quantile(0.9),
        p95_ns: histogram.value_at_quantile(0.95),
        p99_ns: histogram.value_at_quantile(0.99),
        p99_9_ns: histogram.value_at_quantile(0.999),
        p99_99_ns: Some(histogram.value_at_quantile(0.9999)),
        max_ns: histogram.max(),
    }
}

/// Returns upper bounds and counts, four bounds per doubling: fine enough to draw, short enough to
/// keep.
fn histogram(times: &DurationHistogram) -> (Vec<u64>, Vec<u64>) {
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    for recorded in times.histogram().iter_recorded() {
        let upper_ns = bucket_upper_ns(recorded.value_iterated_to());
        *buckets.entry(upper_ns).or_default() += recorded.count_since_last_iteration();
    }
    buckets.into_iter().unzip()
}

/// Returns the upper bound of a value's bucket. Bounds are 4, 5, 6, 7 times powers of two.
fn bucket_upper_ns(value_ns: u64) -> u64 {
    let shift = value_ns.max(4).ilog2() - 2;
    value_ns.div_ceil(1 << shift) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_what_they_say() {
        for (value, upper) in [
            (1, 1),
            (4, 4),
            (7, 7),
            (8, 8),
            (9, 10),
            (15, 16),
            (1_000, 1_024),
            (1_025, 1_280),
        ] {
            assert_eq!(bucket_upper_ns(value), upper, "{value}");
        }
        let mut times = DurationHistogram::default();
        for value in [1_000, 1_010, 1_200, 5_000_000] {
            times.add(value);
        }
        let (upper, count) = histogram(&times);
        assert_eq!(count, [2, 1, 1]);
        assert_eq!(upper[..2], [1_024, 1_280]);
        assert!(upper[2] >= 5_000_000);
    }

    #[test]
    fn the_rate_is_that_of_the_distances() {
        let mut tally = Tally::new(true, u64::MAX);
        for position in 0..11 {
            let sent_ns = 5_000_000_000 + position * 1_000_000;
            tally.note_sent(sent_ns, sent_ns, 30);
        }
        assert!((sent_rate(&tally) - 1_000.0).abs() < 1e-6);
        assert!(sent_rate(&Tally::new(true, u64::MAX)).abs() < 1e-9);
    }

    #[test]
    fn an_empty_distribution_is_all_zero() {
        assert_eq!(
            distribution(&DurationHistogram::default()),
            TimeDistribution::default()
        );
    }
}
