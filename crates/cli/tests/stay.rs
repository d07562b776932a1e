//! Programs whose standard input is closed from the start, as under cron and systemd: they end at
//! once with a word, or with `--serve` stay until a signal. And what a stub refuses.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support::PROGRAM;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

const STUB: [&str; 5] = [
    "stub",
    "--listen",
    "127.0.0.1:0",
    "--upstream",
    "udp://127.0.0.1:9",
];

fn start(more: &[&str]) -> Child {
    Command::new(PROGRAM)
        .args(STUB)
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn words(child: &mut Child) -> String {
    let mut words = String::new();
    let stderr = child.stderr.as_mut().unwrap();
    stderr.read_to_string(&mut words).unwrap();
    words
}

#[test]
fn a_closed_standard_input_ends_it_and_it_says_so() {
    let mut stub = start(&[]);
    assert!(stub.wait().unwrap().success());
    let words = words(&mut stub);
    assert!(words.contains("--serve"), "{words}");
    assert_eq!(words.lines().count(), 1, "{words}");
}

#[test]
fn with_serve_it_stays_until_a_signal() {
    let mut stub = start(&["--serve"]);
    let mut lines = BufReader::new(stub.stdout.take().unwrap()).lines();
    assert!(
        lines
            .by_ref()
            .any(|line| line.unwrap().contains("stub_ready"))
    );
    // Long enough for the end of standard input to have been seen.
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(stub.try_wait().unwrap().is_none());
    let id = i32::try_from(stub.id()).unwrap();
    kill(Pid::from_raw(id), Signal::SIGTERM).unwrap();
    assert!(stub.wait().unwrap().success());
    assert_eq!(words(&mut stub), "");
}

#[test]
fn connections_of_one_query_are_not_kept() {
    for kept in [
        ["--idle-timeout-ms", "5"],
        ["--max-queries-per-connection", "5"],
    ] {
        let mut stub = start(&["--connection", "cold", kept[0], kept[1]]);
        assert_eq!(stub.wait().unwrap().code(), Some(2));
        assert!(words(&mut stub).contains(kept[0]));
    }
}
