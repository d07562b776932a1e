//! `resolab-core query` against `resolab-core edge`: stamps, pins and the insecure mode as typed.
#![allow(missing_docs, clippy::unwrap_used)]

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use resolab_transport::client::Sha256;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

const URLS: [&str; 3] = [
    "tls://dns.resolab.test:18530",
    "https://dns.resolab.test:14430",
    "quic://dns.resolab.test:18530",
];

/// An edge on an address of this process alone.
struct Edge {
    child: Child,
    folder: PathBuf,
    address: String,
    ca_file: String,
}

impl Edge {
    fn start(number: u8) -> Self {
        let process = std::process::id();
        let folder = std::env::temp_dir().join(format!("resolab-cli-trust-{process}-{number}"));
        std::fs::create_dir_all(&folder).unwrap();
        let address = format!(
            "127.{}.{}.{number}",
            (process >> 8) as u8 | 0x80,
            process as u8
        );
        let text = format!(
            "[ca]\nfolder = \"ca\"\n[resolver]\nname = \"dns.resolab.test\"\n\
             addresses = [\"{address}\"]\nports = {{ dot = 18530, doh = 14430, doq = 18530 }}\n"
        );
        std::fs::write(folder.join("edge.toml"), text).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_resolab-core"))
            .args(["edge", "--config"])
            .arg(folder.join("edge.toml"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let ready = lines.nth(1).unwrap().unwrap();
        let ready: Value = serde_json::from_str(&ready).unwrap();
        let ca_file = ready["ca_file"].as_str().unwrap().to_owned();
        Self {
            child,
            folder,
            address,
            ca_file,
        }
    }

    /// Exit code, query records, standard error.
    fn query(&self, arguments: &[&str]) -> (Option<i32>, Vec<Value>, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_resolab-core"))
            .args(["query", "--resolve"])
            .arg(format!("dns.resolab.test={}", self.address))
            .args(arguments)
            .arg("dns.resolab.test")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let records = text
            .lines()
            .skip(1)
            .map(|line| serde_json::from_str(line).unwrap());
        let stderr = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), records.collect(), stderr)
    }

    /// To each resolver of `URLS`.
    fn query_all(&self, more: &[&str]) -> (Option<i32>, Vec<Value>, String) {
        let mut arguments: Vec<&str> = URLS.iter().flat_map(|url| ["--resolver", url]).collect();
        arguments.extend_from_slice(more);
        self.query(&arguments)
    }
}

impl Drop for Edge {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn assert_answered(records: &[Value], count: usize, checked: bool) {
    assert_eq!(records.len(), count);
    for record in records {
        assert_eq!(record["rcode"], json!("NOERROR"), "{record}");
        assert_eq!(record["certificate_checked"], json!(checked), "{record}");
    }
}

#[test]
fn insecure_is_marked_and_warns_once() {
    let edge = Edge::start(1);
    let (code, records, stderr) = edge.query_all(&["--insecure"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_answered(&records, 3, false);
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(
        stderr.contains("--insecure: certificates are not checked"),
        "{stderr}"
    );
}

#[test]
fn a_refused_pin_shows_the_right_one() {
    let edge = Edge::start(2);
    let wrong = Sha256::hash(b"another key").to_string();
    let (code, records, stderr) = edge.query_all(&["--ca", &edge.ca_file, "--pin", &wrong]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_eq!(records.len(), 3);
    for record in &records {
        assert_eq!(
            record["failure"],
            json!("tls_certificate_invalid"),
            "{record}"
        );
    }
    let detail = records[0]["failure_detail"].as_str().unwrap();
    let shown = detail
        .split([' ', ','])
        .find(|word| word.starts_with("sha256/"));
    let pins = ["--pin", &wrong, "--pin", shown.unwrap()];
    let (_, records, stderr) = edge.query_all(&[&["--ca", &edge.ca_file][..], &pins].concat());
    assert_answered(&records, 3, true);
    assert_eq!(stderr, "");
    let (_, records, stderr) = edge.query_all(&[&["--insecure"][..], &pins].concat());
    assert_answered(&records, 3, true);
    assert_eq!(stderr, "", "the pin is checked");
}

#[test]
fn stamps_and_what_is_wrong_with_them() {
    let edge = Edge::start(3);
    let port = format!("{}:18530", edge.address);
    let mut bytes = vec![3, 0, 0, 0, 0, 0, 0, 0, 0, port.len() as u8];
    bytes.extend_from_slice(port.as_bytes());
    bytes.extend_from_slice(b"\0\x10dns.resolab.test");
    let stamp = format!("sdns://{}", URL_SAFE_NO_PAD.encode(&bytes));
    let (code, records, stderr) = edge.query(&["--ca", &edge.ca_file, "--resolver", &stamp]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_answered(&records, 1, true);
    assert_eq!(records[0]["resolver"], json!(stamp));
    for (arguments, says) in [
        (
            &["--resolver", "sdns://AQcAAAAAAAAAAA"][..],
            "DNSCrypt, which is not supported here",
        ),
        (&["--resolver", "sdns://!"], "no base64url"),
        (
            &["--resolver", URLS[0], "--pin", "abc"],
            "read pin \"abc\": give sha256/",
        ),
    ] {
        let (code, _, stderr) = edge.query(arguments);
        assert_eq!((code, stderr.lines().count()), (Some(2), 1), "{stderr}");
        assert!(stderr.contains(says), "{stderr}");
    }
}
