//! Results as text: dnsperf's statistics block, line for line, so that what reads that reads this,
//! then what it has not. Not for: records.

use resolab_record::{Failure, LoadPace, LoadProgressRecord, LoadRecord, TimeDistribution};
use std::fmt::{self, Write};

const BAR_WIDTH: f64 = 50.0;

/// What happened in an interval.
pub fn progress_line(interval: &LoadProgressRecord) -> String {
    let end_s = interval.interval_end_ns as f64 / 1e9;
    let mean = interval.mean_query_response_time_ns;
    let mean = mean.map_or("-".to_owned(), |mean_ns| format!("{:.3} ms", mean_ns / 1e6));
    format!(
        "{end_s:.1} s: {:.0} answers/s, mean {mean}, {} lost, {} interrupted, {} failed",
        interval.completed_rate_per_s,
        interval.lost_count,
        interval.interrupted_count,
        interval.failed_count
    )
}

/// The whole text.
pub fn text(record: &LoadRecord, with_histogram: bool) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_all(&mut text, record, with_histogram);
    text
}

fn write_all(text: &mut String, record: &LoadRecord, with_histogram: bool) -> fmt::Result {
    write_statistics(text, record)?;
    write_connections(text, record)?;
    write_times(text, record)?;
    write_run(text, record)?;
    if with_histogram {
        write_histogram(text, record)?;
    }
    Ok(())
}

fn percent(of: u64, whole: u64) -> f64 {
    100.0 * of as f64 / whole.max(1) as f64
}

fn seconds(ns: f64) -> f64 {
    ns / 1e9
}

/// dnsperf's block.
fn write_statistics(text: &mut String, record: &LoadRecord) -> fmt::Result {
    let sent = record.sent_count;
    let mut count = |label: &str, count: u64| {
        let percent = percent(count, sent);
        writeln!(text, "  {label:<21} {count} ({percent:.2}%)")
    };
    count("Queries completed:", record.completed_count)?;
    count("Queries lost:", record.lost_count)?;
    if record.interrupted_count > 0 {
        count("Queries interrupted:", record.interrupted_count)?;
    }
    if record.failed_count > 0 {
        count("Queries failed:", record.failed_count)?;
    }
    text.insert_str(
        0,
        &format!("Statistics:\n\n  Queries sent:         {sent}\n"),
    );
    let completed = record.completed_count;
    let rcodes: Vec<String> = record
        .rcodes
        .iter()
        .map(|(name, count)| format!("{name} {count} ({:.2}%)", percent(*count, completed)))
        .collect();
    writeln!(text, "\n  Response codes:       {}", rcodes.join(", "))?;
    writeln!(
        text,
        "  Average packet size:  request {}, response {}",
        record.query_bytes / sent.max(1),
        record.response_bytes / completed.max(1)
    )?;
    let run_s = seconds(record.run_ns as f64);
    writeln!(text, "  Run time (s):         {run_s:.6}")?;
    let rate = record.completed_rate_per_s;
    writeln!(text, "  Queries per second:   {rate:.6}\n")?;
    write_latency(text, &record.query_response_time)?;
    writeln!(text)
}

/// dnsperf's two lines of a distribution.
fn write_latency(text: &mut String, times: &TimeDistribution) -> fmt::Result {
    writeln!(
        text,
        "  Average Latency (s):  {:.6} (min {:.6}, max {:.6})",
        seconds(times.mean_ns),
        seconds(times.min_ns as f64),
        seconds(times.max_ns as f64)
    )?;
    let stddev_s = seconds(times.stddev_ns);
    writeln!(text, "  Latency StdDev (s):   {stddev_s:.6}")
}

/// dnsperf's block of what has connections.
fn write_connections(text: &mut String, record: &LoadRecord) -> fmt::Result {
    let Some(connect) = &record.connect else {
        return Ok(());
    };
    let reconnections = record.reconnect_count;
    writeln!(
        text,
        "Connection Statistics:\n\n  Reconnections:        {reconnections}\n"
    )?;
    write_latency(text, connect)?;
    writeln!(text)
}

fn write_times(text: &mut String, record: &LoadRecord) -> fmt::Result {
    writeln!(
        text,
        "Percentiles (ms):            p50       p90       p95       p99     p99.9       max"
    )?;
    let mut row = |label: &str, times: &TimeDistribution| {
        write!(text, "  {label:<22}")?;
        for ns in [
            times.p50_ns,
            times.p90_ns,
            times.p95_ns,
            times.p99_ns,
            times.p99_9_ns,
            times.max_ns,
        ] {
            write!(text, " {:>9.3}", ns as f64 / 1e6)?;
        }
        writeln!(text)
    };
    row("wanted to answered", &record.query_response_time)?;
    if let Some(exchange) = &record.query_exchange {
        row("sent to answered", exchange)?;
    }
    if let Some(lateness) = &record.send_lateness {
        row("send lateness", lateness)?;
    }
    writeln!(text)
}

fn write_run(text: &mut String, record: &LoadRecord) -> fmt::Result {
    let pace = match record.pace {
        LoadPace::Closed => format!(
            "closed loop, {} outstanding",
            record.outstanding_limit_count
        ),
        LoadPace::Constant => "open loop, constant rate".to_owned(),
        LoadPace::Poisson => format!("open loop, Poisson, seed {}", record.seed),
    };
    let (connections, threads) = (record.connection_count, record.thread_count);
    writeln!(
        text,
        "Run:\n\n  Pace:                 {pace}; {connections} connections, {threads} threads"
    )?;
    if let (Some(asked), Some(error)) = (record.asked_rate_per_s, record.rate_error_ratio) {
        let (sent, error) = (record.sent_rate_per_s, error * 100.0);
        writeln!(
            text,
            "  Sent per second:      {sent:.3} (asked {asked}, error {error:+.4}%)"
        )?;
    }
    let cpu = record.client_cpu_per_query_ns.map_or(0.0, |ns| ns / 1e3);
    let cpu_s = seconds(record.client_cpu_ns as f64);
    writeln!(
        text,
        "  Client CPU:           {cpu:.3} us per answer ({cpu_s:.3} s)"
    )?;
    let wait = if record.coalescing_adaptive {
        "adaptive"
    } else {
        "fixed"
    };
    let (mean_us, limit_us) = (
        record.coalescing_wait_mean_ns / 1e3,
        record.coalescing_wait_limit_ns as f64 / 1e3,
    );
    let per_wake = record.answers_per_wake;
    writeln!(
        text,
        "  Coalescing wait:      mean {mean_us:.1} us ({wait}, limit {limit_us} us); {per_wake:.1} answers per wake"
    )?;
    write_apart(text, record)?;
    write_flags(text, record)
}

/// What is not among the queries' ends, and why some of those were bad.
fn write_apart(text: &mut String, record: &LoadRecord) -> fmt::Result {
    let (late, duplicates, aliens) = (
        record.late_count,
        record.duplicate_count,
        record.alien_count,
    );
    writeln!(
        text,
        "  Not counted above:    {late} late, {duplicates} duplicate, {aliens} alien answers"
    )?;
    if record.refused_count > 0 {
        let count = record.refused_count;
        writeln!(text, "  Refused, asked again: {count}")?;
    }
    if record.truncated_count > 0 {
        writeln!(text, "  Truncated:            {}", record.truncated_count)?;
    }
    for (failure, count) in &record.failures {
        let name = name_of(*failure);
        writeln!(text, "  Failure:              {name} {count}")?;
    }
    Ok(())
}

/// As records spell it.
pub fn name_of(failure: Failure) -> String {
    let name = serde_json::to_value(failure).unwrap_or_default();
    name.as_str().unwrap_or("other").to_owned()
}

/// What makes a result another one than it looks.
fn write_flags(text: &mut String, record: &LoadRecord) -> fmt::Result {
    let flags = [
        (
            record.segmentation_offload,
            "UDP segmentation offload: on loopback this says nothing about a network",
        ),
        (
            record.spinning,
            "spinning: the CPU figure is of a core that never slept",
        ),
        (!record.certificate_checked, "certificates were not checked"),
        (record.stopped_early, "stopped before its end"),
    ];
    for (_, flag) in flags.into_iter().filter(|(is_set, _)| *is_set) {
        writeln!(text, "  Note:                 {flag}")?;
    }
    if let Some(failure) = record.failure {
        let (name, seconds) = (name_of(failure), seconds(record.timeout_ns as f64));
        writeln!(
            text,
            "  Note:                 gave up: no connection took a query for {seconds} s ({name})"
        )?;
    }
    Ok(())
}

fn write_histogram(text: &mut String, record: &LoadRecord) -> fmt::Result {
    writeln!(text, "\nHistogram (up to ms, answers):\n")?;
    let most = record.histogram_count.iter().max().copied().unwrap_or(1);
    for (upper_ns, count) in record
        .histogram_upper_ns
        .iter()
        .zip(&record.histogram_count)
    {
        let width = (BAR_WIDTH * *count as f64 / most as f64).ceil() as usize;
        let upper_ms = *upper_ns as f64 / 1e6;
        writeln!(text, "  {upper_ms:>12.4} {count:>10} {}", "#".repeat(width))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use resolab_record::DnsTransport;

    fn times(scale: f64) -> TimeDistribution {
        let of = |ns: f64| (ns * scale) as u64;
        TimeDistribution {
            sample_count: 985,
            min_ns: of(1e5),
            mean_ns: 6e5 * scale,
            stddev_ns: 2e5 * scale,
            p50_ns: of(5e5),
            p90_ns: of(1e6),
            p95_ns: of(2e6),
            p99_ns: of(3e6),
            p99_9_ns: of(4e6),
            max_ns: of(5e6),
        }
    }

    /// 1,000 queries in 2 s, of which 10 lost, 3 failed, 2 interrupted, 1 SERVFAIL.
    fn example() -> LoadRecord {
        LoadRecord {
            dns_transport: DnsTransport::Dot,
            resolver: "tls://dns.example".to_owned(),
            resolver_address: "192.0.2.1:853".parse().unwrap(),
            certificate_checked: true,
            pace: LoadPace::Constant,
            seed: 1,
            thread_count: 1,
            connection_count: 10,
            outstanding_limit_count: 100,
            timeout_ns: 5_000_000_000,
            http_method: None,
            segmentation_offload: false,
            spinning: false,
            run_ns: 2_000_000_000,
            stopped_early: false,
            failure: None,
            asked_rate_per_s: Some(500.0),
            sent_rate_per_s: 501.0,
            rate_error_ratio: Some(0.002),
            completed_rate_per_s: 492.5,
            sent_count: 1000,
            completed_count: 985,
            lost_count: 10,
            interrupted_count: 2,
            failed_count: 3,
            failures: [(Failure::QueryConnectionClosed, 5)].into(),
            rcodes: [("NOERROR".to_owned(), 984), ("SERVFAIL".to_owned(), 1)].into(),
            truncated_count: 0,
            late_count: 4,
            refused_count: 0,
            duplicate_count: 0,
            alien_count: 0,
            query_bytes: 33_000,
            response_bytes: 48_265,
            query_response_time: times(1.0),
            query_exchange: Some(times(0.9)),
            send_lateness: Some(times(0.1)),
            histogram_upper_ns: vec![524_288, 1_048_576, 6_291_456],
            histogram_count: vec![500, 400, 85],
            coalescing_wait_limit_ns: 100_000,
            coalescing_adaptive: true,
            coalescing_wait_mean_ns: 62_500.0,
            wake_count: 200,
            answers_per_wake: 4.925,
            kernel_receive_stamps: false,
            reconnect_count: 1,
            handshake_count: 11,
            handshake_failure_count: 0,
            connect: Some(times(2.0)),
            client_cpu_ns: 2_000_000,
            client_cpu_per_query_ns: Some(2_030.5),
        }
    }

    #[test]
    fn has_dnsperfs_block_line_for_line() {
        let text = text(&example(), false);
        let expected = "Statistics:\n\
            \n  Queries sent:         1000\
            \n  Queries completed:    985 (98.50%)\
            \n  Queries lost:         10 (1.00%)\
            \n  Queries interrupted:  2 (0.20%)\
            \n  Queries failed:       3 (0.30%)\
            \n\
            \n  Response codes:       NOERROR 984 (99.90%), SERVFAIL 1 (0.10%)\
            \n  Average packet size:  request 33, response 49\
            \n  Run time (s):         2.000000\
            \n  Queries per second:   492.500000\
            \n\
            \n  Average Latency (s):  0.000600 (min 0.000100, max 0.005000)\
            \n  Latency StdDev (s):   0.000200\
            \n\
            \nConnection Statistics:\
            \n\
            \n  Reconnections:        1\
            \n\
            \n  Average Latency (s):  0.001200 (min 0.000200, max 0.010000)\
            \n  Latency StdDev (s):   0.000400\
            \n\
            \nPercentiles (ms):";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn says_what_dnsperf_does_not() {
        let text = text(&example(), true);
        for line in [
            "  wanted to answered         0.500     1.000     2.000     3.000     4.000     5.000",
            "  send lateness              0.050     0.100     0.200     0.300     0.400     0.500",
            "  Pace:                 open loop, constant rate; 10 connections, 1 threads",
            "  Sent per second:      501.000 (asked 500, error +0.2000%)",
            "  Client CPU:           2.030 us per answer (0.002 s)",
            "  Coalescing wait:      mean 62.5 us (adaptive, limit 100 us); 4.9 answers per wake",
            "  Not counted above:    4 late, 0 duplicate, 0 alien answers",
            "  Failure:              query_connection_closed 5",
        ] {
            assert!(text.contains(&format!("{line}\n")), "{line}\n{text}");
        }
        let bar = "#".repeat(50);
        assert!(text.contains(&format!("  {:>12} {:>10} {bar}\n", "0.5243", 500)));
        assert!(!text.contains("Note:"));
    }

    #[test]
    fn a_flagged_run_says_so() {
        let record = LoadRecord {
            segmentation_offload: true,
            certificate_checked: false,
            failure: Some(Failure::TcpConnectRefused),
            ..example()
        };
        let text = text(&record, false);
        assert!(text.contains("nothing about a network") && text.contains("not checked"));
        let gave_up = "gave up: no connection took a query for 5 s (tcp_connect_refused)";
        assert!(text.contains(gave_up), "{text}");
    }

    #[test]
    fn an_interval_is_one_line() {
        let line = progress_line(&LoadProgressRecord {
            interval_start_ns: 0,
            interval_end_ns: 1_000_000_000,
            sent_count: 10,
            completed_count: 8,
            lost_count: 2,
            interrupted_count: 0,
            failed_count: 0,
            completed_rate_per_s: 8.0,
            mean_query_response_time_ns: Some(250_000.0),
        });
        let expected = "1.0 s: 8 answers/s, mean 0.250 ms, 2 lost, 0 interrupted, 0 failed";
        assert_eq!(line, expected);
    }
}
