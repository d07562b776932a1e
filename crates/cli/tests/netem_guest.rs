//! The netem back end beside the TUN one, asked and got, measured from outside with real packets.
//! For a kernel that has sch_netem: `scripts/netem-guest` runs it in a virtual machine, whose clock
//! and scheduling are too coarse for figures below a millisecond. Not a pass-or-fail test, hence
//! ignored, but packets that nobody accounts for fail it.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

mod support;

use nix::fcntl::{OFlag, open};
use nix::sched::{CloneFlags, setns};
use nix::sys::stat::Mode;
use resolab_link::hosts::Host;
use resolab_link::hosts::anchor::find_anchor;
use resolab_record::DirectionSummary;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};
use support::Lab;
use support::probe::{self, Arrival, quantile};

const BACKENDS: [&str; 2] = ["netem", "tun"];
const CLIENT: &str = "10.77.0.2:4000";
const SERVER: &str = "10.77.0.1:4000";
const CLIENT_V6: &str = "[fd00:77::2]:4000";
/// Never set up by anybody: any address of the server network must do.
const ORIGIN_V6: &str = "[fd00:77:0:1::42]:4000";
const NO_GAP: Duration = Duration::ZERO;
const SHORT_GAP: Duration = Duration::from_micros(100);
const PROBE_GAP: Duration = Duration::from_millis(3);

#[test]
#[ignore = "a measurement to be read by a person"]
fn asked_and_got() {
    println!("| element | back end | way | asked | got |\n|---|---|---|---|---|");
    for backend in BACKENDS {
        delays(backend);
        links(backend);
        rates(backend);
        queues(backend);
        losses(backend);
        bursts(backend);
        jitter(backend);
        bulk(backend);
        changes(backend);
    }
}

fn row(element: &str, backend: &str, way: &str, asked: &str, got: &str) {
    println!("| {element} | {backend} | {way} | {asked} | {got} |");
}

fn path(backend: &str, up: &str, down: &str) -> Lab {
    Lab::open_with(up, down, &["--backend", backend, "--ipv6"]).expect("a path")
}

/// Probes from `from` to the other host, and what the path says of that direction.
fn run(
    lab: &mut Lab,
    from: Host,
    count: usize,
    bytes: usize,
    gap: Duration,
) -> (Vec<Arrival>, DirectionSummary) {
    let client = lab.socket(Host::Client, CLIENT);
    let server = lab.socket(Host::Server, SERVER);
    lab.summary("before");
    let arrivals = match from {
        Host::Client => probe::run(&client, &server, count, bytes, gap),
        Host::Server => probe::run(&server, &client, count, bytes, gap),
    };
    let totals = lab.summary("probes").totals;
    let counted = match from {
        Host::Client => totals.up,
        Host::Server => totals.down,
    };
    let dropped = counted.dropped_loss_count
        + counted.dropped_queue_count
        + counted.dropped_codel_count
        + counted.dropped_device_count;
    assert_eq!(counted.packets_in_count, count as u64);
    assert_eq!(counted.bytes_in_bytes, (count * bytes) as u64);
    assert_eq!(
        counted.packets_in_count,
        counted.packets_out_count + dropped
    );
    assert_eq!(counted.packets_out_count, arrivals.len() as u64);
    assert_eq!(counted.dropped_device_count, 0);
    (arrivals, counted)
}

fn ways() -> [(&'static str, Host); 2] {
    [("up", Host::Client), ("down", Host::Server)]
}

fn delays_ns(arrivals: &[Arrival]) -> Vec<u64> {
    arrivals.iter().map(Arrival::delay_ns).collect()
}

fn spread(arrivals: &[Arrival]) -> String {
    let mut delays = delays_ns(arrivals);
    let mut at = |ratio| quantile(&mut delays, ratio) as f64 / 1e6;
    format!("p50 {:.3} ms, p99 {:.3} ms", at(0.5), at(0.99))
}

fn delays(backend: &str) {
    for delay_ms in [0.0, 7.4, 26.65] {
        let direction = format!("one_way_delay_ms = {delay_ms:?}");
        let mut lab = path(backend, &direction, &direction);
        for (way, from) in ways() {
            let (arrivals, _) = run(&mut lab, from, 600, 100, PROBE_GAP);
            let asked = format!("{delay_ms} ms");
            row("delay", backend, way, &asked, &spread(&arrivals));
        }
    }
    let lab = path(backend, "one_way_delay_ms = 20", "one_way_delay_ms = 20");
    let client = lab.socket(Host::Client, CLIENT_V6);
    let origin = lab.socket(Host::Server, ORIGIN_V6);
    let arrivals = probe::run(&client, &origin, 200, 120, PROBE_GAP);
    assert_eq!(arrivals.len(), 200);
    row("delay, IPv6", backend, "up", "20 ms", &spread(&arrivals));
}

/// A packet on an idle link takes its time on it, too: here 12 ms.
fn links(backend: &str) {
    let up = "one_way_delay_ms = 10\nrate_bps = 1_000_000";
    let mut lab = path(backend, up, "one_way_delay_ms = 10");
    let (arrivals, _) = run(&mut lab, Host::Client, 60, 1_500, Duration::from_millis(30));
    let asked = "10 ms + 1,500 bytes at 1 Mbit/s = 22 ms";
    row("link, idle", backend, "up", asked, &spread(&arrivals));
}

fn rates(backend: &str) {
    for (rate_bps, overhead_bytes, count) in [
        (842_152.0, 0, 150),
        (4_224_283.0, 0, 700),
        (4_224_283.0, 40, 700),
        (10_734_760.0, 0, 1_500),
    ] {
        let direction = format!(
            "one_way_delay_ms = 10\nrate_bps = {rate_bps:?}\nqueue_bytes = 100_000_000\n\
             packet_overhead_bytes = {overhead_bytes}"
        );
        let mut lab = path(backend, &direction, &direction);
        for (way, from) in ways() {
            let (arrivals, counted) = run(&mut lab, from, count, 1_500, NO_GAP);
            assert_eq!(counted.packets_out_count, count as u64);
            // The median over pairs half a train apart: one late packet does not count, nor do the
            // first, which find the sender slower than the link.
            let train = &arrivals[count / 4..];
            let half = train.len() / 2;
            let bits = (half * (1_500 + overhead_bytes)) as f64 * 8e9;
            let median_bps = |at_ns: fn(&Arrival) -> u64| {
                let pairs = train.iter().zip(&train[half..]);
                let mut spans: Vec<u64> = pairs
                    .map(|(first, last)| at_ns(last) - at_ns(first))
                    .collect();
                bits / quantile(&mut spans, 0.5) as f64
            };
            let got_bps = median_bps(|arrival| arrival.received_ns);
            let sent_bps = median_bps(|arrival| arrival.sent_ns);
            let asked = format!("{rate_bps} bit/s, {overhead_bytes} bytes of overhead");
            let got = format!(
                "{got_bps:.0} bit/s ({:+.4} %), sent at {:.0} times the rate",
                (got_bps / rate_bps - 1.0) * 100.0,
                sent_bps / rate_bps
            );
            row("rate", backend, way, &asked, &got);
        }
    }
}

/// All at once onto a slow link: one on it, and those the queue has room for.
fn queues(backend: &str) {
    for (queue, asked) in [
        ("queue_bytes = 30_000", "30,000 bytes: 21 of 100"),
        ("queue_packets = 20", "20 packets: 21 of 100"),
    ] {
        let up = format!("one_way_delay_ms = 1\nrate_bps = 200_000\n{queue}");
        let mut lab = path(backend, &up, "one_way_delay_ms = 1");
        let (_, counted) = run(&mut lab, Host::Client, 100, 1_500, NO_GAP);
        let got = format!(
            "{} came through, {} found the queue full",
            counted.packets_out_count, counted.dropped_queue_count
        );
        row("queue, droptail", backend, "up", asked, &got);
    }
}

fn losses(backend: &str) {
    const COUNT: usize = 20_000;
    let [up, down] = ways();
    for (loss_ratio, ways) in [
        (0.005_f64, &[up][..]),
        (0.015, &[up, down]),
        (0.021, &[down]),
    ] {
        let direction = format!("one_way_delay_ms = 5\nloss_ratio = {loss_ratio:?}");
        let mut lab = path(backend, &direction, &direction);
        for (way, from) in ways {
            let (_, counted) = run(&mut lab, *from, COUNT, 100, SHORT_GAP);
            let lost = counted.dropped_loss_count as f64 / COUNT as f64;
            let error = (loss_ratio * (1.0 - loss_ratio) / COUNT as f64).sqrt();
            let got = format!(
                "{:.3} % ({:+.1} standard errors of {:.3} %)",
                lost * 100.0,
                (lost - loss_ratio) / error,
                error * 100.0
            );
            let asked = format!("{} % of {COUNT}", loss_ratio * 100.0);
            row("loss", backend, way, &asked, &got);
        }
    }
}

fn bursts(backend: &str) {
    const COUNT: usize = 20_000;
    let chain = "{ good_to_bad_ratio = 0.005, bad_to_good_ratio = 0.3 }";
    let up = format!("one_way_delay_ms = 5\ngilbert_elliott = {chain}");
    let mut lab = path(backend, &up, "one_way_delay_ms = 5");
    let (arrivals, _) = run(&mut lab, Host::Client, COUNT, 100, SHORT_GAP);
    let indices: Vec<usize> = arrivals.iter().map(|arrival| arrival.index).collect();
    let bursts = indices
        .windows(2)
        .filter(|pair| pair[1] > pair[0] + 1)
        .count();
    let lost = COUNT - indices.len();
    let mean = 0.005_f64 / 0.305;
    let memory = 1.0 - 0.305;
    let variance = mean * (1.0 - mean) * (1.0 + memory) / (1.0 - memory) / COUNT as f64;
    let got = format!(
        "{:.3} % ({:+.1} standard errors of {:.3} %), bursts of {:.2}",
        lost as f64 / COUNT as f64 * 100.0,
        (lost as f64 / COUNT as f64 - mean) / variance.sqrt(),
        variance.sqrt() * 100.0,
        lost as f64 / bursts as f64
    );
    row(
        "loss in bursts",
        backend,
        "up",
        "1.639 % in bursts of 3.33",
        &got,
    );
}

fn jitter(backend: &str) {
    let jitter = "{ standard_deviation_ms = 3, per_packet_reordering = true }";
    let up = format!("one_way_delay_ms = 26.65\nrate_bps = 10_000_000\njitter = {jitter}");
    let mut lab = path(backend, &up, "one_way_delay_ms = 5");
    let (arrivals, _) = run(
        &mut lab,
        Host::Client,
        3_000,
        100,
        Duration::from_micros(900),
    );
    let delays = delays_ns(&arrivals);
    let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64;
    let squares: f64 = delays
        .iter()
        .map(|delay| (*delay as f64 - mean).powi(2))
        .sum();
    let overtaken = arrivals
        .windows(2)
        .filter(|pair| pair[1].index < pair[0].index)
        .count();
    let got = format!(
        "{:.3} ms, deviation {:.3} ms, {:.0} % came before the one sent before",
        mean / 1e6,
        (squares / delays.len() as f64).sqrt() / 1e6,
        overtaken as f64 / arrivals.len() as f64 * 100.0
    );
    row(
        "jitter per packet",
        backend,
        "up",
        "26.73 ms, deviation 3 ms",
        &got,
    );
}

/// TCP must find the queue, not be held back before it: it fills it until it drops.
fn bulk(backend: &str) {
    for (queue, asked) in [
        ("queue_bytes = 60_000", "queue of 60,000 bytes"),
        ("queue_discipline = \"codel\"", "CoDel"),
    ] {
        let up = format!("one_way_delay_ms = 10\nrate_bps = 5_000_000\n{queue}");
        let mut lab = path(backend, &up, "one_way_delay_ms = 10");
        let got_bps = send_for(&lab, Duration::from_secs(6));
        let counted = lab.summary("bulk").totals.up;
        let got = format!(
            "{:.2} Mbit/s, dropped {} (queue full) + {} (CoDel) of {}, mean packet {} bytes",
            got_bps / 1e6,
            counted.dropped_queue_count,
            counted.dropped_codel_count,
            counted.packets_in_count,
            counted.bytes_in_bytes / counted.packets_in_count
        );
        let asked = format!("5 Mbit/s, {asked}; at most 4.83");
        row("TCP for 6 s", backend, "up", &asked, &got);
    }
}

/// One TCP flow up; returns what it got through per second.
fn send_for(lab: &Lab, time: Duration) -> f64 {
    let listener = in_host(lab, Host::Server, || TcpListener::bind(SERVER).unwrap());
    let sink = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut buffer, mut total, started) = (vec![0; 1 << 16], 0, Instant::now());
        while let Ok(length @ 1..) = stream.read(&mut buffer) {
            total += length;
        }
        total as f64 * 8.0 / started.elapsed().as_secs_f64()
    });
    let mut stream = in_host(lab, Host::Client, || TcpStream::connect(SERVER).unwrap());
    let started = Instant::now();
    while started.elapsed() < time {
        stream.write_all(&[0; 16_384]).unwrap();
    }
    drop(stream);
    sink.join().unwrap()
}

fn changes(backend: &str) {
    let slow = "one_way_delay_ms = 5\nrate_bps = 1_000_000\nqueue_bytes = 30_000";
    let mut lab = path(backend, slow, "one_way_delay_ms = 5");
    let (arrivals, _) = run(&mut lab, Host::Client, 50, 125, PROBE_GAP);
    row("before a change", backend, "up", "6 ms", &spread(&arrivals));
    let mut profile = lab.ready.profile.clone();
    "faster".clone_into(&mut profile.name);
    profile.mtu_bytes = Some(1_280);
    profile.up.one_way_delay_ms = 30.0;
    profile.up.rate_bps = None;
    profile.up.queue_bytes = None;
    lab.set_profile(profile.clone(), None);
    let (arrivals, _) = run(&mut lab, Host::Client, 50, 125, PROBE_GAP);
    row("after a change", backend, "up", "30 ms", &spread(&arrivals));
    profile.up.rate_bps = Some(1e6);
    profile.up.queue_packets = Some(10);
    lab.set_profile(profile, None);
    let (arrivals, _) = run(&mut lab, Host::Client, 50, 125, PROBE_GAP);
    row("after another", backend, "up", "31 ms", &spread(&arrivals));
}

/// Do something in a host's network namespace.
fn in_host<T: Send + 'static>(
    lab: &Lab,
    host: Host,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let anchor = find_anchor(lab.pid(), host).unwrap();
    let thread = std::thread::spawn(move || {
        let file = format!("/proc/{anchor}/ns/net");
        let namespace = open(file.as_str(), OFlag::O_RDONLY, Mode::empty()).unwrap();
        setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
        work()
    });
    thread.join().unwrap()
}
