//! The path with `--backend packet`, end to end: everything its devices do otherwise than TUN's.
//! What both have in common is tested in `path`.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;
use crate::support::Lab;
use crate::support::probe::{self, quantile};
use nix::sched::{CloneFlags, setns};
use resolab_link::hosts::Host;
use resolab_link::hosts::anchor::find_anchor;
use resolab_record::{DirectionSummary, PathBackend};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const OPTIONS: [&str; 2] = ["--backend", "packet"];
const CLIENT: &str = "10.77.0.2:4000";
const SERVER: &str = "10.77.0.1:4000";
/// Never set up by anybody: any address of the server network must do.
const ORIGIN: &str = "10.77.1.42:4000";
/// As nobody in particular.
const ORDINARY_USER: &str = "1001";
/// A program that sends to a closed port until it has been told so three times.
const SENDING: &str = "
import socket
for _ in range(3):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(('10.77.1.9', 9))
        probe.settimeout(5)
        probe.send(b'x')
        try:
            probe.recv(1)
            raise SystemExit('an answer nobody gave')
        except ConnectionRefusedError:
            pass
";
const ONE_MS: &str = "one_way_delay_ms = 1";

/// A path whose hosts the test can reach into.
fn open_as_root(up: &str, down: &str) -> Option<Lab> {
    let lab = Lab::open_with(up, down, &OPTIONS)?;
    if lab.ready.rootless {
        support::skip("this test opens sockets inside the path's hosts and must run as root");
        return None;
    }
    Some(lab)
}

fn assert_nothing_lost(direction: &DirectionSummary) {
    assert_eq!(direction.dropped_device_count, 0);
    assert_eq!(direction.packets_in_count, direction.packets_out_count);
}

#[test]
fn delay_is_as_asked_in_each_direction_and_for_any_origin() {
    let Some(mut lab) = open_as_root("one_way_delay_ms = 20", "one_way_delay_ms = 5") else {
        return;
    };
    assert_eq!(lab.ready.backend, PathBackend::Packet);
    let client = lab.socket(Host::Client, CLIENT);
    let gap = Duration::from_millis(2);
    for address in [SERVER, ORIGIN] {
        let server = lab.socket(Host::Server, address);
        for (from, to, wanted_ms) in [(&client, &server, 20), (&server, &client, 5)] {
            let arrivals = probe::run(from, to, 100, 100, gap);
            let mut delays: Vec<u64> = arrivals.iter().map(probe::Arrival::delay_ns).collect();
            assert_eq!(delays.len(), 100);
            assert!(quantile(&mut delays, 0.0) >= wanted_ms * 1_000_000, "early");
            // The quicker ones: a machine that pauses makes packets late, a wrong link all.
            let quick_ns = quantile(&mut delays, 0.2);
            assert!(quick_ns < (wanted_ms + 4) * 1_000_000, "{quick_ns}");
        }
    }
    let totals = lab.summary("delay").totals;
    assert_eq!(totals.backend, PathBackend::Packet);
    assert_eq!(
        (totals.up.packets_in_count, totals.down.packets_in_count),
        (200, 200)
    );
    assert_nothing_lost(&totals.up);
    assert_nothing_lost(&totals.down);
    // Nothing but the probes: no ARP, no router solicitations.
    assert_eq!(totals.unrecognised_packets_count, 0);
}

#[test]
fn packets_are_cut_at_the_mtu_and_it_can_be_changed() {
    let Some(mut lab) = open_as_root(ONE_MS, ONE_MS) else {
        return;
    };
    let client = lab.socket(Host::Client, CLIENT);
    let server = lab.socket(Host::Server, SERVER);
    let counts = |lab: &mut Lab, bytes: usize| {
        assert_eq!(
            probe::run(&client, &server, 1, bytes, Duration::ZERO).len(),
            1
        );
        let up = lab.summary("mtu").totals.up;
        assert_nothing_lost(&up);
        (up.packets_in_count, up.bytes_in_bytes)
    };
    assert_eq!(counts(&mut lab, 1_500), (1, 1_500));
    assert_eq!(counts(&mut lab, 1_501), (2, 1_521));
    // 65,507 bytes of payload, 1,480 of the datagram in each packet.
    assert_eq!(counts(&mut lab, 65_535).0, 45);
    let mut profile = lab.ready.profile.clone();
    profile.mtu_bytes = Some(1_280);
    lab.set_profile(profile.clone(), None);
    assert_eq!(counts(&mut lab, 1_400).0, 2);
    profile.mtu_bytes = Some(1_900);
    lab.set_profile(profile.clone(), None);
    assert_eq!(counts(&mut lab, 1_900), (1, 1_900));
    profile.mtu_bytes = Some(9_000);
    let command = resolab_record::PathCommand::SetProfile {
        id: 99,
        profile: Box::new(profile),
        seed: None,
        hold_schedule: false,
    };
    let error = lab.command(&command).1.error.unwrap();
    assert!(error.contains("start it with --mtu 9000"), "{error}");
}

#[test]
fn large_packets_pass_where_the_path_was_started_for_them() {
    let options = [&OPTIONS[..], &["--mtu", "65535"]].concat();
    let Some(mut lab) = Lab::open_with(ONE_MS, ONE_MS, &options) else {
        return;
    };
    if lab.ready.rootless {
        return;
    }
    let client = lab.socket(Host::Client, CLIENT);
    let server = lab.socket(Host::Server, SERVER);
    assert_eq!(
        probe::run(&client, &server, 20, 65_535, Duration::ZERO).len(),
        20
    );
    let up = lab.summary("large").totals.up;
    assert_eq!((up.packets_in_count, up.bytes_in_bytes), (20, 20 * 65_535));
    assert_nothing_lost(&up);
}

#[test]
fn the_stamp_is_the_arrival_however_late_the_ferry_reads() {
    let Some(mut lab) = open_as_root("one_way_delay_ms = 200", ONE_MS) else {
        return;
    };
    let client = lab.socket(Host::Client, CLIENT);
    let server = lab.socket(Host::Server, SERVER);
    let pid = lab.ready.pid;
    let stopping = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        send("STOP", pid);
        std::thread::sleep(Duration::from_millis(100));
        send("CONT", pid);
    });
    let arrivals = probe::run(&client, &server, 50, 100, Duration::from_millis(2));
    stopping.join().unwrap();
    // A TUN device would have counted the packets of that tenth of a second as come at its end.
    let mut delays: Vec<u64> = arrivals.iter().map(probe::Arrival::delay_ns).collect();
    assert_eq!(delays.len(), 50);
    let (least_ns, median_ns) = (quantile(&mut delays, 0.0), quantile(&mut delays, 0.5));
    assert!(least_ns >= 200_000_000, "{least_ns}");
    assert!(median_ns < 230_000_000, "{median_ns}");
    assert_nothing_lost(&lab.summary("stopped").totals.up);
}

#[test]
fn a_full_ring_is_the_devices_loss() {
    let Some(mut lab) = open_as_root(ONE_MS, ONE_MS) else {
        return;
    };
    let client = lab.socket(Host::Client, CLIENT);
    let server = lab.socket(Host::Server, SERVER);
    let (sent_count, fitting_count) = (12_000, 10_000);
    send("STOP", lab.ready.pid);
    for _ in 0..sent_count {
        client
            .send_to(&[0; 100], server.local_addr().unwrap())
            .unwrap();
    }
    send("CONT", lab.ready.pid);
    let (mut taken_count, mut lost_count) = (0, 0);
    wait_until("every packet is accounted for", || {
        let up = lab.summary("ring").totals.up;
        taken_count += up.packets_in_count;
        lost_count += up.dropped_device_count;
        taken_count + lost_count >= sent_count
    });
    assert_eq!(taken_count + lost_count, sent_count);
    assert!(
        taken_count >= fitting_count && lost_count > 0,
        "{taken_count}"
    );
}

/// The receiver reads what was sent, so every checksum was right, and no packet was larger than the
/// MTU: the device would have counted it as lost.
#[test]
fn tcp_and_segmented_udp_are_real_packets_both_ways() {
    let Some(mut lab) = Lab::open_with(ONE_MS, ONE_MS, &OPTIONS) else {
        return;
    };
    let script = |name| {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/support")
            .join(name)
    };
    let mut server = lab
        .enter("server")
        .args(["--", "python3"])
        .arg(script("bulk.py"))
        .args(["serve", "10.77.1.7", "4001"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_line(&mut server);
    let client = lab
        .enter("client")
        .args(["--", "python3"])
        .arg(script("bulk.py"))
        .args(["exchange", "10.77.1.7", "4001"])
        .output()
        .unwrap();
    // Still waiting if the client failed.
    let _ = server.kill();
    let _ = server.wait();
    let said = String::from_utf8_lossy(&client.stdout);
    assert_eq!(said.trim(), "tcp 8000000 udp 40", "{client:?}");
    let summary = lab.summary("bulk");
    for direction in [&summary.totals.up, &summary.totals.down] {
        assert_nothing_lost(direction);
        let mean_bytes = direction.bytes_in_bytes / direction.packets_in_count;
        assert!(mean_bytes <= 1_500, "{mean_bytes}");
        assert!(direction.packets_in_count > 8_000_000 / 1_500);
    }
    let tcp = summary
        .flows
        .iter()
        .find(|flow| flow.protocol == "tcp")
        .unwrap();
    assert!(tcp.up_bytes > 8_000_000 && tcp.down_bytes > 8_000_000);
}

/// The far ends and their namespace are nobody's but the path's.
#[test]
fn hosts_see_one_device_and_no_more() {
    let Some(lab) = Lab::open_with(ONE_MS, ONE_MS, &OPTIONS) else {
        return;
    };
    for host in ["client", "server"] {
        let output = lab
            .enter(host)
            .args(["--", "cat", "/proc/net/dev"])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut devices: Vec<_> = text
            .lines()
            .filter_map(|line| Some(line.split_once(':')?.0.trim()))
            .filter(|name| ["lo", "access0", "client", "server"].contains(name))
            .collect();
        devices.sort_unstable();
        assert_eq!(devices, ["access0", "lo"]);
    }
}

/// Watched from a thread in the client's host, whose end goes only when the far side goes.
#[test]
fn nothing_outlives_a_killed_path() {
    let Some(mut lab) = open_as_root(ONE_MS, ONE_MS) else {
        return;
    };
    let anchor = find_anchor(lab.pid(), Host::Client).unwrap();
    let namespace = std::fs::File::open(format!("/proc/{anchor}/ns/net")).unwrap();
    std::thread::spawn(move || {
        setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
        let has_device = || {
            let devices = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
            devices.contains("access0:")
        };
        assert!(has_device());
        send("KILL", lab.ready.pid);
        lab.process.wait().unwrap();
        wait_until("the far side is gone", || !has_device());
        wait_until("the anchor is gone", || {
            !Path::new(&format!("/proc/{anchor}/ns/net")).exists()
        });
    })
    .join()
    .unwrap();
}

/// A browser that starts at once would otherwise see the network change a second later.
#[test]
fn devices_are_running_when_the_path_says_it_is_ready() {
    let Some(lab) = Lab::open_with(ONE_MS, ONE_MS, &OPTIONS) else {
        return;
    };
    for host in ["client", "server"] {
        let output = lab
            .enter(host)
            .args(["--", "ip", "-o", "link", "show", "access0"])
            .output()
            .unwrap();
        if !output.status.success() {
            support::skip("reading a device's flags takes ip(8)");
            return;
        }
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            text.contains("state UP") && text.contains("NOARP"),
            "{text}"
        );
    }
}

#[test]
fn a_device_taken_away_ends_the_path_and_says_so() {
    let Some(mut lab) = open_as_root(ONE_MS, ONE_MS) else {
        return;
    };
    let Ok(output) = lab
        .enter("client")
        .args(["--", "ip", "link", "delete", "access0"])
        .output()
    else {
        return;
    };
    if !output.status.success() {
        support::skip("deleting a device takes ip(8)");
        return;
    }
    assert_eq!(lab.process.wait().unwrap().code(), Some(70));
}

#[test]
fn an_ordinary_user_gets_the_same() {
    if !nix::unistd::geteuid().is_root() {
        support::skip("becoming an ordinary user takes root; the other tests ran as one");
        return;
    }
    let program = program_for_everybody();
    let lab = Lab::open_as_user(ORDINARY_USER, &program, ONE_MS, ONE_MS, &OPTIONS);
    let said = lab.map(|mut lab| {
        assert!(lab.ready.rootless);
        let output = as_ordinary_user(&program)
            .args(["enter", "--path", &lab.ready.pid.to_string()])
            .args(["--host", "client", "--", "python3", "-c", SENDING])
            .output()
            .unwrap();
        (output, lab.summary("rootless").totals)
    });
    std::fs::remove_file(&program).unwrap();
    let Some((output, totals)) = said else {
        return;
    };
    assert!(output.status.success(), "{output:?}");
    // Three datagrams, and as many answers that nobody listens there.
    assert_eq!(
        (totals.up.packets_in_count, totals.down.packets_out_count),
        (3, 3)
    );
    assert_nothing_lost(&totals.up);
}

fn program_for_everybody() -> PathBuf {
    let program = std::env::temp_dir().join(format!("resolab-core-{}", std::process::id()));
    support::copy_program(&program);
    program
}

fn as_ordinary_user(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args([
            "--reuid",
            ORDINARY_USER,
            "--regid",
            ORDINARY_USER,
            "--clear-groups",
        ])
        .arg(program);
    command
}

fn wait_for_line(process: &mut std::process::Child) {
    use std::io::{BufRead, BufReader};
    let mut line = String::new();
    BufReader::new(process.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(!line.is_empty(), "the program ended");
}

fn send(signal: &str, pid: u32) {
    let status = Command::new("kill")
        .args([format!("-{signal}"), pid.to_string()])
        .status();
    assert!(status.unwrap().success());
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let patience = Instant::now();
    while !done() {
        assert!(
            patience.elapsed() < Duration::from_secs(10),
            "waited in vain until {what}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
