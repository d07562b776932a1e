//! A path for tests: the built program, its records and commands, and sockets inside its hosts.
//! Needs root; without the rights for a path, tests say SKIPPED on standard error and pass.
#![allow(dead_code)] // Each test file uses its part.

pub mod edge;
pub mod forwarding;
pub mod internet;
pub mod pcapng;
pub mod probe;

use nix::fcntl::{OFlag, open};
use nix::sched::{CloneFlags, setns};
use nix::sys::stat::Mode;
use nix::unistd::Pid;
use resolab_link::hosts::Host;
use resolab_link::hosts::anchor::find_anchor;
use resolab_record::{
    CommandDoneRecord, FlowRecord, LinkProfile, PathCommand, PathReadyRecord, PathSummaryRecord,
    Record,
};
use std::io::{BufRead, BufReader, Write};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_resolab-core");
/// Copy the program to where other users may run it. Another process writes it: a test beside this one
/// that starts a program just then would pass our open file on to it, and who is written to cannot be
/// run ("text file busy").
pub fn copy_program(target: &Path) {
    let copied = Command::new("cp")
        .args([Path::new(PROGRAM), target])
        .status();
    assert!(copied.unwrap().success());
}

/// The machine lacks something.
const EXIT_MACHINE: i32 = 4;

/// A path under test; ends when dropped.
pub struct Lab {
    pub process: Child,
    pub ready: PathReadyRecord,
    commands: Option<ChildStdin>,
    records: BufReader<ChildStdout>,
    last_id: u64,
}

/// What a `summary` command brought.
pub struct Summary {
    pub totals: PathSummaryRecord,
    pub flows: Vec<FlowRecord>,
}

impl Lab {
    /// A path with these two directions; `None` (said loudly) where that is not permitted.
    pub fn open(up: &str, down: &str) -> Option<Self> {
        Self::open_with(up, down, &[])
    }

    /// As `open`, with more options for the program.
    pub fn open_with(up: &str, down: &str, options: &[&str]) -> Option<Self> {
        Self::start(Command::new(PROGRAM), up, down, options)
    }

    /// As `open_with`, by the user with this id, who can read `program`.
    pub fn open_as_user(
        user: &str,
        program: &Path,
        up: &str,
        down: &str,
        options: &[&str],
    ) -> Option<Self> {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid", user, "--regid", user, "--clear-groups"])
            .arg(program);
        Self::start(command, up, down, options)
    }

    fn start(mut program: Command, up: &str, down: &str, options: &[&str]) -> Option<Self> {
        let file = profile_file(up, down);
        let mut process = program
            .args(["path", "--seed", "7", "--profile"])
            .arg(&file)
            .args(options)
            .args(backend_options(options))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut records = BufReader::new(process.stdout.take().unwrap());
        let start = read_record(&mut records);
        std::fs::remove_file(file).unwrap();
        if start.is_none() && process.wait().unwrap().code() == Some(EXIT_MACHINE) {
            skip("this machine does not permit an emulated path (see the message above)");
            return None;
        }
        assert!(
            matches!(start, Some(Record::Start(_))),
            "first record: {start:?}"
        );
        let Some(Record::PathReady(ready)) = read_record(&mut records) else {
            panic!("no path_ready record");
        };
        let commands = process.stdin.take();
        Some(Self {
            process,
            ready: *ready,
            commands,
            records,
            last_id: 0,
        })
    }

    /// As `open`, for tests that reach into the hosts themselves, which only root can.
    pub fn open_as_root(up: &str, down: &str) -> Option<Self> {
        let lab = Self::open(up, down)?;
        if lab.ready.rootless {
            skip("this test opens sockets inside the path's hosts and must run as root");
            return None;
        }
        Some(lab)
    }

    /// Send a command; returns the records before its answer, and the answer.
    pub fn command(&mut self, command: &PathCommand) -> (Vec<Record>, CommandDoneRecord) {
        self.command_text(&serde_json::to_string(command).unwrap())
    }

    /// Send a line.
    pub fn command_text(&mut self, line: &str) -> (Vec<Record>, CommandDoneRecord) {
        writeln!(self.commands.as_mut().unwrap(), "{line}").unwrap();
        let mut before = Vec::new();
        loop {
            let record = read_record(&mut self.records).expect("the path ended");
            if let Record::CommandDone(done) = record {
                return (before, done);
            }
            before.push(record);
        }
    }

    /// Close the window.
    pub fn summary(&mut self, label: &str) -> Summary {
        let id = self.next_id();
        let (records, done) = self.command(&PathCommand::Summary {
            id,
            label: Some(label.to_owned()),
        });
        assert_eq!((done.id, done.error), (id, None));
        let mut records = records.into_iter();
        let Some(Record::PathSummary(totals)) = records.next() else {
            panic!("no path_summary record");
        };
        let flows = records
            .map(|record| {
                let Record::Flow(flow) = record else {
                    panic!("not a flow: {record:?}");
                };
                *flow
            })
            .collect();
        Summary {
            totals: *totals,
            flows,
        }
    }

    /// Put a changed profile in force.
    pub fn set_profile(&mut self, profile: LinkProfile, seed: Option<u64>) {
        let id = self.next_id();
        let command = PathCommand::SetProfile {
            id,
            profile: Box::new(profile),
            seed,
            hold_schedule: false,
        };
        let (records, done) = self.command(&command);
        assert_eq!((done.id, done.error), (id, None));
        assert!(
            matches!(records[..], [Record::ProfileChanged(_)]),
            "{records:?}"
        );
    }

    /// A UDP socket in a host.
    pub fn socket(&self, host: Host, address: &str) -> UdpSocket {
        let address = address.to_owned();
        let bind = move || UdpSocket::bind(address).unwrap();
        self.inside(host, bind).join().unwrap()
    }

    /// Do it in a host's network namespace, on a thread of its own, because that stays there.
    pub fn inside<T: Send + 'static>(
        &self,
        host: Host,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let anchor = find_anchor(self.pid(), host).unwrap();
        std::thread::spawn(move || {
            let file = format!("/proc/{anchor}/ns/net");
            let namespace = open(file.as_str(), OFlag::O_RDONLY, Mode::empty()).unwrap();
            setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
            act()
        })
    }

    /// `resolab-core enter` for a host of this path, without the program yet.
    pub fn enter(&self, host: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args([
            "enter",
            "--path",
            &self.ready.pid.to_string(),
            "--host",
            host,
        ]);
        command
    }

    /// The path's process id.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.ready.pid as i32)
    }

    /// Close standard input; returns the exit code.
    pub fn close(&mut self) -> Option<i32> {
        drop(self.commands.take());
        self.process.wait().unwrap().code()
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Say on the real standard error, past the test harness's capture, that a test did not run.
pub fn skip(reason: &str) {
    let test = std::thread::current().name().unwrap_or("?").to_owned();
    let _ = writeln!(std::io::stderr(), "\nSKIPPED {test}: {reason}");
}

/// Whether a process ends within some seconds; one that waits to be reaped has.
pub fn has_gone(process: i32) -> bool {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(10) {
        let state = std::fs::read_to_string(format!("/proc/{process}/stat"));
        if state.is_err() || state.is_ok_and(|text| text.contains(") Z")) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

/// The back end that `RESOLAB_TEST_BACKEND` names, for tests that do not ask for one themselves.
fn backend_options(options: &[&str]) -> Vec<String> {
    match std::env::var("RESOLAB_TEST_BACKEND") {
        Ok(backend) if !options.contains(&"--backend") => vec!["--backend".to_owned(), backend],
        _ => Vec::new(),
    }
}

fn profile_file(up: &str, down: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("resolab-test-{}-{number}.toml", std::process::id());
    let file = std::env::temp_dir().join(name);
    let text = format!("name = 'test'\nsource = 'a test'\n[up]\n{up}\n[down]\n{down}\n");
    std::fs::write(&file, text).unwrap();
    file
}

/// The next record; `None` at the end.
pub fn read_record(records: &mut impl BufRead) -> Option<Record> {
    let mut line = String::new();
    if records.read_line(&mut line).unwrap() == 0 {
        return None;
    }
    Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")))
}
