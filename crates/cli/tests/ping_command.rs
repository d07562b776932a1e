//! `resolab-core ping` against loopback, by each method.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;
use crate::support::PROGRAM;
use crate::support::edge::Edge;
use serde_json::{Value, json};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Instant;

/// Longer than any answer over loopback takes, however busy the machine.
const PATIENCE_MS: &str = "5000";

fn ping(arguments: &[&str]) -> Value {
    record_of(Command::new(PROGRAM), arguments)
}

fn record_of(mut command: Command, arguments: &[&str]) -> Value {
    let timeout = ["--timeout-ms", PATIENCE_MS];
    let timeout = if arguments.contains(&timeout[0]) {
        &[][..]
    } else {
        &timeout
    };
    command.args(["ping", "--pause-ms", "1"]).args(timeout);
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

fn is_answered(record: &Value, count: usize) -> bool {
    let round_trips = record["rtt_ns"].as_array().unwrap();
    round_trips.len() == count
        && round_trips
            .iter()
            .all(|rtt| rtt.as_u64().is_some_and(|rtt_ns| rtt_ns > 0))
        && record["failures"] == Value::Array(vec![Value::Null; count])
}

#[test]
fn echo_requests_are_answered_over_both_families() {
    for address in ["127.0.0.1", "::1"] {
        let record = ping(&[address, "--method", "icmp"]);
        if record["method"].is_null() {
            let why = &record["passed_over"][0]["reason"];
            support::skip(&format!("no echo requests to {address}: {why}"));
            continue;
        }
        assert_eq!(record["method"], "icmp");
        assert_eq!(
            (&record["address"], &record["port"]),
            (&json!(address), &Value::Null)
        );
        assert!(is_answered(&record, 5), "{record}");
    }
}

#[test]
fn a_resolver_is_reached_by_its_own_port() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let resolver = format!("tls://127.0.0.1:{port}");
    let record = ping(&["--resolver", &resolver, "--method", "tcp", "--count", "3"]);
    assert_eq!(record["method"], "tcp");
    assert_eq!(
        (&record["resolver"], &record["port"]),
        (&json!(resolver), &json!(port))
    );
    assert!(is_answered(&record, 3), "{record}");
    drop(listener);
    let refused = ping(&["--resolver", &resolver, "--method", "tcp", "--count", "3"]);
    assert_eq!(refused["method"], Value::Null);
    assert_eq!(refused["rtt_ns"], json!([null, null, null]));
    assert_eq!(
        refused["failures"],
        json!(["refused", "refused", "refused"])
    );
    assert_eq!(refused["passed_over"][0]["port"], json!(port));
}

#[test]
fn a_real_quic_server_answers_without_a_handshake() {
    let edge = Edge::on_loopback();
    let address = edge.tcp_url().replace("tcp://", "");
    for scheme in ["quic", "h3"] {
        let resolver = format!("{scheme}://{address}");
        let record = ping(&["--resolver", &resolver, "--method", "quic", "--count", "3"]);
        assert_eq!(record["method"], "quic", "{record}");
        assert!(is_answered(&record, 3), "{record}");
    }
}

#[test]
fn what_is_not_answered_is_null_and_given_up_soon() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let resolver = format!("quic://127.0.0.1:{}", silent.local_addr().unwrap().port());
    let started = Instant::now();
    let pace = ["--timeout-ms", "200", "--count", "100"];
    let record = ping(&[&["--resolver", &resolver, "--method", "quic"][..], &pace].concat());
    // A hundred times 0.2 s would be twenty.
    assert!(started.elapsed().as_secs() < 15);
    assert_eq!(record["method"], Value::Null);
    assert_eq!(record["rtt_ns"], json!(vec![Value::Null; 100]));
    assert_eq!(record["failures"], json!(vec!["timeout"; 100]));
    assert_eq!(
        record["passed_over"][0]["reason"],
        "2 sent, no answer in time"
    );
}

/// An ordinary user whom `net.ipv4.ping_group_range` leaves out gets the next method, and is told.
#[test]
fn without_the_right_to_echo_the_next_method_is_taken() {
    if !nix::unistd::geteuid().is_root() {
        support::skip("this test becomes another user and must run as root");
        return;
    }
    let program = std::env::temp_dir().join(format!("resolab-ping-{}", std::process::id()));
    support::copy_program(&program);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let resolver = format!("tcp://{}", listener.local_addr().unwrap());
    let mut command = Command::new(&program);
    command.uid(65_534).gid(65_534);
    let record = record_of(command, &["--resolver", &resolver]);
    std::fs::remove_file(program).unwrap();
    if record["method"] == "icmp" {
        support::skip("every user may send echo requests here");
        return;
    }
    assert_eq!(record["method"], "tcp");
    let passed_over = &record["passed_over"][0];
    assert_eq!(passed_over["method"], "icmp");
    let reason = passed_over["reason"].as_str().unwrap();
    assert!(reason.contains("sudo sysctl"), "{reason}");
}

#[test]
fn a_method_that_no_way_has_is_refused() {
    let mut command = Command::new(PROGRAM);
    command.args([
        "ping",
        "--resolver",
        "udp://127.0.0.1:9",
        "--method",
        "quic",
    ]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let line = String::from_utf8(output.stderr).unwrap();
    assert!(line.contains("--method"), "{line}");
}
