//! `resolab-core gateway` as a process: its stream, its commands, its ends, its exit codes.
#![allow(missing_docs, clippy::unwrap_used)]

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

static GATEWAYS: AtomicU8 = AtomicU8::new(1);

/// A running gateway, whose resolver is not there.
struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
    dns: String,
    folder: PathBuf,
}

fn command(number: u8, more: &[&str]) -> (Command, String, PathBuf) {
    let process = std::process::id();
    let (high, low) = ((process >> 8) as u8 | 0x80, process as u8);
    let folder = std::env::temp_dir().join(format!("resolab-cli-gateway-{process}-{number}"));
    let dns = format!("127.{high}.{low}.{number}:5354");
    let range = format!("127.{high}.{low}.{}/29", 128 + 8 * number);
    let mut command = Command::new(env!("CARGO_BIN_EXE_resolab-core"));
    command
        .arg("gateway")
        .args(["--listen", &dns, "--range", &range, "--port", "8443"])
        .args(["--upstream", &format!("udp://127.{high}.{low}.{number}:9")])
        .arg("--ca-folder")
        .arg(folder.join("ca"))
        .arg("--ca")
        .arg(folder.join("ca/ca.pem"))
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    (command, dns, folder)
}

/// An authority, so that there is one to trust.
fn make_authority(folder: &std::path::Path) {
    resolab_transport::server::CertificateAuthority::open_or_create(&folder.join("ca")).unwrap();
}

impl Running {
    fn start(more: &[&str]) -> Self {
        let number = GATEWAYS.fetch_add(1, Ordering::Relaxed);
        let (mut command, dns, folder) = command(number, more);
        make_authority(&folder);
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            lines,
            dns,
            folder,
        }
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_default()
    }

    fn send(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
    }

    /// The answer to an A query.
    fn ask(&self) -> Vec<u8> {
        let mut query = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        query.extend_from_slice(b"\x04page\x07resolab\x04test\x00\x00\x01\x00\x01");
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        socket.send_to(&query, &self.dns).unwrap();
        let mut answer = vec![0; 512];
        let length = socket.recv(&mut answer).unwrap();
        answer.truncate(length);
        answer
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn it_says_what_it_is_takes_commands_and_ends() {
    let mut gateway = Running::start(&["--trigger", "request", "--legs", "h2,h3"]);
    let start = gateway.next();
    assert_eq!(
        (&start["record"], &start["program"]),
        (&json!("start"), &json!("gateway"))
    );
    let ready = gateway.next();
    assert_eq!(ready["record"], "gateway_ready");
    assert_eq!(ready["dns_address"], gateway.dns);
    assert_eq!(
        (&ready["trigger"], &ready["sharing"]),
        (&json!("request"), &json!("separate"))
    );
    assert_eq!(ready["leg_http_versions"], json!(["h2", "h3"]));
    assert!(PathBuf::from(ready["ca_file"].as_str().unwrap()).exists());
    // Told at once, whoever is upstream.
    let answer = gateway.ask();
    assert_eq!((answer[3] & 15, answer[7]), (0, 1));
    let range = ready["range"].as_str().unwrap();
    let first: std::net::Ipv4Addr = range.split('/').next().unwrap().parse().unwrap();
    assert_eq!(
        answer[answer.len() - 4..],
        (u32::from(first) + 1).to_be_bytes()
    );
    gateway.send(r#"{"command":"new_load","id":3,"forget_tickets":false}"#);
    let done = loop {
        let record = gateway.next();
        if record["record"] == "command_done" {
            break record;
        }
    };
    assert_eq!((&done["id"], &done["error"]), (&json!(3), &Value::Null));
    gateway.send(r#"{"command":"dance","id":4}"#);
    let refused = gateway.next();
    assert_eq!(refused["id"], 4);
    assert!(refused["error"].as_str().unwrap().contains("dance"));
    gateway.send(r#"{"command":"stop","id":5}"#);
    assert_eq!(gateway.next()["id"], 5);
    assert_eq!(gateway.child.wait().unwrap().code(), Some(0));
}

/// Loopback addresses are every host's own: there is nothing to do, and nothing needs rights.
#[test]
fn a_range_that_is_its_own_is_claimed_without_rights() {
    let mut gateway = Running::start(&["--claim-range", "--trigger", "request"]);
    gateway.next();
    assert_eq!(gateway.next()["record"], "gateway_ready");
    assert_eq!(gateway.ask()[3] & 15, 0);
}

#[test]
fn it_ends_with_its_input_and_by_signals() {
    let mut gateway = Running::start(&[]);
    gateway.next();
    gateway.next();
    drop(gateway.child.stdin.take());
    assert_eq!(gateway.child.wait().unwrap().code(), Some(0));
    let mut gateway = Running::start(&[]);
    gateway.next();
    gateway.next();
    kill(Pid::from_raw(gateway.child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(gateway.child.wait().unwrap().code(), Some(0));
}

/// What the resolver's connection is shown to must not keep it: the process would wait for itself.
#[test]
fn it_ends_too_where_pages_go_on_the_resolvers_connection() {
    for upstream in ["h3://127.0.0.1:9", "quic://127.0.0.1:9"] {
        let number = GATEWAYS.fetch_add(1, Ordering::Relaxed);
        let (plain, _, folder) = command(number, &["--sharing", "resolver_connection"]);
        make_authority(&folder);
        let mut command = replaced(&plain, &["--upstream", upstream]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        let began = Instant::now();
        let ended = loop {
            match child.try_wait().unwrap() {
                None if began.elapsed() < Duration::from_secs(30) => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                ended => break ended,
            }
        };
        let _ = child.kill();
        let _ = std::fs::remove_dir_all(folder);
        assert_eq!(ended.and_then(|it| it.code()), Some(0), "{upstream}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_a_line() {
    for (more, code, says) in [
        (
            &["--sharing", "resolver_connection"][..],
            127,
            "quic:// by the private ALPN",
        ),
        (&["--range", "198.18.0.0/40"], 2, "8 to 30"),
        (&["--legs", "h4"], 2, "h4"),
        (&["--listen", "192.0.2.1:53"], 3, "192.0.2.1:53"),
    ] {
        let number = GATEWAYS.fetch_add(1, Ordering::Relaxed);
        let (mut command, _, folder) = command(number, &[]);
        make_authority(&folder);
        if more[0].starts_with("--listen") || more[0].starts_with("--range") {
            // Once only: the last of two is an error of its own.
            command = replaced(&command, more);
        } else {
            command.args(more);
        }
        let output = command.stdin(Stdio::null()).output().unwrap();
        let line = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{more:?}: {line}");
        assert!(line.contains(says), "{more:?}: {line}");
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// The same with another value of an argument.
fn replaced(command: &Command, more: &[&str]) -> Command {
    let mut other = Command::new(command.get_program());
    let arguments: Vec<_> = command.get_args().collect();
    let place = arguments.iter().position(|it| *it == more[0]).unwrap();
    other
        .args(&arguments[..=place])
        .arg(more[1])
        .args(&arguments[place + 2..]);
    other
}
