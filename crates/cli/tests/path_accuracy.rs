//! How exact the emulated path is on this machine, measured from outside it: delay error between
//! the sender's clock and the receiving kernel's time stamp, and rate error over a long train.
//! Not a pass-or-fail test, hence ignored: run it by hand, in release mode, and read the table.
//!
//! `cargo test --release -p resolab-cli --test path_accuracy -- --ignored --nocapture --test-threads=1`
//! (`RESOLAB_TEST_BACKEND=packet` before it measures that back end)
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

mod lab;
#[path = "lab/probe.rs"]
mod probe;

use lab::Lab;
use probe::quantile;
use resolab_link::hosts::Host;
use std::time::Duration;

/// One-way delays of the shipped profiles, and none.
const DELAYS_MS: [f64; 6] = [
    0.0,
    7.383_573_5,
    12.588_325,
    21.179_895,
    45.926_155_5,
    52.252_070_5,
];
/// Rates of the shipped profiles, slowest and fastest among them.
const RATES_BPS: [u64; 5] = [842_152, 4_224_283, 10_734_760, 53_954_872, 165_046_798];
const CLIENT: &str = "10.77.0.2:4000";
const SERVER: &str = "10.77.0.1:4000";

#[test]
#[ignore = "a measurement to be read by a person"]
fn delay_error() {
    println!("load average {}", load_average());
    println!("delay_ms | error_p50_us error_p99_us error_max_us | lateness_p50_us lateness_p99_us");
    for delay_ms in DELAYS_MS {
        let direction = format!("one_way_delay_ms = {delay_ms:?}");
        let Some(mut lab) = Lab::open_as_root(&direction, &direction) else {
            return;
        };
        let client = lab.socket(Host::Client, CLIENT);
        let server = lab.socket(Host::Server, SERVER);
        let arrivals = probe::run(&client, &server, 1_200, 100, Duration::from_millis(2));
        let wanted_ns = (delay_ms * 1e6) as u64;
        let mut errors: Vec<u64> = arrivals
            .iter()
            .map(|arrival| arrival.delay_ns() - wanted_ns)
            .collect();
        let up = lab.summary("delay").totals.up;
        assert_eq!((arrivals.len(), up.dropped_device_count), (1_200, 0));
        println!(
            "{delay_ms:9.3} | {:.1} {:.1} {:.1} | {:.1} {:.1}",
            microseconds(quantile(&mut errors, 0.5)),
            microseconds(quantile(&mut errors, 0.99)),
            microseconds(quantile(&mut errors, 1.0)),
            microseconds(up.lateness_p50_ns.unwrap()),
            microseconds(up.lateness_p99_ns.unwrap()),
        );
    }
}

#[test]
#[ignore = "a measurement to be read by a person"]
fn rate_error() {
    println!("load average {}", load_average());
    println!("rate_bps | packets | error_ratio");
    for rate_bps in RATES_BPS {
        let up = format!("one_way_delay_ms = 5\nrate_bps = {rate_bps}\nqueue_bytes = 100_000_000");
        let Some(mut lab) = Lab::open_as_root(&up, "one_way_delay_ms = 5") else {
            return;
        };
        let client = lab.socket(Host::Client, CLIENT);
        let server = lab.socket(Host::Server, SERVER);
        // About two seconds of a busy link.
        let count = (rate_bps as usize * 2 / 12_000).min(20_000);
        let arrivals = probe::run(&client, &server, count, 1_500, Duration::ZERO);
        let up = lab.summary("rate").totals.up;
        assert_eq!((up.dropped_device_count, up.dropped_queue_count), (0, 0));
        let span_ns = arrivals[arrivals.len() - 1].received_ns - arrivals[0].received_ns;
        let got_bps = (arrivals.len() - 1) as f64 * 1_500.0 * 8e9 / span_ns as f64;
        println!(
            "{rate_bps:9} | {} | {:+.6}",
            arrivals.len(),
            got_bps / rate_bps as f64 - 1.0
        );
    }
}

fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}

fn load_average() -> String {
    std::fs::read_to_string("/proc/loadavg")
        .unwrap()
        .split(' ')
        .take(3)
        .collect::<Vec<_>>()
        .join(" ")
}
