//! `resolab-core fetch` over an emulated path: in how many round trips a name and a page's first
//! byte are there together, by mode, handshake and whether the page is asked for beside the name.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;
use crate::support::Lab;
use crate::support::edge::Edge;
use serde_json::{Value, json};

/// As far apart as over LTE; half a round trip is long against what busy hosts under test take.
const FAR: &str = "one_way_delay_ms = 40";
const COUNT: usize = 3;

fn measured(records: &[Value]) -> Vec<&Value> {
    let measured = records
        .iter()
        .filter(|record| record["purpose"] == json!("measured"));
    let measured: Vec<_> = measured.collect();
    assert_eq!(measured.len(), COUNT);
    for record in &measured {
        assert_eq!(record["failure"], Value::Null, "{record}");
    }
    measured
}

/// Of the median, for the machine may stop now and then.
fn round_trips(records: &[&Value], key: &str) -> f64 {
    let mut counts: Vec<f64> = records
        .iter()
        .map(|record| record[key].as_f64().unwrap())
        .collect();
    counts.sort_by(f64::total_cmp);
    counts[counts.len() / 2]
}

/// Fetch; asks again if the machine was too busy to tell.
fn assert_round_trips(lab: &Lab, edge: &Edge, arguments: &[&str], whole: f64) -> Vec<Value> {
    let count = COUNT.to_string();
    let page = "https://page.resolab.test/1k.txt";
    let all = [arguments, &["--count", &count, page]].concat();
    let mut seen = Vec::new();
    for _ in 0..5 {
        let records = edge.fetch_over(lab, &all);
        let trips = round_trips(&measured(&records), "first_byte_round_trip_count");
        assert!(
            trips > whole - 0.1,
            "{arguments:?}: {trips} is below {whole}"
        );
        if trips < whole + 0.5 {
            return records;
        }
        seen.push(trips);
    }
    panic!("{arguments:?}: {seen:?} round trips, not about {whole}");
}

const BOTH: &str = "shared_connection = true\nprivate_alpn = true\n";
const NO_ORIGINS: &str = "private_alpn = true\norigin_frame = false\n";
const H3: &str = "h3://dns.resolab.test";
const QUIC: &str = "quic://dns.resolab.test";

#[test]
fn name_and_first_byte_take_as_many_round_trips_as_the_protocols_say() {
    let Some(lab) = Lab::open(FAR, FAR) else {
        return;
    };
    let edge = Edge::with_pages(&lab, "10.77.1.1", BOTH);
    for (mode, handshake, resolver, is_speculative, whole) in [
        ("separate", "full", QUIC, false, 4.0),
        ("separate", "full", H3, false, 4.0),
        ("separate", "resumed", QUIC, false, 4.0),
        ("separate", "zero_rtt", QUIC, false, 2.0),
        ("separate", "zero_rtt", H3, false, 2.0),
        ("shared_connection", "full", H3, false, 3.0),
        ("private_alpn", "full", H3, false, 3.0),
        ("shared_connection", "resumed", H3, false, 3.0),
        ("private_alpn", "resumed", H3, false, 3.0),
        ("shared_connection", "zero_rtt", H3, false, 2.0),
        ("private_alpn", "zero_rtt", H3, false, 2.0),
        ("shared_connection", "full", H3, true, 2.0),
        ("private_alpn", "full", H3, true, 2.0),
        ("shared_connection", "zero_rtt", H3, true, 1.0),
        ("private_alpn", "zero_rtt", H3, true, 1.0),
    ] {
        let mut arguments = vec!["--mode", mode, "--handshake", handshake];
        arguments.extend(["--resolver", resolver]);
        arguments.extend(is_speculative.then_some("--speculative"));
        let records = assert_round_trips(&lab, &edge, &arguments, whole);
        for record in measured(&records) {
            let opened = record["connections"].as_array().unwrap();
            let expected = if mode == "separate" { 2 } else { 1 };
            assert_eq!(opened.len(), expected, "{record}");
            for connection in opened {
                assert_eq!(connection["handshake_mode"], json!(handshake), "{record}");
            }
            let because = if mode == "separate" {
                Value::Null
            } else {
                json!("origin")
            };
            assert_eq!(record["shared_because"], because, "{record}");
            let speculation = if is_speculative {
                json!("used")
            } else {
                Value::Null
            };
            assert_eq!(record["speculation"], speculation, "{record}");
            let source = match (is_speculative, handshake) {
                (false, _) => Value::Null,
                (true, "zero_rtt") => json!("earlier"),
                (true, _) => json!("connection"),
            };
            assert_eq!(record["coverage_source"], source, "{record}");
            assert_eq!(record["page_bytes"], json!(1_000), "{record}");
        }
    }
}

#[test]
fn a_page_that_may_not_share_is_fetched_from_its_own_address() {
    let Some(lab) = Lab::open(FAR, FAR) else {
        return;
    };
    // Covered by the certificate, but neither at the address nor named as an origin.
    let edge = Edge::with_pages(&lab, "10.77.1.1", NO_ORIGINS);
    let arguments = ["--mode", "private_alpn", "--handshake", "zero_rtt"];
    let arguments = [&arguments[..], &["--speculative", "--resolver", H3]].concat();
    let records = assert_round_trips(&lab, &edge, &arguments, 2.0);
    for record in measured(&records) {
        assert_eq!(record["speculation"], json!("discarded"), "{record}");
        assert_eq!(record["shared_because"], Value::Null, "{record}");
        assert_eq!(record["connections"][1]["address"], "10.77.1.1:443");
    }
    // At the connection's address, it may.
    drop(edge);
    let edge = Edge::with_pages(&lab, "10.77.0.1", NO_ORIGINS);
    let records = assert_round_trips(&lab, &edge, &arguments, 1.0);
    for record in measured(&records) {
        assert_eq!(record["speculation"], json!("used"), "{record}");
        assert_eq!(record["shared_because"], json!("address"), "{record}");
    }
    // Certificate and address are right, but HTTP/3 alone is not told to share: 421, once.
    let arguments = [
        "--mode",
        "shared_connection",
        "--speculative",
        "--resolver",
        H3,
    ];
    let records = assert_round_trips(&lab, &edge, &arguments, 4.0);
    for (number, record) in measured(&records).into_iter().enumerate() {
        let speculation = if number == 0 { "discarded" } else { "not_sent" };
        assert_eq!(record["speculation"], json!(speculation), "{record}");
        assert_eq!(record["status"], json!(200), "{record}");
        assert_eq!(record["connections"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn what_left_in_rejected_early_data_is_sent_again() {
    let Some(lab) = Lab::open(FAR, FAR) else {
        return;
    };
    let mut edge = Edge::with_pages(&lab, "10.77.1.1", BOTH);
    edge.command(
        r#"{"command":"set_ticket_policy","id":1,"name":null,"policy":"reject_early_data"}"#,
    );
    for mode in ["shared_connection", "private_alpn"] {
        let arguments = ["--mode", mode, "--handshake", "zero_rtt"];
        let arguments = [&arguments[..], &["--speculative", "--resolver", H3]].concat();
        let records = assert_round_trips(&lab, &edge, &arguments, 2.0);
        for record in measured(&records) {
            let connection = &record["connections"][0];
            assert_eq!(connection["early_data_accepted"], json!(false), "{record}");
            assert_eq!(connection["handshake_mode"], json!("resumed"), "{record}");
            assert_eq!(record["speculation"], json!("used"), "{record}");
        }
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    for (arguments, code, says) in [
        (
            vec!["separate", "--resolver", "tls://dns.test"],
            127,
            "give h3:// or quic://",
        ),
        (
            vec!["separate", "--speculative", "--resolver", H3],
            127,
            "share a connection",
        ),
        (
            vec!["private_alpn", "--resolver", QUIC],
            127,
            "where DoH3 is",
        ),
        (
            vec!["shared_connection", "--resolver", QUIC],
            127,
            "give h3://",
        ),
    ] {
        let output = std::process::Command::new(support::PROGRAM)
            .args(["fetch", "--resolve", "dns.resolab.test=127.0.0.1"])
            .args(["--resolve", "dns.test=127.0.0.1", "--mode"])
            .args(&arguments)
            .arg("https://page.resolab.test/")
            .output()
            .unwrap();
        let line = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {line}");
        assert!(line.contains(says), "{line}");
    }
}

/// From the page's first byte to its last, of the median fetch, in round trips.
fn transfer_round_trips(lab: &Lab, coalescing: &str, address: &str) -> f64 {
    let edge = Edge::with_pages(lab, address, coalescing);
    let count = COUNT.to_string();
    let page = "https://page.resolab.test/20k.txt";
    let arguments = [
        "--mode",
        "separate",
        "--resolver",
        H3,
        "--count",
        &count,
        page,
    ];
    let records = edge.fetch_over(lab, &arguments);
    let mut trips: Vec<f64> = measured(&records)
        .iter()
        .map(|connection| {
            connection["page_complete_ns"].as_f64().unwrap()
                - connection["page_first_byte_ns"].as_f64().unwrap()
        })
        .map(|ns| ns / 80e6)
        .collect();
    trips.sort_by(f64::total_cmp);
    trips[trips.len() / 2]
}

#[test]
fn a_page_beyond_the_servers_initial_window_waits_for_acknowledgements() {
    let Some(lab) = Lab::open(FAR, FAR) else {
        return;
    };
    let usual = transfer_round_trips(&lab, "", "10.77.1.3");
    assert!(usual > 0.95, "20 kB fitted into 12: {usual}");
    let wide = "[limits]\nquic_initial_window_bytes = 48000\n";
    let wide = transfer_round_trips(&lab, wide, "10.77.1.4");
    assert!(wide < 0.75, "20 kB waited, of 48 that may be sent: {wide}");
}
