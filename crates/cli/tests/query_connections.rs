//! `resolab-core query` on loopback: which queries share a connection, how one ends, and the logs
//! of connections.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support::PROGRAM;
use crate::support::edge::{Edge, URLS};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;

const NAME: &str = "dns.resolab.test";

fn get<'a>(records: &'a [Value], key: &str) -> Vec<&'a Value> {
    records.iter().map(|record| &record[key]).collect()
}

#[test]
fn types_asked_together_share_time_and_connection() {
    let edge = Edge::on_loopback();
    let tcp = edge.tcp_url();
    for url in [&[tcp.as_str()][..], &URLS].concat() {
        let types = ["--type", "A,AAAA", "--type", "HTTPS", "--together"];
        let more = ["--resolver", url, "--count", "2", NAME];
        let records = edge.query(&[&types[..], &more].concat());
        assert_eq!(get(&records, "failure"), [&Value::Null; 6], "{url}");
        let qtypes = ["A", "AAAA", "HTTPS"].repeat(2);
        assert_eq!(get(&records, "qtype"), qtypes, "{url}");
        let groups = [0, 0, 0, 1, 1, 1];
        assert_eq!(get(&records, "group_sequence"), groups, "{url}");
        assert_eq!(get(&records, "sequence"), [0, 1, 2, 3, 4, 5], "{url}");
        for group in records.chunks(3) {
            assert!(
                get(group, "connection")
                    .iter()
                    .all(|state| **state == "cold")
            );
            let mut indices = get(group, "connection_query_index");
            indices.sort_by_key(|index| index.as_u64());
            assert_eq!(indices, [0, 1, 2], "{url}");
            let origin = &group[0]["time_origin_ns"];
            assert_eq!(get(group, "time_origin_ns"), [origin; 3], "{url}");
            let opened = group.iter().filter(|record| {
                record["tcp_connect_start_ns"].is_u64()
                    || record["quic_handshake_start_ns"].is_u64()
            });
            assert_eq!(opened.count(), 1, "{url}");
        }
        let records = edge.query(&["--type", "A,AAAA", "--resolver", url, NAME]);
        assert_eq!(get(&records, "group_sequence"), [&Value::Null; 2]);
        assert_eq!(get(&records, "connection_query_index"), [0, 0], "{url}");
    }
}

#[test]
fn an_idle_connection_is_closed_by_us() {
    let edge = Edge::on_loopback();
    for url in URLS {
        let arguments = ["--connection", "warm", "--idle-timeout-ms", "60"];
        let more = [
            "--interval-ms",
            "300",
            "--count",
            "2",
            "--resolver",
            url,
            NAME,
        ];
        let records = edge.query(&[&arguments[..], &more].concat());
        assert_eq!(get(&records, "connection"), ["cold", "cold"], "{url}");
        assert_eq!(
            get(&records, "previous_connection_end"),
            [&Value::Null, &json!("idle_timeout")],
            "{url}"
        );
    }
}

/// A resolver over TCP that answers `answered_count` queries of a connection, and closes it at once
/// or when it got one more.
fn closing_resolver(answered_count: usize, takes_one_more: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("tcp://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            for _ in 0..answered_count {
                let Some(mut message) = read_message(&mut stream) else {
                    break;
                };
                message[4] |= 0x80;
                stream.write_all(&message).unwrap();
            }
            if takes_one_more {
                read_message(&mut stream);
            }
        }
    });
    url
}

/// With its length in front.
fn read_message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut message = vec![0; 2];
    stream.read_exact(&mut message).ok()?;
    let length = usize::from(u16::from_be_bytes([message[0], message[1]]));
    message.resize(2 + length, 0);
    stream.read_exact(&mut message[2..]).ok()?;
    Some(message)
}

fn query(arguments: &[&str]) -> Vec<Value> {
    let output = Command::new(PROGRAM)
        .arg("query")
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let records = text.lines().skip(1);
    records
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_connection_the_resolver_closed_is_noticed_or_asked_for_again() {
    for (takes_one_more, attempt_count) in [(false, 1), (true, 2)] {
        let url = closing_resolver(1, takes_one_more);
        let warm = ["--connection", "warm", "--interval-ms", "100"];
        let more = ["--count", "3", "--resolver", &url, NAME];
        let records = query(&[&warm[..], &more].concat());
        assert_eq!(get(&records, "failure"), [&Value::Null; 3], "{records:?}");
        assert_eq!(
            get(&records, "attempt_count"),
            [1, attempt_count, attempt_count]
        );
        let closed = json!("peer_closed");
        assert_eq!(
            get(&records, "previous_connection_end"),
            [&Value::Null, &closed, &closed]
        );
        assert_eq!(get(&records, "connection"), ["cold"; 3]);
    }
}

#[test]
fn a_connection_is_not_kept_after_a_failure() {
    let url = closing_resolver(0, false);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_url = format!("tcp://{}", silent.local_addr().unwrap());
    let warm = ["--connection", "warm", "--timeout-ms", "150"];
    let more = [
        "--count",
        "2",
        "--resolver",
        &silent_url,
        "--resolver",
        &url,
    ];
    let records = query(&[&warm[..], &more, &[NAME]].concat());
    let failed = |url: &String| -> Vec<Value> {
        let records = records.iter().filter(|record| record["resolver"] == **url);
        records.cloned().collect()
    };
    let (timed_out, closed) = (failed(&silent_url), failed(&url));
    assert_eq!(get(&timed_out, "failure"), ["query_timeout"; 2]);
    // What failed took at least as long as it was given.
    assert_eq!(get(&timed_out, "limit_ns"), [150_000_000; 2]);
    assert_eq!(
        get(&timed_out, "previous_connection_end"),
        [&Value::Null, &json!("after_failure")]
    );
    assert_eq!(get(&closed, "failure"), ["query_connection_closed"; 2]);
}

#[test]
fn a_resolver_without_an_address_is_a_row_and_the_others_are_asked() {
    let url = closing_resolver(1, false);
    // RFC 6761 section 6.4: no resolver has addresses for names below invalid.
    for missing in ["tls://dns.invalid", "quic://dns.invalid"] {
        let records = query(&["--resolver", missing, "--resolver", &url, NAME]);
        let failures = get(&records, "failure");
        assert_eq!(failures, [&json!("bootstrap_failed"), &Value::Null]);
        assert_eq!(records[0]["resolver"], missing);
        assert_eq!(records[0]["resolver_address"], Value::Null);
        let detail = records[0]["failure_detail"].as_str().unwrap();
        assert!(detail.contains("--resolve dns.invalid=ADDRESS"), "{detail}");
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    for (arguments, says) in [
        (&["--outstanding", "2"][..], "give --connection warm"),
        (&["--idle-timeout-ms", "5"], "give --connection warm"),
        (
            &["--outstanding", "2", "--together", "--connection", "warm"],
            "give one of them",
        ),
        (&["--type", "A,NOTYPE"], "NOTYPE"),
    ] {
        let output = Command::new(PROGRAM)
            .args(["query", "--resolver", "tcp://127.0.0.1:9", NAME])
            .args(arguments)
            .output()
            .unwrap();
        let line = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), line.lines().count()), (Some(2), 1));
        assert!(line.contains(says), "{line}");
    }
}

#[cfg(feature = "qlog")]
#[test]
fn secrets_and_qlogs_are_written_where_the_environment_says() {
    let edge = Edge::on_loopback();
    let (keys, qlogs) = (edge.folder.join("keys"), edge.folder.join("qlogs/here"));
    let mut command = Command::new(PROGRAM);
    command.env("SSLKEYLOGFILE", &keys).env("QLOGDIR", &qlogs);
    let resolvers = URLS.iter().flat_map(|url| ["--resolver", url]);
    let arguments: Vec<_> = resolvers.chain(["--count", "2", NAME]).collect();
    assert_eq!(edge.query_by(command, &arguments).len(), 8);
    let keys = std::fs::read_to_string(keys).unwrap();
    let mut counts = HashMap::new();
    for line in keys.lines() {
        let (label, _) = line.split_once(' ').unwrap();
        *counts.entry(label).or_insert(0) += 1;
    }
    assert_eq!(counts["CLIENT_TRAFFIC_SECRET_0"], 8, "{keys}");
    let mut count = 0;
    for file in std::fs::read_dir(qlogs).unwrap() {
        let file = file.unwrap();
        check_qlog(&file.file_name().into_string().unwrap(), &file.path());
        count += 1;
    }
    assert_eq!(count, 4, "one for each QUIC connection");
}

/// JSON text sequences (RFC 7464): each text behind a record separator.
#[cfg(feature = "qlog")]
fn check_qlog(name: &str, path: &std::path::Path) {
    let (_, connection_id) = name
        .strip_suffix(".sqlog")
        .and_then(|name| name.split_once('-'))
        .unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let texts: Vec<Value> = text
        .split('\u{1e}')
        .skip(1)
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    assert_eq!(texts[0]["qlog_format"], json!("JSON-SEQ"), "{name}");
    let events = &texts[1..];
    let sent = events
        .iter()
        .filter(|event| event["name"].as_str().unwrap().ends_with("packet_sent"));
    assert!(sent.count() >= 3, "{name}: {text}");
    // Later ones have the server's.
    assert_eq!(events[0]["group_id"], json!(connection_id), "{name}");
}
