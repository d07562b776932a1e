//! Captures of the emulated path, end to end: real packets, the file read back.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;
use crate::support::Lab;
use crate::support::pcapng::{self, CaptureFile, Captured};
use crate::support::probe;
use resolab_link::hosts::Host;
use resolab_record::PathCommand;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

const CLIENT: &str = "10.77.0.2:4000";
const SERVER: &str = "10.77.0.1:4000";
/// Allowed between a stamp's difference and the delay asked for, on a busy test machine.
const TOLERANCE_NS: i64 = 5_000_000;

fn start_capture(lab: &mut Lab, file: &CaptureFile) -> Option<String> {
    let file = file.text();
    let (_, done) = lab.command(&PathCommand::StartCapture { id: 71, file });
    assert_eq!(done.id, 71);
    done.error
}

fn stop_capture(lab: &mut Lab) {
    let (_, done) = lab.command(&PathCommand::StopCapture { id: 72 });
    assert_eq!((done.id, done.error), (72, None));
}

/// The packets of a whole capture; as tshark reads them, too, where it is installed.
fn read(file: &CaptureFile) -> Vec<Captured> {
    let packets = pcapng::read(file.path());
    match pcapng::read_by_tshark(file.path()) {
        Some(by_tshark) => assert_eq!(by_tshark, packets),
        None => support::skip("tshark is not installed; only the file's structure was checked"),
    }
    packets
}

fn at<'a>(packets: &'a [Captured], interface: &str, comment: &str) -> Vec<&'a Captured> {
    let wanted = |packet: &&Captured| packet.interface == interface && packet.comment == comment;
    packets.iter().filter(wanted).collect()
}

#[test]
fn both_stamps_of_every_packet_and_what_was_lost() {
    let Some(mut lab) = Lab::open_as_root(
        "one_way_delay_ms = 20\nloss_ratio = 0.2",
        "one_way_delay_ms = 3",
    ) else {
        return;
    };
    let client = lab.socket(Host::Client, CLIENT);
    let server = lab.socket(Host::Server, SERVER);
    let gap = Duration::from_millis(1);
    probe::run(&client, &server, 5, 100, gap);
    lab.summary("before");
    let file = CaptureFile::new("stamps");
    assert_eq!(start_capture(&mut lab, &file), None);
    let up = probe::run(&client, &server, 200, 100, gap);
    let down = probe::run(&server, &client, 20, 200, gap);
    stop_capture(&mut lab);
    probe::run(&client, &server, 5, 100, gap);

    let packets = read(&file);
    let totals = lab.summary("after").totals;
    let lost = at(&packets, "client", "dropped: loss");
    let entered_up: Vec<_> = packets
        .iter()
        .filter(|packet| packet.interface == "client" && packet.outbound)
        .collect();
    assert_eq!(entered_up.len(), 200);
    assert_eq!(at(&packets, "server", "").len(), up.len() + 20);
    assert_eq!(lost.len(), 200 - up.len());
    assert!(lost.len() as u64 <= totals.up.dropped_loss_count && !lost.is_empty());
    assert_eq!(packets.len(), 200 + up.len() + 20 + down.len());
    for (sender, receiver, delay_ms) in [("client", "server", 20), ("server", "client", 3)] {
        let errors_ns = at(&packets, sender, "")
            .iter()
            .filter(|packet| packet.outbound)
            .map(|entered| {
                let delivered = at(&packets, receiver, "")
                    .into_iter()
                    .find(|packet| !packet.outbound && packet.payload == entered.payload)
                    .unwrap();
                delivered.unix_ns as i64 - entered.unix_ns as i64 - delay_ms * 1_000_000
            })
            .collect();
        assert_often_within(TOLERANCE_NS, errors_ns);
    }
    // The stamps are on the wall clock, by which the probes were sent.
    let errors_ns = up
        .iter()
        .map(|arrival| {
            let payload = (arrival.index as u64).to_be_bytes();
            let sent = entered_up
                .iter()
                .find(|packet| packet.payload.starts_with(&payload));
            sent.unwrap().unix_ns.abs_diff(arrival.sent_ns) as i64
        })
        .collect();
    assert_often_within(TOLERANCE_NS, errors_ns);
}

/// One in four at least: a machine that pauses makes packets late, wrong stamps would be wrong for
/// all of them.
fn assert_often_within(tolerance_ns: i64, mut errors_ns: Vec<i64>) {
    errors_ns.sort_unstable();
    let quick = errors_ns[errors_ns.len() / 4];
    assert!(errors_ns[0] >= 0, "{} ns before its time", errors_ns[0]);
    assert!(quick < tolerance_ns, "{quick} ns more than asked");
}

#[test]
fn every_cause_is_told_as_the_summary_counts_it() {
    let Some(mut lab) = Lab::open_as_root(
        "one_way_delay_ms = 1\nrate_bps = 2_000_000\nqueue_bytes = 15_000\nloss_ratio = 0.1",
        "one_way_delay_ms = 1\nrate_bps = 2_000_000\nqueue_bytes = 200_000\n\
         queue_discipline = 'codel'",
    ) else {
        return;
    };
    let client = lab.socket(Host::Client, CLIENT);
    let server = lab.socket(Host::Server, SERVER);
    let file = CaptureFile::new("causes");
    assert_eq!(start_capture(&mut lab, &file), None);
    probe::run(&client, &server, 60, 1_500, Duration::ZERO);
    probe::run(&server, &client, 150, 1_500, Duration::ZERO);
    let totals = lab.summary("causes").totals;
    stop_capture(&mut lab);
    let packets = read(&file);
    let count = |interface, comment| at(&packets, interface, comment).len() as u64;
    let (up, down) = (totals.up, totals.down);
    assert_eq!(count("client", "dropped: loss"), up.dropped_loss_count);
    assert_eq!(
        count("client", "dropped: queue full"),
        up.dropped_queue_count
    );
    assert_eq!(count("server", "dropped: codel"), down.dropped_codel_count);
    assert_eq!(
        count("server", "dropped: queue full"),
        down.dropped_queue_count
    );
    assert!(up.dropped_loss_count > 0 && up.dropped_queue_count > 0);
    assert!(down.dropped_codel_count > 0);
    let drops_count = up.dropped_loss_count
        + up.dropped_queue_count
        + down.dropped_codel_count
        + down.dropped_queue_count;
    let outs_count = up.packets_out_count + down.packets_out_count;
    assert_eq!(packets.len() as u64, drops_count + 2 * outs_count);
}

#[test]
fn trains_of_tcp_segments_are_captured_as_packets() {
    for direction in [
        "one_way_delay_ms = 2",
        "one_way_delay_ms = 2\nrate_bps = 50_000_000\nloss_ratio = 0.01",
    ] {
        let Some(mut lab) = Lab::open_as_root(direction, direction) else {
            return;
        };
        let file = CaptureFile::new("trains");
        assert_eq!(start_capture(&mut lab, &file), None);
        let sent_bytes = 1_000_000;
        let listening = lab.inside(Host::Server, || TcpListener::bind(SERVER).unwrap());
        let listener = listening.join().unwrap();
        let sending = lab.inside(Host::Client, move || {
            let mut stream = TcpStream::connect(SERVER).unwrap();
            stream.write_all(&vec![7; sent_bytes]).unwrap();
        });
        let mut received = Vec::new();
        let mut stream = listener.accept().unwrap().0;
        stream.read_to_end(&mut received).unwrap();
        drop(stream);
        sending.join().unwrap();
        assert_eq!(received.len(), sent_bytes);
        // What is still under way arrives.
        std::thread::sleep(Duration::from_millis(50));
        let totals = lab.summary("trains").totals;
        stop_capture(&mut lab);
        let packets = pcapng::read(file.path());
        let count = |interface: &str, outbound| {
            let wanted = |packet: &&Captured| {
                (packet.interface.as_str(), packet.outbound) == (interface, outbound)
            };
            packets.iter().filter(wanted).count() as u64
        };
        assert_eq!(count("client", true), totals.up.packets_in_count);
        assert_eq!(count("server", false), totals.up.packets_out_count);
        assert_eq!(count("server", true), totals.down.packets_in_count);
        assert_eq!(count("client", false), totals.down.packets_out_count);
        assert!(totals.up.packets_in_count as usize > sent_bytes / 1_448);
        match pcapng::wrong_checksums_count(file.path()) {
            Some(count) => assert_eq!(count, 0),
            None => support::skip("tshark is not installed; checksums were not checked"),
        }
    }
}

#[test]
fn a_second_capture_ends_the_first_and_no_file_is_overwritten() {
    let Some(mut lab) = Lab::open_as_root("one_way_delay_ms = 1", "one_way_delay_ms = 1") else {
        return;
    };
    let client = lab.socket(Host::Client, CLIENT);
    let server = lab.socket(Host::Server, SERVER);
    let files = ["first", "second"].map(CaptureFile::new);
    for file in &files {
        assert_eq!(start_capture(&mut lab, file), None);
        probe::run(&client, &server, 10, 100, Duration::ZERO);
    }
    let error = start_capture(&mut lab, &files[0]).unwrap();
    assert!(
        error.starts_with("failed to capture into") && error.contains("it exists"),
        "{error}"
    );
    stop_capture(&mut lab);
    stop_capture(&mut lab);
    for file in &files {
        assert_eq!(read(file).len(), 20);
    }
    assert_eq!(lab.close(), Some(0));
}

#[test]
fn a_capture_from_the_start_is_whole_however_the_path_ends() {
    for signal in [None, Some("TERM"), Some("INT")] {
        let file = CaptureFile::new(signal.unwrap_or("input"));
        let options = ["--pcap", &file.text()];
        let Some(mut lab) =
            Lab::open_with("one_way_delay_ms = 1", "one_way_delay_ms = 1", &options)
        else {
            return;
        };
        // A socket for each: nobody listens, and the second send of one could fail for that.
        let send = "for i in 1 2 3; do printf x > /dev/udp/10.77.0.1/53; done; sleep 0.2";
        let sent = lab
            .enter("client")
            .args(["--", "bash", "-c", send])
            .status()
            .unwrap();
        assert!(sent.success());
        if let Some(signal) = signal {
            let pid = lab.ready.pid.to_string();
            let killed = Command::new("kill")
                .args([format!("-{signal}"), pid])
                .status();
            assert!(killed.unwrap().success());
            assert_eq!(lab.process.wait().unwrap().code(), Some(0), "{signal}");
        } else {
            assert_eq!(lab.close(), Some(0));
        }
        let packets = pcapng::read(file.path());
        let probes = packets.iter().filter(|packet| packet.payload == *b"x");
        assert_eq!(probes.count(), 6, "{signal:?}");
    }
}

#[test]
fn a_file_that_exists_is_a_wrong_configuration() {
    let file = CaptureFile::new("exists");
    std::fs::write(file.path(), "precious").unwrap();
    let profiles = concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles");
    let output = Command::new(support::PROGRAM)
        .args(["path", "--profile", "ideal", "--pcap", &file.text()])
        .env("RESOLAB_PROFILES", profiles)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    // 4: no path is permitted here at all.
    assert!(matches!(output.status.code(), Some(3 | 4)), "{output:?}");
    assert_eq!(std::fs::read(file.path()).unwrap(), b"precious");
}
