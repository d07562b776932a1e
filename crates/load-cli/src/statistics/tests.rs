//! Tests of the text.

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
        p99_99_ns: None,
        max_ns: of(5e6),
    }
}

/// 1,000 queries in 2 s, of which 10 lost, 3 failed, 2 interrupted, 1 SERVFAIL.
fn example() -> LoadRecord {
    LoadRecord {
        dns_transport: DnsTransport::Dot,
        resolver: "tls://dns.example".to_owned(),
        resolver_address: "192.0.2.1:853".parse().unwrap(),
        certificate_checked: None,
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
        hellos: Vec::new(),
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
        "  Pace:                 open loop, constant rate; 10 connections, 1 thread",
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
        certificate_checked: Some(false),
        failure: Some(Failure::TcpConnectRefused),
        ..example()
    };
    let text = text(&record, false);
    assert!(text.contains("nothing about a network") && text.contains("not checked"));
    let gave_up = "gave up: no connection took a query for 5 s (tcp_connect_refused)";
    assert!(text.contains(gave_up), "{text}");
}

#[test]
fn without_an_answer_there_are_no_times() {
    let nothing = TimeDistribution {
        sample_count: 0,
        ..times(0.0)
    };
    let record = LoadRecord {
        completed_count: 0,
        query_response_time: nothing,
        client_cpu_per_query_ns: None,
        ..example()
    };
    let text = text(&record, false);
    for line in [
        "  Average Latency (s):  - (no answer)".to_owned(),
        "  Client CPU:           - us per answer (0.002 s)".to_owned(),
        format!(
            "  wanted to answered    {}",
            format!(" {:>9}", "-").repeat(6)
        ),
    ] {
        assert!(text.contains(&format!("{line}\n")), "{line}\n{text}");
    }
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
