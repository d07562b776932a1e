//! Open loops: the schedule is kept whatever the server does, and what it does shows.
#![allow(clippy::unwrap_used)]

mod support;

use resolab_load::{ArrivalProcess, LoadPacing, LoadPlan, SendLimit};
use resolab_record::{Failure, LoadPace, LoadRecord};
use std::sync::Arc;
use std::time::Duration;
use support::{Reaction, Server, answer_to, answers_all, run_checked, run_until_the_server_dies};

fn open(server: &Server, rate_per_s: f64, arrivals: ArrivalProcess, count: u64) -> LoadPlan {
    let mut plan = server.plan();
    plan.pace = LoadPacing::Open {
        rate_per_s,
        arrivals,
    };
    plan.extent = SendLimit::Count(count);
    plan.outstanding = 4000;
    plan
}

/// From the first query to the last, as sent.
fn sent_span_ns(record: &LoadRecord) -> f64 {
    let distance_ns = 1e9 / record.asked_rate_per_s.unwrap();
    let rate_ratio = 1.0 + record.rate_error_ratio.unwrap();
    (record.sent_count - 1) as f64 * distance_ns / rate_ratio
}

/// A machine that stops now and then makes queries late; it makes no query early, and what is late
/// does not delay what is wanted next. So the span of a schedule that is kept is off by no more
/// than the largest lateness. How late queries are on a machine at rest is measured by
/// `scripts/bench`.
fn assert_kept(record: &LoadRecord, wanted_span_ns: f64, spread_ns: f64) {
    let lateness = record.send_lateness.as_ref().unwrap();
    assert_eq!(lateness.sample_count, record.sent_count);
    let off_ns = (sent_span_ns(record) - wanted_span_ns).abs();
    assert!(
        off_ns <= lateness.max_ns as f64 + spread_ns + 1_000.0,
        "{off_ns} {record:?}"
    );
    // Each query's own lateness is in what its response took from when it was wanted; where a
    // busy machine lost some, the means are not of the same queries.
    if record.completed_count < record.sent_count {
        return;
    }
    let exchange = record.query_exchange.as_ref().unwrap();
    let wanted_to_sent_ns = record.query_response_time.mean_ns - exchange.mean_ns;
    // Distributions keep three digits of each figure.
    let resolution_ns = record.query_response_time.mean_ns * 0.002 + 1_000.0;
    assert!(
        (wanted_to_sent_ns - lateness.mean_ns).abs() <= resolution_ns,
        "{record:?}"
    );
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
        let count = (rate / 4.0) as u64;
        let record = run_checked(open(&server, rate, ArrivalProcess::Constant, count));
        assert_eq!(record.sent_count, count);
        assert_eq!(record.pace, LoadPace::Constant);
        assert_eq!(record.asked_rate_per_s, Some(rate));
        assert!(record.run_ns > 200_000_000);
        assert_kept(&record, (count - 1) as f64 * 1e9 / rate, 0.0);
    }
}

#[test]
fn poisson_arrivals_have_the_rate_and_the_seeds_instants() {
    let server = Server::start("udp", answers_all());
    let record = run_checked(open(&server, 4_000.0, ArrivalProcess::Poisson, 2_000));
    assert_eq!(record.pace, LoadPace::Poisson);
    // Four standard deviations of the sum of as many draws.
    let mean_ns = 1e9 / 4_000.0;
    assert_kept(&record, 1_999.0 * mean_ns, 4.0 * 2_000_f64.sqrt() * mean_ns);
}

#[test]
fn a_duration_ends_the_schedule() {
    let server = Server::start("udp", answers_all());
    let mut plan = open(&server, 1_000.0, ArrivalProcess::Constant, 0);
    plan.extent = SendLimit::Duration(Duration::from_millis(300));
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
    let mut plan = open(&server, 1_000.0, ArrivalProcess::Constant, 600);
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
    let mut plan = open(&server, 2_000.0, ArrivalProcess::Constant, 1_000);
    plan.timeout = Duration::from_millis(500);
    let record = run_checked(plan);
    assert_eq!((record.sent_count, record.lost_count), (1_000, 100));
}

#[test]
fn a_server_that_dies_ends_the_run() {
    for extent in [
        SendLimit::Count(100_000_000),
        SendLimit::Duration(Duration::from_secs(1)),
    ] {
        let server = Server::start("tcp", answers_all());
        let mut plan = open(&server, 1_000.0, ArrivalProcess::Constant, 0);
        plan.extent = extent;
        plan.timeout = Duration::from_millis(300);
        let record = run_until_the_server_dies(server, plan, 100);
        let failure = Some(Failure::TcpConnectRefused);
        assert_eq!(record.failure, failure, "{extent:?} {record:?}");
        assert!(record.stopped_early && record.completed_count > 50);
    }
}
