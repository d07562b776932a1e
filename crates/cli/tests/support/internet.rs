//! An internet for tests: the built program, its records and commands, and sockets inside its hosts.
//! Not for: paths; those are `Lab`s.

use super::{EXIT_MACHINE, PROGRAM, read_record, skip};
use nix::fcntl::{OFlag, open};
use nix::sched::{CloneFlags, setns};
use nix::sys::stat::Mode;
use nix::unistd::Pid;
use resolab_link::hosts::anchor::find_anchor;
use resolab_record::{
    CommandDoneRecord, InternetCommand, InternetFlowsRecord, InternetReadyRecord, Record,
};
use std::io::{BufReader, Write};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// An internet under test; ends when dropped.
pub struct Internet {
    pub process: Child,
    pub ready: InternetReadyRecord,
    commands: Option<ChildStdin>,
    records: BufReader<ChildStdout>,
}

impl Internet {
    /// Of these hosts; `None` (said loudly) where that is not permitted or this is not root, who alone
    /// can reach into the hosts.
    pub fn open(hosts: &str) -> Option<Self> {
        Self::open_with(hosts, &[])
    }

    /// The same with more options for the program.
    pub fn open_with(hosts: &str, options: &[&str]) -> Option<Self> {
        let internet = Self::start(Command::new(PROGRAM), hosts, options)?;
        if internet.ready.rootless {
            skip("this test opens sockets inside the hosts and must run as root");
            return None;
        }
        Some(internet)
    }

    /// Run by `program`, whoever that is.
    pub fn start(mut program: Command, hosts: &str, options: &[&str]) -> Option<Self> {
        let file = config_file(hosts);
        let mut process = program
            .args(["internet", "--config"])
            .arg(&file)
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut records = BufReader::new(process.stdout.take().unwrap());
        let start = read_record(&mut records);
        std::fs::remove_file(file).unwrap();
        if start.is_none() && process.wait().unwrap().code() == Some(EXIT_MACHINE) {
            skip("this machine does not permit an internet (see the message above)");
            return None;
        }
        let ready = match (start, read_record(&mut records)) {
            (Some(Record::Start(_)), Some(Record::InternetReady(ready))) => *ready,
            other => panic!("no start and internet_ready: {other:?}"),
        };
        let commands = process.stdin.take();
        Some(Self {
            process,
            ready,
            commands,
            records,
        })
    }

    /// Send a line; returns the records before its answer, and the answer.
    pub fn command_text(&mut self, line: &str) -> (Vec<Record>, CommandDoneRecord) {
        writeln!(self.commands.as_mut().unwrap(), "{line}").unwrap();
        let mut before = Vec::new();
        loop {
            let record = read_record(&mut self.records).expect("the internet ended");
            if let Record::CommandDone(done) = record {
                return (before, done);
            }
            before.push(record);
        }
    }

    /// Change a host: `set_host` without its id.
    pub fn set_host(&mut self, name: &str, keys: &str) {
        let line = format!(r#"{{"command":"set_host","id":3,"name":"{name}",{keys}}}"#);
        let (_, done) = self.command_text(&line);
        assert_eq!((done.id, done.error), (3, None));
    }

    /// Close the window.
    pub fn count(&mut self) -> InternetFlowsRecord {
        let command = InternetCommand::Count { id: 4, label: None };
        let (records, done) = self.command_text(&serde_json::to_string(&command).unwrap());
        assert_eq!((done.id, done.error), (4, None));
        let [Record::InternetFlows(flows)] = &records[..] else {
            panic!("not one internet_flows record: {records:?}");
        };
        (**flows).clone()
    }

    /// Make something in a host's network namespace, where its sockets stay.
    pub fn inside<T: Send + 'static>(
        &self,
        host: &str,
        make: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let anchor = self.anchor(host);
        let made = std::thread::spawn(move || {
            let file = format!("/proc/{anchor}/ns/net");
            let namespace = open(file.as_str(), OFlag::O_RDONLY, Mode::empty()).unwrap();
            setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
            make()
        });
        made.join().unwrap()
    }

    /// A UDP socket in a host.
    pub fn socket(&self, host: &str, address: &str) -> UdpSocket {
        let address = address.to_owned();
        self.inside(host, move || UdpSocket::bind(address).unwrap())
    }

    /// The process that holds a host.
    pub fn anchor(&self, host: &str) -> Pid {
        find_anchor(Pid::from_raw(self.ready.pid as i32), host).unwrap()
    }

    /// Arguments of `resolab-core` for a program in a host.
    pub fn enter_arguments(&self, host: &str) -> Vec<String> {
        let pid = self.ready.pid.to_string();
        ["enter", "--path", &pid, "--host", host, "--"]
            .map(str::to_owned)
            .to_vec()
    }

    /// Close standard input; returns the exit code.
    pub fn close(&mut self) -> Option<i32> {
        drop(self.commands.take());
        self.process.wait().unwrap().code()
    }
}

impl Drop for Internet {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A program that everybody may run, run as nobody, whom a /dev/net/tun of a mount namespace's own is
/// open to; only root can make that.
pub fn as_ordinary_user(program: &Path) -> Command {
    const OPEN_TUN: &str = "mount -t tmpfs -o mode=0755 tmpfs /mnt && mknod -m 666 /mnt/tun c 10 200 \
        && mount --bind /mnt/tun /dev/net/tun";
    const BECOME_NOBODY: &str = "exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c"])
        .arg(format!("{OPEN_TUN}; {BECOME_NOBODY}"))
        .arg("sh")
        .arg(program);
    command
}

fn config_file(hosts: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("resolab-internet-{}-{number}.toml", std::process::id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, hosts).unwrap();
    file
}
