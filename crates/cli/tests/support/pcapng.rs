//! Reading a capture back: a small reader of its own for the structure, and tshark, where it is
//! installed, as the independent one.

use std::path::{Path, PathBuf};
use std::process::Command;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const OPTION_COMMENT: u16 = 1;
const OPTION_FLAGS: u16 = 2;

/// One packet in a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    pub interface: String,
    pub unix_ns: u64,
    pub outbound: bool,
    pub comment: String,
    /// What the UDP datagram carries.
    pub payload: Vec<u8>,
}

/// A file for a capture, removed at the end.
pub struct CaptureFile(PathBuf);

impl CaptureFile {
    pub fn new(name: &str) -> Self {
        let name = format!("resolab-capture-{}-{name}.pcapng", std::process::id());
        let file = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&file);
        Self(file)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn text(&self) -> String {
        self.0.to_str().unwrap().to_owned()
    }
}

impl Drop for CaptureFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The packets of a capture that must be whole: header, two interfaces, packets, two statistics.
pub fn read(file: &Path) -> Vec<Captured> {
    read_among(file, &["client", "server"])
}

/// The same of a capture with these interfaces.
pub fn read_among(file: &Path, interfaces: &[&str]) -> Vec<Captured> {
    let bytes = std::fs::read(file).unwrap();
    let mut rest = &bytes[..];
    let mut kinds = Vec::new();
    let mut packets = Vec::new();
    while !rest.is_empty() {
        let (kind, length) = (word(rest, 0), word(rest, 4) as usize);
        assert_eq!(word(rest, length - 4) as usize, length, "both lengths");
        let (block, after) = rest.split_at(length);
        match kind {
            SECTION_HEADER => assert_eq!(word(block, 8), BYTE_ORDER_MAGIC),
            6 => packets.push(packet(block, interfaces)),
            _ => {}
        }
        kinds.push(kind);
        rest = after;
    }
    let count = kinds.len();
    let (first, last) = (1 + interfaces.len(), count - interfaces.len());
    assert_eq!(kinds[0], SECTION_HEADER);
    assert!(kinds[1..first].iter().all(|kind| *kind == 1));
    assert!(kinds[first..last].iter().all(|kind| *kind == 6));
    let ends = kinds[last..].iter().all(|kind| *kind == 5);
    assert!(ends, "cut before its end");
    packets
}

fn packet(block: &[u8], interfaces: &[&str]) -> Captured {
    let captured_bytes = word(block, 20) as usize;
    assert_eq!(word(block, 24) as usize, captured_bytes, "never cut");
    let bytes = &block[28..28 + captured_bytes];
    let mut options = &block[28 + captured_bytes.next_multiple_of(4)..block.len() - 4];
    let (mut comment, mut outbound) = (String::new(), None);
    while options.len() > 4 {
        let code = u16::from_ne_bytes([options[0], options[1]]);
        let length = usize::from(u16::from_ne_bytes([options[2], options[3]]));
        let value = &options[4..4 + length];
        match code {
            OPTION_COMMENT => comment = String::from_utf8(value.to_vec()).unwrap(),
            OPTION_FLAGS => outbound = Some(value[0] == 2),
            _ => {}
        }
        options = &options[4 + length.next_multiple_of(4)..];
    }
    assert_eq!(options, [0; 4], "the options' end");
    Captured {
        interface: interfaces[word(block, 8) as usize].to_owned(),
        unix_ns: u64::from(word(block, 12)) << 32 | u64::from(word(block, 16)),
        outbound: outbound.unwrap(),
        comment,
        payload: bytes[28..].to_vec(),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// The same by tshark; `None` where it is not installed.
pub fn read_by_tshark(file: &Path) -> Option<Vec<Captured>> {
    let mut command = Command::new("tshark");
    // Names and ports are not to be guessed at: the payload is to stay one.
    command.args(["-n", "-T", "fields", "-E", "separator=|"]);
    for field in [
        "frame.interface_name",
        "frame.time_epoch",
        "frame.packet_flags_direction",
        "frame.comment",
        "udp.payload",
    ] {
        command.args(["-e", field]);
    }
    let output = match command.arg("-r").arg(file).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        output => output.unwrap(),
    };
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(line).collect())
}

/// Packets whose checksums are wrong, by tshark; `None` where it is not installed.
pub fn wrong_checksums_count(file: &Path) -> Option<usize> {
    let mut command = Command::new("tshark");
    command.args(["-n", "-o", "ip.check_checksum:TRUE"]);
    command.args(["-o", "tcp.check_checksum:TRUE"]);
    // 1: good.
    command.args(["-Y", "ip.checksum.status != 1 || tcp.checksum.status != 1"]);
    let output = match command.arg("-r").arg(file).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        output => output.unwrap(),
    };
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap().lines().count())
}

fn line(line: &str) -> Captured {
    let fields: Vec<&str> = line.split('|').collect();
    let (seconds, fraction) = fields[1].split_once('.').unwrap();
    assert_eq!(fraction.len(), 9, "nanoseconds: {line}");
    let unix_ns =
        seconds.parse::<u64>().unwrap() * 1_000_000_000 + fraction.parse::<u64>().unwrap();
    let digits = fields[4].as_bytes().chunks(2);
    let payload = digits.map(|pair| std::str::from_utf8(pair).unwrap());
    Captured {
        interface: fields[0].to_owned(),
        unix_ns,
        outbound: u32::from_str_radix(fields[2].trim_start_matches("0x"), 16).unwrap() == 2,
        comment: fields[3].to_owned(),
        payload: payload
            .map(|pair| u8::from_str_radix(pair, 16).unwrap())
            .collect(),
    }
}
