//! An edge for tests and `resolab-core query` against it, on the machine itself or in a path's
//! hosts. Not for: the edge's own tests.

use super::{Lab, PROGRAM};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};

static COUNT: AtomicU8 = AtomicU8::new(1);

/// URL of each transport with a handshake.
pub const URLS: [&str; 4] = [
    "tls://dns.resolab.test",
    "https://dns.resolab.test",
    "h3://dns.resolab.test",
    "quic://dns.resolab.test",
];

/// A running edge; ends when dropped.
pub struct Edge {
    child: Child,
    /// Its own, removed with it.
    pub folder: PathBuf,
    address: String,
    ca_file: String,
}

impl Edge {
    /// On a loopback address of its own.
    pub fn on_loopback() -> Self {
        let (process, number) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let (high, low) = ((process >> 8) as u8 | 0x80, process as u8);
        let address = format!("127.{high}.{low}.{number}");
        Self::start(Command::new(PROGRAM), address, "")
    }

    /// In the server host of a path.
    pub fn behind(lab: &Lab) -> Self {
        Self::behind_with(lab, "")
    }

    /// The same with a site: `page.resolab.test`, with `/1k.txt`, `/8k.txt` and `/20k.txt`, on this
    /// address and with this `[coalescing]`.
    pub fn with_pages(lab: &Lab, address: &str, coalescing: &str) -> Self {
        let sections = format!(
            "[[site]]\nhost = \"page.resolab.test\"\naddress = \"{address}\"\n\
             folder = \"pages\"\n[coalescing]\n{coalescing}"
        );
        Self::behind_with(lab, &sections)
    }

    /// Send a command; its answer is among the records nobody reads.
    pub fn command(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
    }

    /// The same with more sections of its configuration.
    pub fn behind_with(lab: &Lab, sections: &str) -> Self {
        let mut command = lab.enter("server");
        command.args(["--", PROGRAM]);
        Self::start(command, "10.77.0.1".to_owned(), sections)
    }

    fn start(mut command: Command, address: String, sections: &str) -> Self {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("resolab-cli-query-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(folder.join("pages")).unwrap();
        for kilobytes in [1, 8, 20] {
            let page = folder.join(format!("pages/{kilobytes}k.txt"));
            std::fs::write(page, vec![b'x'; kilobytes * 1_000]).unwrap();
        }
        let text = format!(
            "[ca]\nfolder = \"ca\"\n[resolver]\nname = \"dns.resolab.test\"\n\
             addresses = [\"{address}\"]\n{sections}"
        );
        std::fs::write(folder.join("edge.toml"), text).unwrap();
        let mut child = command
            .args(["edge", "--config"])
            .arg(folder.join("edge.toml"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let ready: Value = serde_json::from_str(&lines.nth(1).unwrap().unwrap()).unwrap();
        let ca_file = ready["ca_file"].as_str().unwrap().to_owned();
        Self {
            child,
            folder,
            address,
            ca_file,
        }
    }

    /// URL of its DoTCP.
    pub fn tcp_url(&self) -> String {
        format!("tcp://{}", self.address)
    }

    /// Query records of `resolab-core query`, run by `command`.
    pub fn query_by(&self, command: Command, arguments: &[&str]) -> Vec<Value> {
        self.records_of(command, "query", arguments)
    }

    /// Records of `resolab-core fetch`, in the client host of a path.
    pub fn fetch_over(&self, lab: &Lab, arguments: &[&str]) -> Vec<Value> {
        let mut command = lab.enter("client");
        command.args(["--", PROGRAM]);
        self.records_of(command, "fetch", arguments)
    }

    fn records_of(&self, mut command: Command, name: &str, arguments: &[&str]) -> Vec<Value> {
        let output = command
            .args([name, "--ca", &self.ca_file, "--resolve"])
            .arg(format!("dns.resolab.test={}", self.address))
            .args(arguments)
            .output()
            .unwrap();
        let complaints = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{complaints}");
        let text = String::from_utf8(output.stdout).unwrap();
        let records = text.lines().skip(1);
        records
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The same, on this machine.
    pub fn query(&self, arguments: &[&str]) -> Vec<Value> {
        self.query_by(Command::new(PROGRAM), arguments)
    }

    /// The same, in the client host of a path.
    pub fn query_over(&self, lab: &Lab, arguments: &[&str]) -> Vec<Value> {
        let mut command = lab.enter("client");
        command.args(["--", PROGRAM]);
        self.query_by(command, arguments)
    }
}

impl Drop for Edge {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It does not end before its records are read.
        if let Some(mut records) = self.child.stdout.take() {
            let _ = std::io::copy(&mut records, &mut std::io::sink());
        }
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
