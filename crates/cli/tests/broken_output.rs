//! Programs whose standard output nobody reads any more: they end with the code a shell gives for SIGPIPE,
//! without a word, instead of going on unseen or ending as if all were well.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;
use crate::support::PROGRAM;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};

const BROKEN_PIPE: i32 = 141;
/// This machine lets nobody make a network namespace.
const MACHINE: i32 = 4;

fn start(arguments: &[&str]) -> Child {
    Command::new(PROGRAM)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Read until `record` came, and no further. Whether it came.
fn read_until(child: &mut Child, record: &str) -> bool {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines
        .map_while(Result::ok)
        .any(|line| line.contains(record))
}

fn ends_without_a_word(mut child: Child) {
    // Open until then: its end would be another reason to end.
    let input = child.stdin.take();
    assert_eq!(child.wait().unwrap().code(), Some(BROKEN_PIPE));
    drop(input);
    let mut words = String::new();
    child.stderr.unwrap().read_to_string(&mut words).unwrap();
    assert_eq!(words, "");
}

#[test]
fn an_edge_ends_with_the_first_record_nobody_takes() {
    let folder = std::env::temp_dir().join(format!("resolab-broken-output-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let process = std::process::id();
    let address = format!("127.{}.{}.77", (process >> 8) as u8 | 0x80, process as u8);
    let file = folder.join("edge.toml");
    let text = format!(
        "[ca]\nfolder = \"ca\"\n[resolver]\nname = \"dns.resolab.test\"\n\
         addresses = [\"{address}\"]\nports = {{ do53 = 5353 }}\n"
    );
    std::fs::write(&file, text).unwrap();
    let mut edge = start(&["edge", "--config", file.to_str().unwrap()]);
    assert!(read_until(&mut edge, "edge_ready"));
    let mut query = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    query.extend_from_slice(b"\x03dns\x07resolab\x04test\x00\x00\x01\x00\x01");
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    client.send_to(&query, (address, 5353)).unwrap();
    ends_without_a_word(edge);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_path_ends_with_the_first_answer_nobody_takes() {
    let mut path = start(&["path", "--profile", "fiber"]);
    if !read_until(&mut path, "path_ready") {
        assert_eq!(path.wait().unwrap().code(), Some(MACHINE));
        support::skip("no namespaces");
        return;
    }
    let input = path.stdin.as_mut().unwrap();
    input
        .write_all(b"{\"command\":\"nothing\",\"id\":1}\n")
        .unwrap();
    ends_without_a_word(path);
}

/// A full disk is the machine's fault, and not a defect of the program.
#[test]
fn a_full_disk_is_named_in_one_line() {
    for arguments in [
        "ping 127.0.0.1 --method tcp --count 1",
        "stub --listen 127.0.0.1:0 --upstream udp://127.0.0.1:9",
    ] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let mut program = Command::new(PROGRAM)
            .args(arguments.split(' '))
            .stdin(Stdio::piped())
            .stdout(full)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Open until then: its end would be another reason to end.
        let input = program.stdin.take();
        let output = program.wait_with_output().unwrap();
        drop(input);
        let words = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(MACHINE), "{arguments}: {words}");
        assert!(
            words.contains("write to standard output: No space left"),
            "{words}"
        );
        assert_eq!(words.lines().count(), 1, "{words}");
    }
}
