//! `resolab-core edge` as a process: its stream, its commands, its ends, its exit codes.
#![allow(missing_docs, clippy::unwrap_used)]

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};

static EDGES: AtomicU8 = AtomicU8::new(1);

struct Folder {
    path: PathBuf,
    address: String,
}

impl Folder {
    fn new() -> Self {
        let (process, number) = (std::process::id(), EDGES.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("resolab-cli-edge-{process}-{number}"));
        std::fs::create_dir_all(&path).unwrap();
        let address = format!(
            "127.{}.{}.{number}",
            (process >> 8) as u8 | 0x80,
            process as u8
        );
        Self { path, address }
    }

    fn command(&self, more: &str) -> Command {
        let file = self.path.join("edge.toml");
        let text = format!(
            "[ca]\nfolder = \"ca\"\n[resolver]\nname = \"dns.resolab.test\"\n\
             addresses = [\"{}\"]\nports = {{ do53 = 5353 }}\n{more}",
            self.address
        );
        std::fs::write(&file, text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_resolab-core"));
        command.arg("edge").arg("--config").arg(file);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn ask(&self) -> usize {
        let mut query = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        query.extend_from_slice(b"\x03dns\x07resolab\x04test\x00\x00\x01\x00\x01");
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket
            .send_to(&query, format!("{}:5353", self.address))
            .unwrap();
        socket.recv_from(&mut [0; 512]).unwrap().0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Running {
    fn start(folder: &Folder) -> Self {
        let mut child = folder.command("").spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn send(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}

#[test]
fn records_stand_before_the_flush_that_asked_for_them() {
    let folder = Folder::new();
    let mut edge = Running::start(&folder);
    let start = edge.next();
    assert_eq!(
        (&start["record"], &start["program"]),
        (&json!("start"), &json!("edge"))
    );
    let ready = edge.next();
    assert_eq!(ready["record"], "edge_ready");
    assert_eq!(
        ready["listeners"][0],
        format!("udp://{}:5353", folder.address)
    );
    assert!(folder.ask() > 40);
    edge.send(r#"{"command":"flush","id":41}"#);
    let query = edge.next();
    assert_eq!(
        (&query["record"], &query["rcode"]),
        (&json!("edge_query"), &json!("NOERROR"))
    );
    let done = edge.next();
    assert_eq!((&done["id"], &done["error"]), (&json!(41), &Value::Null));
    edge.send(r#"{"command":"dance","id":42}"#);
    let done = edge.next();
    assert_eq!(done["id"], 42);
    assert!(done["error"].as_str().unwrap().contains("dance"));
    // What is no text is no command, and ends nothing.
    let input = edge.child.stdin.as_mut().unwrap();
    input
        .write_all(b"\xff\xfe\n{\"command\":\"flush\",\"id\":43}\n")
        .unwrap();
    assert!(
        edge.next()["error"]
            .as_str()
            .unwrap()
            .contains("read the command")
    );
    assert_eq!(edge.next()["id"], 43);
    drop(edge.child.stdin.take());
    assert_eq!(edge.child.wait().unwrap().code(), Some(0));
    // The port is free again.
    UdpSocket::bind(format!("{}:5353", folder.address)).unwrap();
}

#[test]
fn a_signal_ends_it_in_order() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let folder = Folder::new();
        let mut edge = Running::start(&folder);
        edge.next();
        edge.next();
        kill(Pid::from_raw(edge.child.id() as i32), signal).unwrap();
        assert_eq!(edge.child.wait().unwrap().code(), Some(0), "{signal}");
    }
}

fn failed(output: &Output, code: i32, part: &str) {
    let line = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{line}");
    assert!(
        line.contains(part) && line.trim_end().lines().count() == 1,
        "{line}"
    );
}

#[test]
fn errors_have_their_code_and_one_line() {
    let folder = Folder::new();
    failed(
        &folder.command("[webb]\n").output().unwrap(),
        3,
        "unknown field `webb`",
    );
    let site = "[[site]]\nhost = \"a.test\"\naddress = \"127.0.0.1\"\nfolder = \"none\"\n";
    failed(&folder.command(site).output().unwrap(), 3, "site a.test");
    let _taken = UdpSocket::bind(format!("{}:5353", folder.address)).unwrap();
    failed(&folder.command("").output().unwrap(), 4, &folder.address);
}
