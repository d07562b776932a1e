//! Open loops: the schedule is kept whatever the server does, and what it does shows.
#![allow(clippy::unwrap_used)]

mod support;

use resolab_load::{Arrivals, Extent, LoadPlan, Pace};
use resolab_record::{Failure, LoadPace};
use std::sync::Arc;
use std::time::Duration;
use support::{Reaction, Server, answer_to, answers_all, run_checked, run_until_the_server_dies};

/// Times a run is asked again before a machine that stops now and then is no excuse.
const TRIES: usize = 4;

fn open(server: &Server, rate_per_s: f64, arrivals: Arrivals, count: u64) -> LoadPlan {
    let mut plan = server.plan();
    plan.pace = Pace::Open {
        rate_per_s,
        arrivals,
    };
    plan.extent = Extent::Count(count);
    plan.outstanding = 4000;
    plan
}

#[test]
fn a_constant_rate_is_kept_on_every_transport() {
    for (scheme, rate) in [
        ("udp", 2_000.0),
        ("tcp", 2_000.0),
        ("tls", 2_000.0),
        ("udp", 50_000.0),
    ] {
        let server = Server::start(scheme, answers_all());
        let is_kept = |_| {
            let count = (rate / 4.0) as u64;
            let record = run_checked(open(&server, rate, Arrivals::Constant, count));
            assert_eq!(record.sent_count, count);
            assert_eq!(record.pace, LoadPace::Constant);
            assert_eq!(record.asked_rate_per_s, Some(rate));
            let lateness = record.send_lateness.unwrap();
            assert_eq!(lateness.sample_count, count);
            // No query leaves early, so wanted to answered is never less than sent to answered.
            let exchange = record.query_exchange.unwrap();
            assert!(record.query_response_time.mean_ns >= exchange.mean_ns);
            assert!(record.run_ns > 200_000_000);
            // Only the first and the last query's lateness can change the rate.
            record.rate_error_ratio.unwrap().abs() < 0.01 && lateness.p50_ns < 5_000_000
        };
        assert!((0..TRIES).any(is_kept), "{scheme} {rate}");
    }
}

#[test]
fn poisson_arrivals_have_the_rate_and_the_seeds_instants() {
    let server = Server::start("udp", answers_all());
    let plan = || open(&server, 4_000.0, Arrivals::Poisson, 2_000);
    let is_kept = |_| {
        let record = run_checked(plan());
        assert_eq!(record.pace, LoadPace::Poisson);
        // Four standard deviations of the mean of as many draws, and some for lateness.
        record.rate_error_ratio.unwrap().abs() < 4.0 / 2_000_f64.sqrt() + 0.01
    };
    assert!((0..TRIES).any(is_kept));
}

#[test]
fn a_duration_ends_the_schedule() {
    let server = Server::start("udp", answers_all());
    let mut plan = open(&server, 1_000.0, Arrivals::Constant, 0);
    plan.extent = Extent::Duration(Duration::from_millis(300));
    assert_eq!(run_checked(plan).sent_count, 300);
}

#[test]
fn a_server_that_stops_shows_in_what_was_wanted_meanwhile() {
    // One query may be outstanding: while the server sleeps nothing can be sent, though it is
    // wanted. Counted from sending, all but one of the answers look fast.
    let server = Server::start(
        "udp",
        Arc::new(|position, query| {
            if position == 100 {
                std::thread::sleep(Duration::from_millis(400));
            }
            Reaction::Answer(vec![answer_to(query)])
        }),
    );
    let mut plan = open(&server, 1_000.0, Arrivals::Constant, 600);
    (plan.threads, plan.connections, plan.outstanding) = (1, 1, 1);
    let record = run_checked(plan);
    assert_eq!(record.completed_count, 600);
    let (wanted, sent) = (record.query_response_time, record.query_exchange.unwrap());
    let late = record.send_lateness.unwrap();
    // Some 400 of 600 were wanted during the stop, half of them over 200 ms before its end.
    assert!(wanted.p90_ns > 250_000_000, "{wanted:?}");
    assert!(late.p90_ns > 250_000_000, "{late:?}");
    assert!(sent.p90_ns < wanted.p90_ns / 2, "{sent:?}");
}

#[test]
fn a_server_that_drops_cannot_slow_the_schedule() {
    let server = Server::start(
        "udp",
        Arc::new(|position, query| {
            let is_dropped = position % 10 == 0;
            Reaction::Answer(if is_dropped {
                Vec::new()
            } else {
                vec![answer_to(query)]
            })
        }),
    );
    let mut plan = open(&server, 2_000.0, Arrivals::Constant, 1_000);
    plan.timeout = Duration::from_millis(500);
    let record = run_checked(plan);
    assert_eq!((record.sent_count, record.lost_count), (1_000, 100));
}

#[test]
fn a_server_that_dies_ends_the_run() {
    for extent in [
        Extent::Count(100_000_000),
        Extent::Duration(Duration::from_secs(1)),
    ] {
        let server = Server::start("tcp", answers_all());
        let mut plan = open(&server, 1_000.0, Arrivals::Constant, 0);
        plan.extent = extent;
        plan.timeout = Duration::from_millis(300);
        let record = run_until_the_server_dies(server, plan, 100);
        let failure = Some(Failure::TcpConnectRefused);
        assert_eq!(record.failure, failure, "{extent:?} {record:?}");
        assert!(record.stopped_early && record.completed_count > 50);
    }
}
