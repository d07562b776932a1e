//! `resolab-core query` over an emulated path: what a query took in round trips of its connection.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support::Lab;
use crate::support::edge::{Edge, URLS};
use serde_json::{Value, json};

/// As far apart as over LTE; long against what hosts under test take.
const FAR: &str = "one_way_delay_ms = 20";
const NAME: &str = "dns.resolab.test";

fn measured(records: &[Value]) -> Vec<&Value> {
    let measured = records
        .iter()
        .filter(|record| record["purpose"] == json!("measured"));
    let measured: Vec<_> = measured.collect();
    for record in &measured {
        assert_eq!(record["failure"], Value::Null, "{record}");
    }
    measured
}

/// Of the quickest, for the machine may stop now and then.
fn round_trips(records: &[&Value]) -> f64 {
    let counts = records
        .iter()
        .map(|record| record["round_trip_count"].as_f64().unwrap());
    counts.fold(f64::INFINITY, f64::min)
}

/// One round trip more would be another handshake; what is less is a busy machine.
fn assert_near(count: f64, whole: f64, what: &str) {
    assert!(
        (whole - 0.1..whole + 0.95).contains(&count),
        "{what}: {count} round trips, not about {whole}"
    );
}

#[test]
fn round_trips_tell_the_handshakes_apart() {
    let Some(lab) = Lab::open(FAR, FAR) else {
        return;
    };
    let edge = Edge::behind(&lab);
    for (url, full) in URLS.iter().zip([3.0, 3.0, 2.0, 2.0]) {
        let arguments = ["--resolver", url, "--count", "5", NAME];
        let records = edge.query_over(&lab, &arguments);
        let records = measured(&records);
        assert_near(round_trips(&records), full, url);
        assert_eq!(records[0]["answered_early"], Value::Null);
        let arguments = [&["--handshake", "zero_rtt"][..], &arguments].concat();
        let records = edge.query_over(&lab, &arguments);
        let records = measured(&records);
        assert_near(round_trips(&records), full - 1.0, url);
        let early = records
            .iter()
            .filter(|record| record["answered_early"] == json!(true));
        assert!(early.count() >= 3, "{url}: {records:?}");
        for record in &records {
            assert_eq!(record["early_data_accepted"], json!(true), "{record}");
            let min_rtt_ns = record["connection_min_rtt_ns"].as_u64().unwrap();
            assert!(min_rtt_ns >= 40_000_000, "{record}");
            assert_eq!(record["retransmitted_count"], json!(0), "{record}");
        }
    }
}

#[test]
fn fast_open_saves_a_round_trip_and_says_so() {
    let Some(lab) = Lab::open(FAR, FAR) else {
        return;
    };
    let edge = Edge::behind(&lab);
    let tcp = edge.tcp_url();
    let (small, large) = ("x25519", "x25519mlkem768,x25519");
    for (url, handshake, groups, round_trip_count) in [
        (tcp.as_str(), "full", small, 1.0),
        (URLS[0], "full", small, 2.0),
        (URLS[1], "full", small, 2.0),
        (URLS[0], "zero_rtt", small, 1.0),
        (URLS[1], "zero_rtt", small, 1.0),
        // A SYN has no room for a ClientHello with ML-KEM: its rest waits for the SYN's answer.
        (URLS[0], "full", large, 3.0),
        (URLS[1], "zero_rtt", large, 2.0),
    ] {
        let arguments = [
            "--tcp-fast-open",
            "--handshake",
            handshake,
            "--groups",
            groups,
        ];
        let more = ["--resolver", url, "--count", "4", NAME];
        let records = edge.query_over(&lab, &[&arguments[..], &more].concat());
        assert_eq!(records[0]["purpose"], json!("priming"), "{url}");
        let records = measured(&records);
        assert_eq!(records.len(), 4);
        for record in &records {
            assert_eq!(record["tcp_fast_open_accepted"], json!(true), "{record}");
        }
        assert_near(round_trips(&records), round_trip_count, url);
    }
    let records = edge.query_over(&lab, &["--resolver", &tcp, NAME]);
    assert_eq!(records[0]["tcp_fast_open_accepted"], Value::Null);
}

#[test]
fn outstanding_queries_share_a_connection_and_its_round_trips() {
    let Some(lab) = Lab::open(FAR, FAR) else {
        return;
    };
    let edge = Edge::behind(&lab);
    let tcp = edge.tcp_url();
    for url in [&[tcp.as_str()][..], &URLS].concat() {
        let arguments = ["--connection", "warm", "--outstanding", "4"];
        let more = ["--resolver", url, "--count", "12", NAME];
        let records = edge.query_over(&lab, &[&arguments[..], &more].concat());
        let mut records = measured(&records);
        records.sort_by_key(|record| record["sequence"].as_u64());
        let numbers = |key: &str| -> Vec<u64> {
            let numbers = records.iter().map(|record| record[key].as_u64().unwrap());
            numbers.collect()
        };
        // In the order they were wanted, on one connection, the first four at once.
        let indices = numbers("connection_query_index");
        assert_eq!(indices, (0..12).collect::<Vec<_>>(), "{url}");
        let outstanding = numbers("outstanding_count");
        assert_eq!(outstanding[..4], [0, 1, 2, 3], "{url}");
        assert!(outstanding.iter().all(|&count| count < 4), "{url}");
        let phases = records.iter().filter(|record| {
            !record["tcp_connect_start_ns"].is_null()
                || !record["quic_handshake_start_ns"].is_null()
        });
        assert_eq!(phases.count(), 1, "{url}");
        assert_near(round_trips(&records[4..]), 1.0, url);
        // Four at a time: the last query was wanted two round trips after the first answers.
        let wanted = numbers("time_origin_ns");
        assert!(
            wanted[11] - wanted[0] >= 3 * 40_000_000,
            "{url}: {wanted:?}"
        );
        let first_answer = wanted[0] + numbers("query_response_time_ns")[0];
        assert!(
            wanted[4] >= first_answer && wanted[3] < first_answer,
            "{url}"
        );
    }
}
