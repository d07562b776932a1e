//! `resolab-core probe` through paths whose delay, loss and rate are known.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support::{Lab, PROGRAM, probe::rate_bps as rate_bps_of};
use resolab_record::{BulkTransferRecord, LinkDirection, ProbeRecord, Record};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn probe(lab: &Lab, arguments: &str) -> Output {
    let pid = lab.ready.pid.to_string();
    let (mode, rest) = arguments.split_once(' ').unwrap();
    Command::new(PROGRAM)
        .args(["probe", mode, "--path", &pid])
        .args(rest.split(' '))
        .output()
        .unwrap()
}

fn records(output: &Output) -> Vec<Record> {
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let mut records: Vec<Record> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(matches!(records.remove(0), Record::Start(_)));
    records
}

fn trains(output: &Output) -> Vec<ProbeRecord> {
    let train = |record| {
        let Record::Probe(train) = record else {
            panic!("not a probe: {record:?}");
        };
        *train
    };
    records(output).into_iter().map(train).collect()
}

fn transfer(output: &Output) -> BulkTransferRecord {
    let record = records(output).remove(0);
    let Record::BulkTransfer(transfer) = record else {
        panic!("not a transfer: {record:?}");
    };
    transfer
}

/// A machine that pauses makes packets late, a wrong link all of them.
fn quick_delay_ms(train: &ProbeRecord) -> f64 {
    let pairs = train.sent_ns.iter().zip(&train.received_ns);
    let mut delays: Vec<u64> = pairs
        .filter_map(|(sent, received)| received.map(|at| at.saturating_sub(*sent)))
        .collect();
    delays.sort_unstable();
    delays[delays.len() / 5] as f64 / 1e6
}

#[test]
fn both_directions_show_their_own_delays_at_once() {
    let Some(mut lab) = Lab::open("one_way_delay_ms = 5", "one_way_delay_ms = 12") else {
        return;
    };
    let output = probe(
        &lab,
        "udp --direction both --packets 200 --packet-bytes 60 --interval-us 2000 --label x",
    );
    let trains = trains(&output);
    let ways: Vec<_> = trains.iter().map(|train| train.direction).collect();
    assert_eq!(ways, [LinkDirection::Up, LinkDirection::Down]);
    for (train, wanted_ms) in trains.iter().zip([5.0, 12.0]) {
        assert_eq!(train.label.as_deref(), Some("x"));
        assert_eq!((train.packet_bytes, train.interval_ns), (60, 2_000_000));
        assert!(train.received_ns.iter().all(Option::is_some));
        assert_eq!((train.sent_ns.len(), train.sent_ns[0]), (200, 0));
        let got_ms = quick_delay_ms(train);
        assert!((wanted_ms..wanted_ms + 4.0).contains(&got_ms), "{got_ms}");
        // Instants are the schedule's, not one after the other: a first packet that left late makes the span shorter.
        let span_ms = train.sent_ns[199] as f64 / 1e6;
        assert!((300.0..600.0).contains(&span_ms), "paced over {span_ms} ms");
    }
    let totals = lab.summary("x").totals;
    assert_eq!(totals.up.packets_in_count, 200);
    assert_eq!(totals.up.bytes_in_bytes, 200 * 60);
}

#[test]
fn lost_packets_are_missing_and_as_many_as_the_path_dropped() {
    let Some(mut lab) = Lab::open(
        "one_way_delay_ms = 1\nloss_ratio = 0.2",
        "one_way_delay_ms = 1",
    ) else {
        return;
    };
    let output = probe(
        &lab,
        "udp --direction up --packets 3000 --interval-us 100 --silence-ms 500",
    );
    let train = trains(&output).remove(0);
    let up = lab.summary("x").totals.up;
    let missing = train.received_ns.iter().filter(|at| at.is_none()).count() as u64;
    assert_eq!(
        (missing, up.dropped_device_count),
        (up.dropped_loss_count, 0)
    );
    assert!((480..720).contains(&missing), "{missing}");
}

#[test]
fn a_train_faster_than_the_link_comes_out_at_its_rate() {
    let up = "one_way_delay_ms = 1\nrate_bps = 12_000_000\nqueue_bytes = 30_000";
    let Some(lab) = Lab::open(up, "one_way_delay_ms = 1") else {
        return;
    };
    let output = probe(
        &lab,
        "udp --direction up --packets 1000 --packet-bytes 1500 --rate-bps 15600000",
    );
    let train = trains(&output).remove(0);
    let came: Vec<u64> = train.received_ns.iter().copied().flatten().collect();
    assert!(came.len() < 1_000);
    // Before, the queue fills. While a busy machine keeps the sender waiting the link stands still, so
    // its rate is that of most packets, and no stretch is faster.
    let mut gaps: Vec<u64> = came[200..]
        .windows(2)
        .map(|both| both[1].saturating_sub(both[0]))
        .collect();
    gaps.sort_unstable();
    let median_ns = gaps[gaps.len() / 2] as f64;
    assert!((median_ns / 1e6 - 1.0).abs() < 0.05, "{median_ns}");
    let rate_bps = rate_bps_of(&came[200..], 1_500);
    assert!(rate_bps < 12.12e6, "{rate_bps}");
}

#[test]
fn a_transfer_fills_the_link_and_tells_its_segments() {
    let way = "one_way_delay_ms = 5\nrate_bps = 20_000_000";
    let Some(lab) = Lab::open(way, way) else {
        return;
    };
    for direction in ["up", "down"] {
        let output = probe(
            &lab,
            &format!(
                "tcp --direction {direction} --warm-up-ms 500 --seconds 1 --congestion-control reno"
            ),
        );
        let transfer = transfer(&output);
        assert_eq!(transfer.congestion_control, "reno");
        assert_eq!(transfer.warm_up_ns, 500_000_000);
        assert!(transfer.segment_bytes <= 1_460);
        assert!(transfer.round_trip_min_us >= 10_000);
        let goodput_bps = transfer.counted_bytes as f64 * 8e9 / transfer.counted_ns as f64;
        assert!(
            goodput_bps > 0.7 * 20e6 && goodput_bps < 20e6,
            "{goodput_bps}"
        );
    }
}

#[test]
fn mistakes_are_named_with_their_exit_code() {
    let Some(lab) = Lab::open("one_way_delay_ms = 1", "one_way_delay_ms = 1") else {
        return;
    };
    let cases = [
        (
            "udp --direction up --packets 5 --packet-bytes 1501 --interval-us 10",
            3,
            "MTU",
        ),
        (
            "udp --direction up --packets 5 --packet-bytes 10 --interval-us 10",
            2,
            "36",
        ),
        ("udp --direction up --packets 5", 2, "--interval-us"),
        (
            "udp --direction up --packets 900000 --interval-us 1000",
            2,
            "600 s",
        ),
        (
            "tcp --direction up --congestion-control nonesuch",
            4,
            "nonesuch",
        ),
        ("tcp --direction both", 2, "both"),
    ];
    for (arguments, code, word) in cases {
        let output = probe(&lab, arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments}: {errors}");
        assert!(errors.contains(word), "{arguments}: {errors}");
    }
    let output = Command::new(PROGRAM)
        .args("probe udp --path 1 --direction up --packets 1 --interval-us 0".split(' '))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_path_that_ends_ends_the_probe() {
    let Some(mut lab) = Lab::open("one_way_delay_ms = 1", "one_way_delay_ms = 1") else {
        return;
    };
    let pid = lab.ready.pid.to_string();
    let mut probe = Command::new(PROGRAM)
        .args(["probe", "udp", "--path", &pid, "--direction", "both"])
        .args(["--packets", "60000", "--interval-us", "5000"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(400));
    let ended = Instant::now();
    lab.close();
    assert_eq!(probe.wait().unwrap().code(), Some(4));
    assert!(ended.elapsed() < Duration::from_secs(3));
}
