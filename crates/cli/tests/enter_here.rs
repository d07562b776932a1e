//! Programs on the machine's own network with a resolver configuration of their own, as root and as
//! an ordinary user.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;
use crate::support::PROGRAM;
use crate::support::forwarding::{ANSWER, RunningStub};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const NOBODY: u32 = 65_534;

/// A user who enters: how to start the program as that one.
struct Entrant {
    program: PathBuf,
    is_nobody: bool,
}

impl Entrant {
    fn ourselves() -> Self {
        Self {
            program: PROGRAM.into(),
            is_nobody: false,
        }
    }

    /// `None`, said loudly, where this user cannot become another.
    fn nobody(test: &str) -> Option<Self> {
        if !geteuid().is_root() {
            support::skip("this test becomes another user and must run as root");
            return None;
        }
        let name = format!("resolab-{test}-{}", std::process::id());
        let program = std::env::temp_dir().join(name);
        support::copy_program(&program);
        let entrant = Self {
            program,
            is_nobody: true,
        };
        let tried = entrant.enter(&["--nameserver", "127.0.0.9", "--", "true"]);
        if !tried.status.success() {
            let why = String::from_utf8_lossy(&tried.stderr).trim().to_owned();
            support::skip(&format!("no user namespaces for ordinary users: {why}"));
            return None;
        }
        Some(entrant)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        if self.is_nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    fn enter(&self, arguments: &[&str]) -> Output {
        let mut command = self.command();
        command.args(["enter", "--here"]).args(arguments);
        command.output().unwrap()
    }

    fn sees(&self, options: &[&str], script: &str) -> String {
        let output = self.enter(&[options, &["--", "sh", "-c", script]].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Entrant {
    fn drop(&mut self) {
        if self.is_nobody {
            let _ = std::fs::remove_file(&self.program);
        }
    }
}

/// Each user this machine lets us be.
fn entrants(test: &str) -> Vec<Entrant> {
    let nobody = Entrant::nobody(test);
    std::iter::once(Entrant::ourselves())
        .chain(nobody)
        .collect()
}

#[test]
fn the_program_has_its_own_resolver_and_the_machine_keeps_its() {
    let files = ["/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/hosts"];
    let machine = || files.map(|file| std::fs::read_to_string(file).ok());
    let mounts = || std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = (machine(), mounts());
    for entrant in entrants("own") {
        let server = ["--nameserver", "127.0.0.9"];
        let seen = entrant.sees(
            &server,
            "cat /etc/resolv.conf; grep ^hosts: /etc/nsswitch.conf",
        );
        assert_eq!(seen, "nameserver 127.0.0.9\nhosts: files dns\n");
        let hosts = entrant.sees(&server, "cat /etc/hosts");
        assert!(hosts.starts_with("127.0.0.1 localhost"), "{hosts}");
        let kept = entrant.sees(&[], "cat /etc/resolv.conf");
        assert_eq!(Some(kept), machine()[0]);
    }
    assert_eq!((machine(), mounts()), before);
}

/// A machine of systemd-resolved, made in a mount namespace of its own.
const LINKED: &str = "mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/resolve /run/o/u /run/o/w && \
    mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/o/u,workdir=/run/o/w /etc || exit 9; \
    echo nameserver 127.0.0.53 > /run/systemd/resolve/stub-resolv.conf && \
    ln -sf ../run/systemd/resolve/stub-resolv.conf /etc/resolv.conf && \
    touch /run/systemd/resolve/io.systemd.Resolve && shift && exec setpriv --reuid=$0 --clear-groups -- \"$@\"";

#[test]
fn a_resolver_configuration_that_is_a_link_is_replaced_and_its_service_hidden() {
    if !geteuid().is_root() {
        support::skip("this test mounts over /etc and must run as root");
        return;
    }
    for entrant in entrants("link") {
        let uid = if entrant.is_nobody { NOBODY } else { 0 }.to_string();
        let inside = "cat /etc/resolv.conf; ls /run/systemd/resolve";
        for (options, expected) in [
            (&["--nameserver", "127.0.0.9"][..], "nameserver 127.0.0.9"),
            (&[], "nameserver 127.0.0.53"),
        ] {
            let mut command = Command::new("unshare");
            command
                .args(["-m", "sh", "-c", LINKED, &uid, "-"])
                .arg(&entrant.program);
            command.args(["enter", "--here"]).args(options);
            let output = command.args(["--", "sh", "-c", inside]).output().unwrap();
            if output.status.code() == Some(9) {
                support::skip("no overlay over /etc here");
                return;
            }
            let seen = String::from_utf8(output.stdout).unwrap();
            assert_eq!(seen, format!("{expected}\nstub-resolv.conf\n"));
        }
    }
}

/// A root that is an ordinary folder, with what a program needs; says what it changed in the mounts outside.
const CHROOTED: &str = "cd \"$0\" && mkdir etc tmp && touch core && mount --bind \"$1\" core || exit 9; shift; \
    for folder in /bin /sbin /lib /lib32 /lib64 /usr /dev /proc; do \
        if [ -L $folder ]; then cp -P $folder .$folder; \
        elif [ -d $folder ]; then mkdir .$folder && mount --rbind $folder .$folder; fi || exit 9; \
    done; \
    for file in resolv.conf hosts nsswitch.conf; do echo >> etc/$file; done; \
    cat /proc/self/mountinfo > before; chroot . /core \"$@\" || exit $?; \
    cat /proc/self/mountinfo | diff before -";

/// The namespace's mounts are shared with the script's, where a mount made inside would be seen.
#[test]
fn a_root_that_is_no_mount_is_good_enough() {
    if !geteuid().is_root() {
        support::skip("only root can change its root");
        return;
    }
    let folder = std::env::temp_dir().join(format!("resolab-chroot-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "--propagation", "shared", "sh", "-c", CHROOTED])
        .arg(&folder)
        .arg(PROGRAM);
    command.args(["enter", "--here", "--nameserver", "127.0.0.9", "--"]);
    let inside = "cat /etc/resolv.conf; ls -d /core; pwd";
    let output = command.args(["sh", "-c", inside]).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let seen = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(seen, "nameserver 127.0.0.9\n/core\n/\n", "{said}");
    assert!(output.status.success(), "{said}");
}

#[test]
fn the_network_is_the_machines_and_the_user_stays_who_it_is() {
    let network = std::fs::read_link("/proc/self/ns/net").unwrap();
    for entrant in entrants("who") {
        let seen = entrant.sees(
            &[],
            "readlink /proc/self/ns/net; id -u; grep CapEff /proc/self/status",
        );
        let lines: Vec<&str> = seen.lines().collect();
        assert_eq!(Path::new(lines[0]), network);
        let uid = if entrant.is_nobody {
            NOBODY
        } else {
            geteuid().as_raw()
        };
        assert_eq!(lines[1], uid.to_string());
        if entrant.is_nobody {
            assert_eq!(lines[2], "CapEff:\t0000000000000000");
        }
    }
}

#[test]
fn root_may_have_it_run_as_somebody_else() {
    if !geteuid().is_root() {
        support::skip("only root can");
        return;
    }
    let options = ["--user", "nobody", "--nameserver", "127.0.0.9"];
    let script = "id -u; grep -e CapEff -e NoNewPrivs /proc/self/status; cat /etc/resolv.conf";
    let seen = Entrant::ourselves().sees(&options, script);
    let expected = "65534\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nnameserver 127.0.0.9\n";
    assert_eq!(seen, expected);
    let unknown = Entrant::ourselves().enter(&["--user", "no-such-user", "--", "true"]);
    assert_eq!(unknown.status.code(), Some(3));
    if let Some(nobody) = Entrant::nobody("else") {
        let refused = nobody.enter(&["--user", "root", "--", "true"]);
        assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    }
}

#[test]
fn a_stub_on_loopback_answers_the_c_library_inside() {
    if !geteuid().is_root() {
        support::skip("port 53 is root's");
        return;
    }
    let pid = std::process::id();
    let address = format!("127.99.{}.{}", pid >> 8 & 255, pid & 127);
    let Some(_stub) = RunningStub::plain(&format!("{address}:53"), &[]) else {
        support::skip("port 53 of loopback addresses is taken here");
        return;
    };
    for entrant in entrants("stub") {
        let found = entrant.sees(
            &["--nameserver", &address],
            "getent ahostsv4 www.example.test",
        );
        assert!(found.starts_with(ANSWER), "{found}");
    }
}

/// A shell starts it and says its program's id; the shell is killed.
#[test]
fn nothing_is_left_when_the_caller_is_killed() {
    for entrant in entrants("left") {
        let mut shell = Command::new("sh");
        if entrant.is_nobody {
            shell.uid(NOBODY).gid(NOBODY);
        }
        // Not the last command of the shell, which would become it.
        let script =
            "\"$0\" enter --here -- sh -c 'grep NSpid /proc/self/status; exec sleep 60' & wait; :";
        shell.args(["-c", script]).arg(&entrant.program);
        let mut shell = shell.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(shell.stdout.take().unwrap()).lines();
        assert!(lines.next().unwrap().unwrap().starts_with("NSpid"));
        let supervisor = children(Pid::from_raw(shell.id() as i32))[0];
        kill(Pid::from_raw(shell.id() as i32), Signal::SIGKILL).unwrap();
        shell.wait().unwrap();
        // The pipe ends when nobody has it any more, the program included.
        assert!(lines.next().is_none());
        assert!(
            support::has_gone(supervisor.as_raw()),
            "{supervisor} goes on"
        );
    }
}

fn children(parent: Pid) -> Vec<Pid> {
    let file = format!("/proc/{parent}/task/{parent}/children");
    let list = std::fs::read_to_string(file).unwrap();
    let pids = list.split_whitespace().map(|pid| pid.parse().unwrap());
    pids.map(Pid::from_raw).collect()
}

#[test]
fn a_place_must_be_named_and_only_one() {
    for wrong in [
        &["enter", "--", "true"][..],
        &["enter", "--here", "--host", "client", "--", "true"],
        &[
            "enter", "--here", "--path", "1", "--host", "client", "--", "true",
        ],
    ] {
        let output = Command::new(PROGRAM).args(wrong).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}
