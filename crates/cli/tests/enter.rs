//! Programs inside a path's hosts, end to end.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;
use crate::support::Lab;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

const PLAIN: &str = "one_way_delay_ms = 1";

fn run(lab: &Lab, host: &str, options: &[&str], script: &str) -> Output {
    let mut command = lab.enter(host);
    command
        .args(options)
        .args(["--", "sh", "-c", script])
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn the_program_sees_its_own_resolver_and_hosts() {
    let Some(lab) = Lab::open(PLAIN, PLAIN) else {
        return;
    };
    let resolver = "cat /etc/resolv.conf";
    assert_eq!(
        text(&run(&lab, "client", &[], resolver)),
        "nameserver 10.77.0.1\n"
    );
    let options = ["--nameserver", "127.0.0.1"];
    assert_eq!(
        text(&run(&lab, "client", &options, resolver)),
        "nameserver 127.0.0.1\n"
    );
    assert!(text(&run(&lab, "client", &[], "cat /etc/hosts")).starts_with("127.0.0.1 localhost"));
    let file = std::env::temp_dir().join(format!("resolab-hosts-{}", std::process::id()));
    std::fs::write(&file, "10.77.1.1 example.resolab.test\n").unwrap();
    let options = ["--hosts", file.to_str().unwrap()];
    let hosts = text(&run(&lab, "client", &options, "cat /etc/hosts"));
    assert_eq!(hosts, "10.77.1.1 example.resolab.test\n");
    std::fs::remove_file(file).unwrap();
    let output = run(&lab, "client", &["--hosts", "/nowhere"], "true");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn the_machine_itself_is_left_alone() {
    let Some(lab) = Lab::open(PLAIN, PLAIN) else {
        return;
    };
    let mounts = || std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let (before, resolver) = (mounts(), std::fs::read("/etc/resolv.conf").unwrap());
    let seen = text(&run(
        &lab,
        "client",
        &[],
        "echo x > /etc/resolv.conf; cat /etc/resolv.conf",
    ));
    assert_eq!(seen, "x\n");
    assert_eq!(
        (mounts(), std::fs::read("/etc/resolv.conf").unwrap()),
        (before, resolver)
    );
}

#[test]
fn hosts_have_their_addresses() {
    let Some(lab) = Lab::open(PLAIN, PLAIN) else {
        return;
    };
    let addresses = "cat /proc/net/fib_trie | grep -c -w 10.77.0.2";
    let on_client = text(&run(&lab, "client", &[], addresses));
    assert_ne!(on_client.trim(), "0");
    let devices = text(&run(&lab, "server", &[], "cat /proc/net/dev"));
    assert!(
        devices.contains("access0") && devices.contains("lo:"),
        "{devices}"
    );
}

#[test]
fn the_exit_code_is_the_programs() {
    let Some(lab) = Lab::open(PLAIN, PLAIN) else {
        return;
    };
    assert_eq!(run(&lab, "client", &[], "exit 7").status.code(), Some(7));
    assert_eq!(
        run(&lab, "server", &[], "kill -9 $$").status.code(),
        Some(137)
    );
    let output = lab
        .enter("client")
        .args(["--", "/no/such/program"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/no/such/program"));
}

#[test]
fn streams_and_identity_pass_through() {
    let Some(lab) = Lab::open(PLAIN, PLAIN) else {
        return;
    };
    let mut command = lab.enter("client");
    command.args(["--", "sh", "-c", "cat; echo $WORD >&2; id -u"]);
    command
        .env("WORD", "spoken")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut guest = command.stderr(Stdio::piped()).spawn().unwrap();
    guest.stdin.take().unwrap().write_all(b"typed\n").unwrap();
    let output = guest.wait_with_output().unwrap();
    let own_id = Command::new("id").arg("-u").output().unwrap().stdout;
    assert_eq!(
        text(&output),
        format!("typed\n{}", String::from_utf8(own_id).unwrap())
    );
    assert_eq!(output.stderr, b"spoken\n");
}

#[test]
fn signals_reach_the_program() {
    let Some(lab) = Lab::open(PLAIN, PLAIN) else {
        return;
    };
    let script = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    let mut command = lab.enter("client");
    let mut guest = command
        .args(["--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(guest.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let status = Command::new("kill")
        .arg(guest.id().to_string())
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(guest.wait().unwrap().code(), Some(9));
}

#[test]
fn a_process_that_is_no_path_is_refused() {
    // Process 1 may be the parent of hosts: of a path whose parent was killed.
    let mut other = Command::new("sleep").arg("60").spawn().unwrap();
    let output = Command::new(support::PROGRAM)
        .args(["enter", "--path", &other.id().to_string()])
        .args(["--host", "client", "--", "true"])
        .output()
        .unwrap();
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("no path has this process id"), "{message}");
    assert_eq!(message.lines().count(), 1);
}

#[test]
fn six_programs_can_enter_at_once() {
    let Some(lab) = Lab::open(PLAIN, PLAIN) else {
        return;
    };
    let started = Instant::now();
    let guests: Vec<_> = (0..6)
        .map(|index| {
            let host = if index % 2 == 0 { "client" } else { "server" };
            lab.enter(host)
                .args(["--", "sh", "-c", "exit 3"])
                .spawn()
                .unwrap()
        })
        .collect();
    for mut guest in guests {
        assert_eq!(guest.wait().unwrap().code(), Some(3));
    }
    // Generous: the machine may be busy. Alone, one takes a few milliseconds.
    assert!(started.elapsed().as_secs() < 3, "{:?}", started.elapsed());
}
