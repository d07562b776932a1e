//! The relay: a host for an ordinary user's browsers whose port 53 a stub outside answers.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;
use crate::support::forwarding::{ANSWER, RunningStub};
use crate::support::{PROGRAM, read_record};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use resolab_record::{Record, RelayReadyRecord};
use std::io::BufReader;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const NOBODY: u32 = 65_534;
/// In a mount namespace of its own, so that the machine's device stays as closed as it is.
const OPEN_TUN: &str = "mknod \"$1\" c 10 200 && chmod 666 \"$1\" && \
    mount --bind \"$1\" /dev/net/tun && shift && \
    exec setpriv --reuid=65534 --regid=65534 --clear-groups -- \"$@\"";

/// A relay of an ordinary user; it ends when dropped.
struct TestRelay {
    process: Child,
    ready: RelayReadyRecord,
    folder: PathBuf,
}

impl TestRelay {
    /// `None`, said loudly, where there can be none.
    fn open() -> Option<Self> {
        if !geteuid().is_root() {
            support::skip(
                "this test opens the TUN device to an ordinary user and must run as root",
            );
            return None;
        }
        let folder = std::env::temp_dir().join(format!("resolab-relay-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let program = folder.join("resolab-core");
        support::copy_program(&program);
        let mut command = Command::new("unshare");
        command
            .args(["-m", "sh", "-c", OPEN_TUN, "sh"])
            .arg(folder.join("tun"));
        command.arg(&program).arg("relay");
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut records = BufReader::new(process.stdout.take().unwrap());
        let _start = read_record(&mut records);
        let Some(Record::RelayReady(ready)) = read_record(&mut records) else {
            let output = process.wait_with_output().unwrap();
            std::fs::remove_dir_all(&folder).unwrap();
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            support::skip(&format!("no relay here: {why}"));
            return None;
        };
        Some(Self {
            process,
            ready,
            folder,
        })
    }

    fn program(&self) -> Command {
        let mut command = Command::new(self.folder.join("resolab-core"));
        command.uid(NOBODY).gid(NOBODY);
        command
    }

    fn sees(&self, program: &[&str]) -> String {
        let mut command = self.program();
        command.args(["enter", "--path", &self.ready.pid.to_string()]);
        command.args([
            "--host",
            &self.ready.host,
            "--nameserver",
            "127.0.0.1",
            "--",
        ]);
        let output = command.args(program).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn children(&self) -> Vec<i32> {
        let pid = self.ready.pid;
        let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        list.split_whitespace()
            .map(|pid| pid.parse().unwrap())
            .collect()
    }
}

impl Drop for TestRelay {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// One test, since relays take a second each.
#[test]
fn an_ordinary_user_has_a_stub_on_port_53_and_the_machines_network() {
    let Some(mut relay) = TestRelay::open() else {
        return;
    };
    let place = format!("{}/{}", relay.ready.pid, relay.ready.host);
    let more = ["--listen-in", &place];
    let stub = RunningStub::start(relay.program(), "127.0.0.1:53", &more).unwrap();
    let found = relay.sees(&["getent", "ahostsv4", "www.example.test"]);
    assert!(found.starts_with(ANSWER), "{found}");
    // The stub is outside: nothing listens on that port of the machine's own loopback.
    let outside = std::fs::read_link("/proc/self/ns/net").unwrap();
    let inside = relay.sees(&["readlink", "/proc/self/ns/net"]);
    assert_ne!(Path::new(inside.trim()), outside);
    drop(stub);
    taken_twice_is_said(&relay, &more);
    let children = relay.children();
    assert_eq!(children.len(), 2, "slirp4netns and what holds the host");
    kill(Pid::from_raw(relay.ready.pid as i32), Signal::SIGKILL).unwrap();
    relay.process.wait().unwrap();
    for child in children {
        assert!(support::has_gone(child), "{child} goes on");
    }
}

fn taken_twice_is_said(relay: &TestRelay, more: &[&str]) {
    let _first = RunningStub::start(relay.program(), "127.0.0.1:53", more).unwrap();
    let mut second = relay.program();
    second.args([
        "stub",
        "--listen",
        "127.0.0.1:53",
        "--upstream",
        "udp://127.0.0.1:9",
    ]);
    let output = second.args(more).stdin(Stdio::null()).output().unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{words}");
    assert!(
        words.contains("127.0.0.1:53") && words.contains("in use"),
        "{words}"
    );
}

#[test]
fn a_place_that_is_none_is_refused() {
    let stub = |place: &str| {
        let mut command = Command::new(PROGRAM);
        command.args([
            "stub",
            "--listen",
            "127.0.0.1:0",
            "--upstream",
            "127.0.0.1:9",
        ]);
        let output = command
            .args(["--listen-in", place])
            .stdin(Stdio::null())
            .output();
        let output = output.unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let mut other = Command::new("sleep").arg("60").spawn().unwrap();
    let (code, words) = stub(&format!("{}/relay", other.id()));
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(code, Some(4), "{words}");
    assert!(words.contains("no path"), "{words}");
    assert_eq!(stub("relay").0, Some(2));
}
