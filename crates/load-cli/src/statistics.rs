//! Results as text: dnsperf's statistics block, line for line, for programs reading dnsperf's
//! output. Figures unknown to dnsperf follow. Not for: records.

use resolab_record::{Failure, LoadPace, LoadProgressRecord, LoadRecord, TimeDistribution};
use std::fmt::{self, Write};

const BAR_WIDTH: f64 = 50.0;

/// Returns the text line of an interval.
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

/// Returns the whole text.
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

fn count_text(count: u32, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn seconds(ns: f64) -> f64 {
    ns / 1e9
}

/// Writes dnsperf's statistics block.
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

/// Writes dnsperf's two lines of a distribution.
fn write_latency(text: &mut String, times: &TimeDistribution) -> fmt::Result {
    if times.sample_count == 0 {
        return writeln!(text, "  Average Latency (s):  - (no answer)");
    }
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

/// Writes dnsperf's block of connection statistics, for transports with connections.
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
            match times.sample_count {
                0 => write!(text, " {:>9}", "-")?,
                _ => write!(text, " {:>9.3}", ns as f64 / 1e6)?,
            }
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
    let connections = count_text(record.connection_count, "connection");
    let threads = count_text(record.thread_count, "thread");
    writeln!(
        text,
        "Run:\n\n  Pace:                 {pace}; {connections}, {threads}"
    )?;
    if let (Some(asked), Some(error)) = (record.asked_rate_per_s, record.rate_error_ratio) {
        let (sent, error) = (record.sent_rate_per_s, error * 100.0);
        writeln!(
            text,
            "  Sent per second:      {sent:.3} (asked {asked}, error {error:+.4}%)"
        )?;
    }
    let cpu = record.client_cpu_per_query_ns;
    let cpu = cpu.map_or("-".to_owned(), |ns| format!("{:.3}", ns / 1e3));
    let cpu_s = seconds(record.client_cpu_ns as f64);
    writeln!(
        text,
        "  Client CPU:           {cpu} us per answer ({cpu_s:.3} s)"
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

/// Writes the counts beside the ends of queries, and the reasons of failed queries.
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

/// Returns a failure's name, as in records.
pub fn name_of(failure: Failure) -> String {
    let name = serde_json::to_value(failure).unwrap_or_default();
    name.as_str().unwrap_or("other").to_owned()
}

/// Writes the notes limiting the meaning of a result.
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
        (
            record.certificate_checked == Some(false),
            "certificates were not checked",
        ),
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
mod tests;
