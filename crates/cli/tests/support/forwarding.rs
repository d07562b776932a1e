//! A resolver that answers every question for A alike, and `resolab-core stub` in front of it, as
//! child processes and threads that end with the test. Not for: what is in DNS messages.

use super::{PROGRAM, read_record};
use resolab_record::Record;
use std::io::BufReader;
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::thread;

/// Whom every name belongs to.
pub const ANSWER: &str = "198.18.0.9";
/// The same as a resource record: name by pointer, A, IN, 60 s, four bytes.
const RECORD: [u8; 16] = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 198, 18, 0, 9];
const HEADER_BYTES: usize = 12;

/// Answers over UDP until the test's process ends.
pub fn start_resolver() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut query = [0; 2048];
        while let Ok((length, from)) = socket.recv_from(&mut query) {
            let _ = socket.send_to(&response(&query[..length]), from);
        }
    });
    address
}

fn response(query: &[u8]) -> Vec<u8> {
    let name = query[HEADER_BYTES..].iter().position(|&byte| byte == 0);
    let question = &query[HEADER_BYTES..HEADER_BYTES + name.unwrap() + 5];
    let is_a = question[question.len() - 4..question.len() - 2] == [0, 1];
    let head = [
        query[0],
        query[1],
        0x81,
        0x80,
        0,
        1,
        0,
        u8::from(is_a),
        0,
        0,
        0,
        0,
    ];
    let answer: &[u8] = if is_a { &RECORD } else { &[] };
    [&head[..], question, answer].concat()
}

/// A stub that listens; it ends when dropped.
pub struct RunningStub(Child);

impl RunningStub {
    /// `None` if it may not listen there.
    pub fn start(mut program: Command, listen: &str, more: &[&str]) -> Option<Self> {
        let upstream = format!("udp://{}", start_resolver());
        let mut child = program
            .args(["stub", "--listen", listen, "--upstream", &upstream])
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut records = BufReader::new(child.stdout.take().unwrap());
        let _start = read_record(&mut records);
        let ready = matches!(read_record(&mut records), Some(Record::StubReady(_)));
        // Nobody reads on, and a stub whose records nobody reads ends.
        thread::spawn(move || while read_record(&mut records).is_some() {});
        let stub = Self(child);
        ready.then_some(stub)
    }

    /// As the tests' own user, outside of everything.
    pub fn plain(listen: &str, more: &[&str]) -> Option<Self> {
        Self::start(Command::new(PROGRAM), listen, more)
    }
}

impl Drop for RunningStub {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
