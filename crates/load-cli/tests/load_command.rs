//! `resolab-load` as a program: its streams, its exit codes, an interrupt.
#![allow(clippy::unwrap_used)]

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The soft limit of open files is raised to the hard one; where that is too low the message says so.
#[test]
fn too_few_open_files_are_named() {
    let names = NamesFile::new("files");
    for resolver in ["udp://127.0.0.1:9", "tcp://127.0.0.1:9"] {
        let arguments = "--connections 60 --outstanding 60 --count 60 --timeout-ms 200";
        let bench = command(resolver, &names, arguments);
        for (limit, is_named) in [("ulimit -n 40", true), ("ulimit -Sn 40", false)] {
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("{limit}; exec \"$0\" \"$@\"")]);
            let output = shell
                .arg(bench.get_program())
                .args(bench.get_args())
                .output();
            let output = output.unwrap();
            let errors = String::from_utf8(output.stderr).unwrap();
            assert_eq!(
                errors.contains("(ulimit -n)"),
                is_named,
                "{resolver}: {errors}"
            );
            let code = if is_named { 4 } else { 5 };
            assert_eq!(output.status.code(), Some(code), "{resolver}: {errors}");
        }
    }
}

/// Answers every query but each tenth, which it drops, or gives SERVFAIL to all.
struct Server {
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Server {
    fn start(drops: bool, rcode: u8) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let stopped = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopped);
        socket
            .set_read_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        let serve = move || {
            let (mut buffer, mut position) = ([0; 512], 0);
            while !stop.load(Ordering::Relaxed) {
                let Ok((length, from)) = socket.recv_from(&mut buffer) else {
                    continue;
                };
                position += 1;
                if drops && position % 10 == 0 {
                    continue;
                }
                buffer[2] |= 0x80;
                buffer[3] = rcode;
                socket.send_to(&buffer[..length], from).unwrap();
            }
        };
        Self {
            address,
            stopped,
            thread: Some(thread::spawn(serve)),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(thread::JoinHandle::join);
    }
}

/// A file of its own for each test, gone with it.
struct NamesFile(PathBuf);

impl NamesFile {
    fn new(test: &str) -> Self {
        let name = format!("resolab-bench-{}-{test}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, "; names\na.test\nb.test AAAA\n").unwrap();
        Self(path)
    }
}

impl Drop for NamesFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn command(resolver: &str, names: &NamesFile, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_resolab-load"));
    command
        .args(["--resolver", resolver, "--names"])
        .arg(&names.0)
        .args(arguments.split_whitespace());
    command
}

fn bench(server: &Server, test: &str, arguments: &str) -> Output {
    let (names, resolver) = (NamesFile::new(test), format!("udp://{}", server.address));
    command(&resolver, &names, arguments).output().unwrap()
}

fn records(output: &Output) -> Vec<Value> {
    let lines = output.stdout.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

#[test]
fn json_is_a_start_progress_and_a_result() {
    let server = Server::start(true, 0);
    let arguments = "--json --rate 1000 --count 400 --timeout-ms 600 --interval 0.2";
    let output = bench(&server, "json", arguments);
    assert!(output.status.success(), "{output:?}");
    let records = records(&output);
    let kinds: Vec<_> = records.iter().map(|record| &record["record"]).collect();
    assert_eq!(
        (kinds[0], kinds[kinds.len() - 1]),
        (&"start".into(), &"load".into())
    );
    let progress = &records[1..records.len() - 1];
    assert!(!progress.is_empty());
    let mut sent = 0;
    for record in progress {
        assert_eq!(record["record"], "load_progress");
        sent += record["sent_count"].as_u64().unwrap();
    }
    assert_eq!(sent, 400);
    let load = &records[records.len() - 1];
    assert_eq!(load["sent_count"], 400);
    assert_eq!(
        (&load["lost_count"], &load["completed_count"]),
        (&40.into(), &360.into())
    );
    assert_eq!(
        (&load["pace"], &load["rcodes"]["NOERROR"]),
        (&"constant".into(), &360.into())
    );
    assert_eq!(load["dns_transport"], "doudp");
}

#[test]
fn text_has_dnsperfs_lines_and_progress_goes_to_standard_error() {
    let server = Server::start(false, 0);
    let output = bench(&server, "text", "--duration 0.5 --interval 0.2 --histogram");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    for label in [
        "Statistics:",
        "  Queries sent:         ",
        "  Queries lost:         0 (0.00%)",
        "  Response codes:       NOERROR ",
        "  Average packet size:  request 24, response 24",
        "  Average Latency (s):  ",
        "Histogram",
    ] {
        assert!(text.contains(label), "{label}\n{text}");
    }
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains(" answers/s"), "{errors}");
}

#[test]
fn a_condition_that_holds_is_exit_code_1() {
    let server = Server::start(false, 2);
    let arguments = "--count 50 --fail lost>0 --fail servfail>10% --fail rate<1";
    let output = bench(&server, "condition", arguments);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("--fail servfail>10%: it is 100.0000%"),
        "{errors}"
    );
    assert!(!errors.contains("lost>0") && !errors.contains("rate<1"));
    let fine = bench(&server, "no-condition", "--count 50 --fail lost>0");
    assert_eq!(fine.status.code(), Some(0), "{fine:?}");
}

#[test]
fn what_cannot_be_done_has_its_own_exit_codes() {
    let names = NamesFile::new("refused");
    let gone = NamesFile::new("gone");
    std::fs::remove_file(&gone.0).unwrap();
    for (resolver, names, arguments, code, says) in [
        ("udp://127.0.0.1:9", &gone, "", 3, "resolab-bench-"),
        (
            "tcp://127.0.0.1:9",
            &names,
            "--timeout-ms 1000",
            5,
            "connect to 127.0.0.1:9",
        ),
        (
            "quic://127.0.0.1:9",
            &names,
            "--timeout-ms 300 --insecure",
            5,
            "is a resolver there?",
        ),
        (
            "tls://127.0.0.1:9",
            &names,
            "--gso --insecure",
            127,
            "--gso",
        ),
        (
            "udp://127.0.0.1:9",
            &names,
            "--threads 4 --connections 2",
            2,
            "share",
        ),
        ("udp://127.0.0.1:9", &names, "--fail fast>1", 2, "condition"),
        (
            "udp://127.0.0.1:9",
            &names,
            "--duration 0",
            2,
            "a number from 0.001",
        ),
    ] {
        let output = command(resolver, names, arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments}: {errors}");
        assert!(errors.contains(says), "{says}: {errors}");
    }
}

#[test]
fn a_reader_who_goes_ends_the_run_without_a_word_and_with_141() {
    let server = Server::start(false, 0);
    let (names, resolver) = (
        NamesFile::new("unread"),
        format!("udp://{}", server.address),
    );
    let mut child = command(&resolver, &names, "--json --count 20")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn readers_of_both_streams_who_go_are_no_panic() {
    let server = Server::start(false, 0);
    let (names, resolver) = (
        NamesFile::new("unheard"),
        format!("udp://{}", server.address),
    );
    let mut child = command(&resolver, &names, "--duration 0.5 --interval 0.1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(141));
}

#[test]
fn an_interrupt_ends_the_run_with_its_results() {
    let server = Server::start(false, 0);
    let (names, resolver) = (
        NamesFile::new("interrupt"),
        format!("udp://{}", server.address),
    );
    let mut child = command(
        &resolver,
        &names,
        "--json --duration 60 --rate 200 --interval 0.1",
    )
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("load_progress") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0);
    }
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success());
    let last: Value = serde_json::from_str(rest.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["record"], &last["stopped_early"]),
        (&"load".into(), &true.into())
    );
    assert!(last["completed_count"].as_u64().unwrap() > 0);
}

/// Answers so many queries on one connection, and is gone.
fn short_lived(query_count: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut length = [0; 2];
        for _ in 0..query_count {
            stream.read_exact(&mut length).unwrap();
            let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
            stream.read_exact(&mut message).unwrap();
            message[2] |= 0x80;
            stream.write_all(&[&length[..], &message].concat()).unwrap();
        }
    });
    address
}

#[test]
fn a_resolver_that_dies_ends_the_run_with_its_results_and_exit_code_5() {
    let (names, resolver) = (NamesFile::new("dies"), format!("tcp://{}", short_lived(30)));
    let arguments = "--json --count 1000000 --outstanding 1 --timeout-ms 300";
    let output = command(&resolver, &names, arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(5), "{errors}");
    assert!(errors.contains("took a query for 0.3 s (tcp_connect_refused)"));
    let last = records(&output).pop().unwrap();
    assert_eq!(
        (&last["record"], &last["failure"]),
        (&"load".into(), &"tcp_connect_refused".into())
    );
    assert_eq!(last["completed_count"], 30);
    assert_eq!(last["stopped_early"], true);
}

#[test]
fn a_run_without_any_answer_is_exit_code_5_and_names_may_come_by_standard_input() {
    let nobody = UdpSocket::bind("127.0.0.1:0").unwrap();
    let resolver = format!("udp://{}", nobody.local_addr().unwrap());
    // Closed: whatever is sent there is refused.
    drop(nobody);
    let mut child = Command::new(env!("CARGO_BIN_EXE_resolab-load"))
        .args(["-r", &resolver, "-d", "-", "--count", "20"])
        .args(["--timeout-ms", "200"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"a.test\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(5), "{errors}");
    assert!(
        errors.contains("none of 20 queries to 127.0.0.1:"),
        "{errors}"
    );
}

#[test]
fn a_resolver_that_closes_on_every_query_has_answered_none() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let resolver = format!("tcp://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = stream.unwrap().read_exact(&mut [0; 2]);
        }
    });
    let names = NamesFile::new("closes");
    let arguments = "--count 5 --outstanding 1 --timeout-ms 2000";
    let output = command(&resolver, &names, arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(5), "{errors}");
    assert!(errors.contains("5 cut off"), "{errors}");
}
