//! An internet of three hosts, end to end: what takes how long, what is counted, what is left.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;
use crate::support::internet::{Internet, as_ordinary_user};
use crate::support::pcapng::{self, CaptureFile};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const HOSTS: &str = r#"
[[host]]
name = "home"
one_way_ms = 5.0
[[host.network]]
prefix = "198.18.0.2/32"

[[host]]
name = "a-resolver-far-away"
one_way_ms = 2.5
[[host.network]]
prefix = "198.18.8.1/32"
[[host.network]]
prefix = "198.18.9.0/24"
extra_one_way_ms = 30.0

[[host]]
name = "third"
[[host.network]]
prefix = "198.18.10.0/24"
"#;
const FAR: &str = "a-resolver-far-away";
/// A processor that others have is no error of the program's, a way forgotten or taken twice is.
const SLACK_MS: f64 = 4.0;

/// Sends everything back until dropped.
struct Echo {
    stops: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Echo {
    fn start(socket: UdpSocket) -> Self {
        socket
            .set_read_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        let stops = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stops);
        let thread = thread::spawn(move || {
            let mut buffer = [0; 2_000];
            while !stopping.load(Ordering::Relaxed) {
                if let Ok((length, asker)) = socket.recv_from(&mut buffer) {
                    let _ = socket.send_to(&buffer[..length], asker);
                }
            }
        });
        Self {
            stops,
            thread: Some(thread),
        }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
        let _ = self.thread.take().unwrap().join();
    }
}

/// One round trip; `None` without an answer. A read with a timeout that a signal interrupts is not
/// begun again by the system (signal(7)): it is here, for what is left of the time.
fn ask(asker: &UdpSocket, server: &str, patience_ms: u64) -> Option<f64> {
    let patience = Duration::from_millis(patience_ms);
    let began = Instant::now();
    asker.send_to(b"question", server).unwrap();
    while let Some(left) = patience
        .checked_sub(began.elapsed())
        .filter(|left| !left.is_zero())
    {
        asker.set_read_timeout(Some(left)).unwrap();
        match asker.recv_from(&mut [0; 100]) {
            Ok(_) => return Some(began.elapsed().as_secs_f64() * 1e3),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                break;
            }
            Err(error) => panic!("asked {server}: {error}"),
        }
    }
    None
}

/// The shortest and the median of a few round trips.
fn round_trips_ms(asker: &UdpSocket, server: &str) -> (f64, f64) {
    let mut round_trips: Vec<_> = (0..15)
        .map(|_| ask(asker, server, 5_000).expect("an answer"))
        .collect();
    round_trips.sort_by(f64::total_cmp);
    (round_trips[0], round_trips[7])
}

fn assert_takes(asker: &UdpSocket, server: &str, expected_ms: f64) {
    let (shortest_ms, median_ms) = round_trips_ms(asker, server);
    assert!(
        shortest_ms >= expected_ms,
        "{shortest_ms} of {expected_ms} ms"
    );
    assert!(
        shortest_ms < expected_ms + SLACK_MS,
        "{shortest_ms}, median {median_ms}, of {expected_ms} ms"
    );
}

#[test]
fn a_way_takes_both_hosts_and_what_the_prefix_adds_and_is_counted() {
    let Some(mut internet) = Internet::open(HOSTS) else {
        return;
    };
    let _near = Echo::start(internet.socket(FAR, "198.18.8.1:53"));
    let _far = Echo::start(internet.socket(FAR, "198.18.9.200:443"));
    let _third = Echo::start(internet.socket("third", "198.18.10.7:53"));
    let home = internet.socket("home", "0.0.0.0:0");
    assert_takes(&home, "198.18.8.1:53", 15.0);
    assert_takes(&home, "198.18.9.200:443", 75.0);
    assert_takes(&home, "198.18.10.7:53", 10.0);
    // Between two hosts of which neither is home, from an address of the server's choice.
    let third = internet.socket("third", "198.18.10.99:0");
    assert_takes(&third, "198.18.8.1:53", 5.0);

    for _ in 0..3 {
        home.send_to(b"to nobody", "198.18.77.1:53").unwrap();
    }
    let sent = |record: &resolab_record::InternetFlowsRecord, host: &str, address: &str| {
        let mut flows = record.flows.iter();
        let flow = flows.find(|flow| {
            flow.source_host == host && flow.destination_address.to_string() == address
        });
        flow.map(|flow| (flow.destination_port, flow.packets_count, flow.total_bytes))
    };
    let record = internet.count();
    let question_bytes = 20 + 8 + 8;
    let fifteen = |port| Some((port, 15, 15 * question_bytes));
    assert_eq!(sent(&record, "home", "198.18.8.1"), fifteen(Some(53)));
    assert_eq!(sent(&record, "home", "198.18.9.200"), fifteen(Some(443)));
    assert_eq!(sent(&record, "third", "198.18.8.1"), fifteen(Some(53)));
    // Answers go to ports the askers' kernels chose.
    assert_eq!(sent(&record, FAR, "198.18.10.99"), fifteen(None));
    assert_eq!(sent(&record, FAR, "198.18.0.2").unwrap().1, 30);
    assert_eq!(sent(&record, "home", "198.18.77.1").unwrap().1, 3);
    let nobodys = record
        .flows
        .iter()
        .filter(|flow| flow.destination_host.is_none());
    assert_eq!(nobodys.count(), 1);
    assert_eq!(
        (record.unowned_packets_count, record.delivered_packets_count),
        (3, 120)
    );
    assert_eq!(
        (record.dropped_device_count, record.unlisted_packets_count),
        (0, 0)
    );
    assert!(record.lateness_p50_ns.is_some());
    let silence = internet.count();
    assert_eq!((silence.flows.len(), silence.lateness_p50_ns), (0, None));
    assert_eq!(silence.window_start_ns, record.window_end_ns);
}

#[test]
fn a_host_can_be_moved_lose_everything_and_be_down() {
    let Some(mut internet) = Internet::open(HOSTS) else {
        return;
    };
    let _near = Echo::start(internet.socket(FAR, "198.18.8.1:53"));
    let home = internet.socket("home", "0.0.0.0:0");
    internet.set_host("home", r#""one_way_ms":20.0"#);
    assert_takes(&home, "198.18.8.1:53", 45.0);
    internet.set_host("home", r#""one_way_ms":0.0"#);
    internet.count();
    internet.set_host(FAR, r#""down":true"#);
    assert_eq!(ask(&home, "198.18.8.1:53", 100), None);
    assert_eq!(internet.count().dropped_down_count, 1);
    internet.set_host(FAR, r#""down":false"#);
    assert_takes(&home, "198.18.8.1:53", 5.0);
    internet.set_host("home", r#""loss_ratio":1.0"#);
    assert_eq!(ask(&home, "198.18.8.1:53", 100), None);
    assert_eq!(internet.count().lost_packets_count, 1);
    for (line, said) in [
        (
            r#"{"command":"set_host","id":7,"name":"nobody"}"#,
            "there are home, ",
        ),
        (
            r#"{"command":"set_host","id":7,"name":"home","loss_ratio":2}"#,
            "home: loss_ratio = 2",
        ),
        (
            r#"{"command":"set_host","id":7,"name":"home","speed":2}"#,
            "speed",
        ),
        (r#"{"command":"sumary","id":7}"#, "sumary"),
    ] {
        let (_, done) = internet.command_text(line);
        assert!(
            done.id == 7 && done.error.as_ref().unwrap().contains(said),
            "{done:?}"
        );
    }
    assert_eq!(internet.close(), Some(0));
}

/// Has `length` bytes of a known pattern sent from one host to another; returns how long it took.
fn transfer(internet: &Internet, from: (&str, &str), to: &str, length: usize) -> Duration {
    let byte = |at: usize| (at / 7 % 251) as u8;
    let address = from.1.to_owned();
    let listener = internet.inside(from.0, move || TcpListener::bind(address).unwrap());
    let server = from.1.to_owned();
    let serving = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let text: Vec<u8> = (0..length).map(byte).collect();
        stream.write_all(&text).unwrap();
    });
    let mut client = internet.inside(to, move || TcpStream::connect(server).unwrap());
    client
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let began = Instant::now();
    let mut got = Vec::new();
    client.read_to_end(&mut got).unwrap();
    serving.join().unwrap();
    assert_eq!(got.len(), length);
    assert!(
        got.iter()
            .enumerate()
            .all(|(at, received)| *received == byte(at))
    );
    began.elapsed()
}

#[test]
fn a_transfer_arrives_whole_through_trains_rates_queues_and_losses() {
    let hosts = HOSTS
        .replace(
            "name = \"third\"",
            "name = \"third\"\nrate_down_mbps = 20.0\nqueue_packets = 5",
        )
        .replace("one_way_ms = 2.5", "one_way_ms = 2.5\nrate_up_mbps = 40.0");
    let Some(mut internet) = Internet::open(&hosts) else {
        return;
    };
    let plain = "198.18.0.2:8000";
    let paced = "198.18.8.1:8000";
    // Whole trains out of a plain host: as many as there are, cut only before who has a rate.
    transfer(&internet, ("home", plain), FAR, 2_000_000);
    // 1 MB at 20 Mbit/s cannot take less than 0.4 s, at 40 Mbit/s not less than 0.2 s.
    let took = transfer(&internet, ("home", plain), "third", 1_000_000);
    assert!(took > Duration::from_millis(400), "{took:?}");
    assert!(internet.count().dropped_queue_count > 0);
    let took = transfer(&internet, (FAR, paced), "home", 1_000_000);
    assert!(took > Duration::from_millis(200), "{took:?}");
    internet.set_host("home", r#""loss_ratio":0.02"#);
    transfer(&internet, ("third", "198.18.10.1:8000"), "home", 300_000);
    let record = internet.count();
    assert!(record.lost_packets_count > 0 && record.dropped_device_count == 0);
}

#[test]
fn programs_are_placed_by_name_and_nothing_outlives_a_killed_internet() {
    let Some(mut internet) = Internet::open(HOSTS) else {
        return;
    };
    let run = |host: &str, script: &str| {
        let mut command = Command::new(support::PROGRAM);
        command.args(internet.enter_arguments(host));
        command.args(["sh", "-c", script]).output().unwrap()
    };
    let seen = run(FAR, "cat /proc/net/fib_trie /etc/resolv.conf");
    let seen = String::from_utf8(seen.stdout).unwrap();
    assert!(
        seen.contains("198.18.9.0") && seen.contains("nameserver 127.0.0.1"),
        "{seen}"
    );
    let missing = run("nobody", "true");
    assert_eq!(missing.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("none of this name"));

    let anchors = ["home", FAR, "third"].map(|host| internet.anchor(host));
    let namespaces = anchors.map(|pid| network_namespace(&pid.to_string()).unwrap());
    let mut guest = Command::new(support::PROGRAM)
        .args(internet.enter_arguments("third"))
        .args(["sh", "-c", "echo runs; sleep 600 & sleep 600"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    guest
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut [0; 4])
        .unwrap();
    internet.process.kill().unwrap();
    internet.process.wait().unwrap();
    assert_eq!(guest.wait().unwrap().code(), Some(137));
    let patience = Instant::now();
    while namespaces.iter().any(|namespace| in_use(namespace)) {
        assert!(
            patience.elapsed() < Duration::from_secs(10),
            "{namespaces:?} are in use"
        );
        thread::sleep(Duration::from_millis(20));
    }
}

fn network_namespace(pid: &str) -> Option<std::path::PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/ns/net")).ok()
}

fn in_use(namespace: &std::path::Path) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let pids = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    pids.filter_map(|pid| network_namespace(&pid))
        .any(|other| other == namespace)
}

#[test]
fn a_capture_has_every_packet_at_its_sender_and_its_receiver() {
    let file = CaptureFile::new("internet");
    let path = file.text();
    let Some(mut internet) = Internet::open_with(HOSTS, &["--pcap", &path]) else {
        return;
    };
    let echo = Echo::start(internet.socket("third", "198.18.10.7:53"));
    let home = internet.socket("home", "0.0.0.0:0");
    assert!(ask(&home, "198.18.10.7:53", 5_000).is_some());
    drop(echo);
    home.send_to(b"to nobody", "198.18.77.1:53").unwrap();
    internet.set_host(FAR, r#""down":true"#);
    home.send_to(b"in vain", "198.18.8.1:53").unwrap();
    while internet.count().dropped_down_count == 0 {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(internet.close(), Some(0));
    let packets = pcapng::read_among(file.path(), &["home", FAR, "third"]);
    let seen: Vec<_> = packets
        .iter()
        .map(|packet| {
            (
                packet.interface.as_str(),
                packet.outbound,
                packet.comment.as_str(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("home", true, ""),
            ("third", false, ""),
            ("third", true, ""),
            ("home", false, ""),
            ("home", true, "dropped: address is no host's"),
            ("home", true, ""),
            (FAR, false, "dropped: host down"),
        ]
    );
    let way_ns = packets[1].unix_ns - packets[0].unix_ns;
    assert!((5_000_000..9_000_000).contains(&way_ns), "{way_ns}");
}

#[test]
fn an_ordinary_user_can_have_one_too() {
    let program = std::env::temp_dir().join(format!("resolab-core-net-{}", std::process::id()));
    support::copy_program(&program);
    let internet = nix::unistd::geteuid()
        .is_root()
        .then(|| Internet::start(as_ordinary_user(&program), HOSTS, &[]));
    let Some(Some(mut internet)) = internet else {
        std::fs::remove_file(&program).unwrap();
        return;
    };
    assert!(internet.ready.rootless);
    let query = ["query", "--resolver", "udp://198.18.8.1", "a.test"];
    let output = as_ordinary_user(&program)
        .args(internet.enter_arguments("home"))
        .arg(&program)
        .args(query)
        .output();
    std::fs::remove_file(&program).unwrap();
    // The far host's own kernel said that nobody listens there.
    let output = output.unwrap();
    let records = String::from_utf8_lossy(&output.stdout);
    let counted = internet.count();
    let answered = |flow: &resolab_record::InternetFlow| flow.protocol == "1";
    assert!(counted.flows.iter().any(answered), "{counted:?}");
    assert!(records.contains("\"query_refused\""), "{output:?}");
}

#[test]
fn what_cannot_be_is_said_in_one_line_before_anything_is_made() {
    let file =
        std::env::temp_dir().join(format!("resolab-internet-bad-{}.toml", std::process::id()));
    for (text, said) in [
        ("[[host]]\nname = \"a\"\n", "missing field"),
        (
            &HOSTS.replace("198.18.10.0/24", "198.18.8.0/24"),
            "must have no address",
        ),
        (
            &HOSTS.replace("one_way_ms = 5.0", "delay_ms = 5.0"),
            "delay_ms",
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let mut command = Command::new(support::PROGRAM);
        command
            .args(["internet", "--config"])
            .arg(&file)
            .stdin(Stdio::null());
        let output = command.output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), message.lines().count()),
            (Some(3), 1),
            "{message}"
        );
        assert!(message.contains(said), "{message}");
    }
    std::fs::remove_file(file).unwrap();
}
