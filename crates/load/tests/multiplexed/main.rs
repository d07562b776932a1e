//! DoH, DoQ and DoH3 against servers of known behaviour: every query is accounted for.
#![allow(clippy::unwrap_used)]

mod server;

use resolab_load::{ArrivalProcess, GatheringRule, LoadError, LoadPacing, SendLimit};
use resolab_record::{DohMethod, Failure};
use server::{Reaction, Server, run_checked, run_until};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const SCHEMES: [&str; 3] = ["https", "quic", "h3"];

#[test]
fn every_query_is_answered_once() {
    for scheme in SCHEMES {
        for method in [DohMethod::Get, DohMethod::Post] {
            let server = Server::start(scheme, |position| match position % 10 {
                0 => Reaction::AnswerSlowly,
                _ => Reaction::Answer,
            });
            let mut plan = server.plan();
            plan.doh_method = method;
            let record = run_checked(plan);
            assert_eq!(record.completed_count, 1000, "{scheme} {record:?}");
            assert_eq!(server.queries(), 1000, "{scheme}");
            assert_eq!(record.rcodes["NOERROR"], 1000);
            assert_eq!(record.query_bytes, record.response_bytes);
            assert_eq!((record.handshake_count, server.connections()), (4, 4));
            assert_eq!((record.reconnect_count, record.refused_count), (0, 0));
            assert!(record.answers_per_wake >= 1.0 && record.send_lateness.is_none());
        }
    }
}

#[test]
fn answers_are_gathered_as_told() {
    for scheme in SCHEMES {
        let server = Server::start(scheme, |_| Reaction::Answer);
        let mut plan = server.plan();
        plan.gathering = GatheringRule::Fixed(Duration::from_millis(3));
        let record = run_checked(plan);
        assert_eq!(record.completed_count, 1000);
        // 20 outstanding a thread, and the server answers faster than that.
        assert!(record.answers_per_wake > 4.0, "{scheme} {record:?}");
        assert!(record.coalescing_wait_mean_ns > 2e6, "{scheme} {record:?}");
    }
}

#[test]
fn what_a_server_drops_is_lost() {
    for scheme in SCHEMES {
        let server = Server::start(scheme, |position| match position % 10 {
            3 => Reaction::Drop,
            _ => Reaction::Answer,
        });
        let mut plan = server.plan();
        plan.extent = SendLimit::Count(200);
        plan.timeout = Duration::from_millis(700);
        let record = run_checked(plan);
        let counts = (record.completed_count, record.lost_count);
        assert_eq!(counts, (180, 20), "{scheme} {record:?}");
        assert_eq!(record.reconnect_count, 0);
    }
}

#[test]
fn what_a_server_leaves_unprocessed_is_asked_again_and_counted_apart() {
    for scheme in SCHEMES {
        let server = Server::start(scheme, |position| match position % 10 {
            3 => Reaction::Refuse,
            _ => Reaction::Answer,
        });
        let mut plan = server.plan();
        plan.extent = SendLimit::Count(200);
        let record = run_checked(plan);
        let counts = (record.sent_count, record.completed_count);
        assert_eq!(counts, (200, 200), "{scheme} {record:?}");
        assert_eq!(record.refused_count, server.queries() - 200, "{scheme}");
        assert!(record.refused_count >= 20, "{scheme} {record:?}");
        assert!(record.failures.is_empty());
    }
}

#[test]
fn failures_are_told_apart() {
    let all: fn(u64) -> Reaction = |position| match position % 5 {
        0 => Reaction::Status(503),
        1 => Reaction::MediaType("text/html"),
        2 => Reaction::AnswerOther,
        3 => Reaction::Reset,
        _ => Reaction::Answer,
    };
    for (scheme, expected) in [
        (
            "https",
            &[
                (Failure::HttpStatus, 40),
                (Failure::QueryMalformed, 80),
                (Failure::HttpProtocol, 40),
            ][..],
        ),
        (
            "h3",
            &[
                (Failure::HttpStatus, 40),
                (Failure::QueryMalformed, 80),
                (Failure::HttpProtocol, 40),
            ],
        ),
        (
            "quic",
            &[
                (Failure::QueryMalformed, 40),
                (Failure::QueryConnectionClosed, 40),
            ],
        ),
    ] {
        let server = Server::start(scheme, all);
        let mut plan = server.plan();
        plan.extent = SendLimit::Count(200);
        let record = run_checked(plan);
        assert_eq!(
            record.failures,
            expected.iter().copied().collect(),
            "{scheme}"
        );
        // Their connections go on.
        assert_eq!(record.interrupted_count, 0, "{scheme} {record:?}");
        assert_eq!(record.reconnect_count, 0, "{scheme}");
    }
}

#[test]
fn a_query_that_was_refused_keeps_its_deadline() {
    for scheme in SCHEMES {
        let server = Server::start(scheme, |position| {
            std::thread::sleep(Duration::from_millis(400));
            match position {
                0 => Reaction::Refuse,
                _ => Reaction::Answer,
            }
        });
        let mut plan = server.plan();
        (plan.threads, plan.connections, plan.outstanding) = (1, 1, 1);
        plan.extent = SendLimit::Count(1);
        plan.timeout = Duration::from_millis(500);
        let record = run_checked(plan);
        let counts = (record.sent_count, record.lost_count, record.refused_count);
        assert_eq!(counts, (1, 1, 1), "{scheme} {record:?}");
    }
}

#[test]
fn closing_connections_is_no_part_of_a_run() {
    for scheme in SCHEMES {
        let server = Server::start(scheme, |_| Reaction::Answer);
        let mut plan = server.plan();
        (plan.threads, plan.connections, plan.outstanding) = (1, 8, 8);
        plan.extent = SendLimit::Count(100);
        let record = run_checked(plan);
        // At any instant of a closed loop a query is under way.
        let asking_ns = record.query_response_time.mean_ns * record.completed_count as f64;
        let most_ns = asking_ns + 100e6;
        assert!((record.run_ns as f64) < most_ns, "{scheme} {record:?}");
    }
}

#[test]
fn a_connection_the_server_ends_is_opened_again() {
    for scheme in SCHEMES {
        let server = Server::start(scheme, |position| match position {
            150 | 400 | 700 => Reaction::Close,
            _ => Reaction::Answer,
        });
        let record = run_checked(server.plan());
        assert_eq!(record.sent_count, 1000, "{scheme} {record:?}");
        assert_eq!(record.reconnect_count, 3, "{scheme} {record:?}");
        assert_eq!((record.handshake_count, server.connections()), (7, 7));
        // A close cuts off what is under way; GOAWAY lets it be answered, or asked elsewhere.
        let most_cut_off = if scheme == "quic" { 30 } else { 0 };
        assert!(
            record.interrupted_count <= most_cut_off,
            "{scheme} {record:?}"
        );
        assert_eq!((record.lost_count, record.failed_count), (0, 0), "{scheme}");
    }
}

#[test]
fn the_server_s_limit_of_streams_holds() {
    for scheme in SCHEMES {
        let server = Server::with_streams(scheme, |_| Reaction::Answer, 3);
        let record = run_checked(server.plan());
        assert_eq!(record.completed_count, 1000, "{scheme} {record:?}");
        // Until its settings have come, an HTTP/2 client cannot know.
        assert!(record.refused_count <= 4 * 7, "{scheme} {record:?}");
        assert_eq!(record.reconnect_count, 0);
    }
}

#[test]
fn an_open_loop_keeps_its_rate_and_counts_from_the_schedule() {
    for scheme in SCHEMES {
        let server = Server::start(scheme, |_| Reaction::Answer);
        // How many a schedule has does not depend on the machine, which makes some late and none
        // early; of a Poisson process it is known to four standard deviations.
        for (rate_per_s, arrivals, wanted, spread) in [
            (400.0, ArrivalProcess::Constant, 240.0, 0.0),
            (500.0, ArrivalProcess::Poisson, 300.0, 4.0 * 300_f64.sqrt()),
        ] {
            let mut plan = server.plan();
            plan.pace = LoadPacing::Open {
                rate_per_s,
                arrivals,
            };
            plan.outstanding = 400;
            plan.extent = SendLimit::Duration(Duration::from_millis(600));
            let record = run_checked(plan);
            assert_eq!(record.completed_count, record.sent_count, "{record:?}");
            let off = (record.sent_count as f64 - wanted).abs();
            assert!(off <= spread, "{scheme} {record:?}");
            let lateness = record.send_lateness.as_ref().unwrap();
            assert_eq!(lateness.sample_count, record.sent_count);
            let rate = rate_per_s * (1.0 + record.rate_error_ratio.unwrap());
            let span_ns = (record.sent_count - 1) as f64 * 1e9 / rate;
            // The last of a Poisson process comes 40 ms before the end but once in a billion.
            let off_ns = (span_ns - 580e6).abs();
            let most_ns = 20e6 + lateness.max_ns as f64;
            assert!(off_ns <= most_ns, "{scheme} {record:?}");
            // Rounded to tokio's milliseconds it would be above half of one.
            assert!(lateness.min_ns < 400_000, "{scheme} {lateness:?}");
            let exchange = record.query_exchange.as_ref().unwrap();
            let least = exchange.mean_ns + lateness.mean_ns;
            assert!((record.query_response_time.mean_ns / least - 1.0).abs() < 0.02);
        }
    }
}

/// An open loop of one thread over one connection.
fn open_plan(server: &Server, rate_per_s: f64, outstanding: u32) -> resolab_load::LoadPlan {
    let mut plan = server.plan();
    plan.pace = LoadPacing::Open {
        rate_per_s,
        arrivals: ArrivalProcess::Constant,
    };
    (plan.threads, plan.connections, plan.outstanding) = (1, 1, outstanding);
    plan
}

#[test]
fn what_is_wanted_while_a_server_stops_counts_also_where_the_run_ends_meanwhile() {
    for scheme in SCHEMES {
        let server = Server::start(scheme, |position| {
            if position == 200 {
                std::thread::sleep(Duration::from_millis(500));
            }
            Reaction::Answer
        });
        let mut plan = open_plan(&server, 1_000.0, 1);
        plan.extent = SendLimit::Duration(Duration::from_millis(400));
        let record = run_checked(plan);
        assert_eq!(record.completed_count, 400, "{scheme} {record:?}");
        // Half of all were wanted while the server stopped, the last of them 300 ms before its end.
        let late = record.send_lateness.unwrap();
        assert!(late.p90_ns > 300_000_000, "{scheme} {late:?}");
    }
}

#[test]
fn a_query_that_waits_for_a_stream_is_late() {
    for scheme in SCHEMES {
        let slow = |_| {
            std::thread::sleep(Duration::from_millis(20));
            Reaction::Answer
        };
        let server = Server::with_streams(scheme, slow, 1);
        let mut plan = open_plan(&server, 200.0, 100);
        plan.extent = SendLimit::Count(30);
        let record = run_checked(plan);
        let (late, exchange) = (
            record.send_lateness.unwrap(),
            record.query_exchange.unwrap(),
        );
        assert_eq!(record.completed_count, 30, "{scheme}");
        assert!(
            late.mean_ns > 2.0 * exchange.mean_ns,
            "{scheme} {late:?} {exchange:?}"
        );
    }
}

#[test]
fn an_open_loop_does_not_wait_for_answers() {
    for scheme in SCHEMES {
        let server = Server::start(scheme, |_| Reaction::Answer);
        let mut plan = open_plan(&server, 1_000.0, 100);
        plan.extent = SendLimit::Count(100);
        plan.gathering = GatheringRule::Fixed(Duration::from_millis(3));
        let record = run_checked(plan);
        assert_eq!(record.completed_count, 100, "{scheme}");
        assert!(record.coalescing_wait_mean_ns < 1.0, "{scheme} {record:?}");
    }
}

#[test]
fn a_run_ends_when_the_server_is_gone_or_when_it_is_told_to() {
    for scheme in SCHEMES {
        let server = Server::start(scheme, |position| match position {
            0..50 => Reaction::Answer,
            _ => Reaction::Drop,
        });
        let mut plan = server.plan();
        plan.extent = SendLimit::Duration(Duration::from_mins(1));
        plan.timeout = Duration::from_mins(1);
        let stopped = Arc::new(AtomicBool::new(false));
        let stopper = Arc::clone(&stopped);
        let sleeper = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            stopper.store(true, Ordering::Relaxed);
        });
        let begun = Instant::now();
        let record = resolab_load::run(plan, &stopped, Duration::from_mins(1), &mut |_| ());
        let record = record.unwrap();
        sleeper.join().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(20), "{scheme}");
        assert!(record.stopped_early);
        let counts = (record.completed_count, record.interrupted_count);
        assert_eq!(counts, (50, 40), "{scheme} {record:?}");
    }
}

#[test]
fn a_server_that_dies_ends_a_run_of_a_count() {
    let idle = Duration::from_millis(600);
    for (scheme, failure) in [
        ("https", Failure::TcpConnectRefused),
        ("quic", Failure::QuicHandshakeTimeout),
        ("h3", Failure::QuicHandshakeTimeout),
    ] {
        let mut server = Server::with_limits(scheme, |_| Reaction::Answer, 100, idle);
        let mut plan = server.plan();
        plan.extent = SendLimit::Count(100_000_000);
        plan.timeout = Duration::from_millis(300);
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stopped);
        let run = std::thread::spawn(move || run_until(plan, &flag));
        while server.queries() < 200 {
            std::thread::sleep(Duration::from_millis(1));
        }
        server.stop();
        let begun = Instant::now();
        while !run.is_finished() && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        stopped.store(true, Ordering::Relaxed);
        let record = run.join().unwrap();
        assert_eq!(record.failure, Some(failure), "{scheme} {record:?}");
        assert!(record.stopped_early, "{scheme} {record:?}");
        assert!(record.completed_count > 100, "{scheme} {record:?}");
    }
}

#[test]
fn a_server_that_takes_no_queries_ends_a_run_of_a_count() {
    let server = Server::with_streams("https", |_| Reaction::Answer, 0);
    let mut plan = server.plan();
    plan.timeout = Duration::from_millis(300);
    let stopped = Arc::new(AtomicBool::new(false));
    let stopper = Arc::clone(&stopped);
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(10));
        stopper.store(true, Ordering::Relaxed);
    });
    let record = run_until(plan, &stopped);
    assert_eq!(record.failure, Some(Failure::QueryTimeout), "{record:?}");
    assert_eq!((record.completed_count, record.reconnect_count), (0, 0));
}

#[test]
fn without_a_server_there_is_no_load() {
    for scheme in SCHEMES {
        let mut server = Server::start(scheme, |_| Reaction::Answer);
        let mut plan = server.plan();
        plan.timeout = Duration::from_millis(300);
        server.stop();
        let stopped = Arc::new(AtomicBool::new(false));
        let result = resolab_load::run(plan, &stopped, Duration::from_mins(1), &mut |_| ());
        let error = result.unwrap_err();
        assert!(matches!(error, LoadError::Connect { .. }), "{error:?}");
    }
}
