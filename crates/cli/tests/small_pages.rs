//! What times exchanges has small pages; what it starts for somebody has its memory as it comes.
#![allow(missing_docs, clippy::unwrap_used)]

use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_resolab-core");

/// `THP_enabled` of proc(5): whether the process may have huge pages. `None`: a kernel without them.
fn huge_pages_in(status: &str) -> Option<&str> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("THP_enabled:"))?;
    Some(line.trim())
}

#[test]
fn a_query_is_asked_from_a_process_without_huge_pages() {
    let resolver = UdpSocket::bind("127.0.0.1:0").unwrap();
    resolver
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let address = format!("udp://{}", resolver.local_addr().unwrap());
    let mut query = Command::new(PROGRAM)
        .args(["query", "--resolver", &address, "a.test"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let asked = resolver.recv_from(&mut [0; 512]);
    let status = std::fs::read_to_string(format!("/proc/{}/status", query.id())).unwrap();
    query.kill().unwrap();
    query.wait().unwrap();
    asked.unwrap();
    assert!(matches!(huge_pages_in(&status), Some("0") | None));
}

#[test]
fn a_program_of_others_may_have_them() {
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    let entered = Command::new(PROGRAM)
        .args(["enter", "--here", "--", "cat", "/proc/self/status"])
        .output()
        .unwrap();
    assert!(entered.status.success(), "{entered:?}");
    let entered = String::from_utf8(entered.stdout).unwrap();
    assert_eq!(huge_pages_in(&entered), huge_pages_in(&own));
}
