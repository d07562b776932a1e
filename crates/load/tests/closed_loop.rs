//! Closed loops against servers of known behaviour: every query is accounted for.
#![allow(clippy::unwrap_used)]

mod support;

use resolab_load::{GatheringRule, LoadError, SendLimit};
use resolab_record::{Failure, LoadPace};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use support::{
    Reaction, Server, answer_to, answers_all, run, run_checked, run_until_the_server_dies,
};

const SCHEMES: [&str; 3] = ["udp", "tcp", "tls"];

#[test]
fn every_query_is_answered_once() {
    for scheme in SCHEMES {
        let server = Server::start(scheme, answers_all());
        let record = run_checked(server.plan());
        assert_eq!(record.completed_count, 1000, "{scheme}");
        assert_eq!(server.queries(), 1000, "{scheme}");
        assert_eq!(record.rcodes["NOERROR"], 1000);
        assert_eq!(record.query_bytes, record.response_bytes);
        let apart = (
            record.alien_count,
            record.duplicate_count,
            record.late_count,
        );
        assert_eq!(apart, (0, 0, 0), "{scheme}");
        assert_eq!(
            (record.pace, record.send_lateness),
            (LoadPace::Closed, None)
        );
        assert!(record.client_cpu_ns > 0 && record.answers_per_wake >= 1.0);
        let has_connections = scheme != "udp";
        assert_eq!(record.handshake_count, if has_connections { 4 } else { 0 });
        assert_eq!(record.connect.is_some(), has_connections);
        assert_eq!(record.reconnect_count, 0);
    }
}

#[test]
fn segmentation_and_fixed_waits_change_no_count_and_are_recorded() {
    let server = Server::start("udp", answers_all());
    let mut plan = server.plan();
    plan.segmentation_offload = true;
    plan.gathering = GatheringRule::Fixed(Duration::from_micros(300));
    let record = run_checked(plan);
    assert_eq!(record.completed_count, 1000);
    assert!(record.segmentation_offload && !record.coalescing_adaptive);
    assert_eq!(record.coalescing_wait_limit_ns, 300_000);
    assert!((record.coalescing_wait_mean_ns - 300_000.0).abs() < 1.0);
    // Each socket has 10 outstanding, and the server answers faster than the wait.
    assert!(record.answers_per_wake > 2.0, "{}", record.answers_per_wake);
}

#[test]
fn what_a_server_drops_is_lost() {
    for scheme in SCHEMES {
        let server = Server::start(
            scheme,
            Arc::new(|position, query| {
                let is_dropped = position % 10 == 3;
                Reaction::Answer(if is_dropped {
                    Vec::new()
                } else {
                    vec![answer_to(query)]
                })
            }),
        );
        let mut plan = server.plan();
        plan.extent = SendLimit::Count(200);
        plan.timeout = Duration::from_millis(500);
        let record = run_checked(plan);
        assert_eq!(
            (record.sent_count, record.lost_count),
            (200, 20),
            "{scheme}"
        );
        assert!(record.failures.is_empty());
    }
}

#[test]
fn an_answer_after_the_timeout_is_late() {
    let server = Server::start(
        "udp",
        Arc::new(|position, query| {
            if position == 0 {
                std::thread::sleep(Duration::from_millis(400));
            }
            Reaction::Answer(vec![answer_to(query)])
        }),
    );
    let mut plan = server.plan();
    (plan.threads, plan.connections, plan.outstanding) = (1, 1, 1);
    plan.timeout = Duration::from_millis(200);
    plan.extent = SendLimit::Count(50);
    let record = run_checked(plan);
    assert!(record.lost_count >= 1, "{}", record.lost_count);
    assert_eq!(record.late_count, record.lost_count);
}

#[test]
fn answers_that_do_not_fit_are_counted_apart() {
    for scheme in SCHEMES {
        let server = Server::start(
            scheme,
            Arc::new(|_, query| {
                let (mut wrong_id, mut wrong_question) = (answer_to(query), answer_to(query));
                // The generation far away, and another name.
                wrong_id[0] ^= 0x40;
                wrong_question[13] ^= 1;
                Reaction::Answer(vec![
                    wrong_id,
                    wrong_question,
                    query.to_vec(),
                    answer_to(query),
                ])
            }),
        );
        let record = run_checked(server.plan());
        assert_eq!(record.completed_count, 1000, "{scheme}");
        assert_eq!(record.alien_count, 3000, "{scheme}");
    }
}

#[test]
fn a_second_answer_is_a_duplicate() {
    let server = Server::start(
        "tcp",
        Arc::new(|_, query| Reaction::Answer(vec![answer_to(query), answer_to(query)])),
    );
    let record = run_checked(server.plan());
    assert_eq!(record.completed_count, 1000);
    // Those of the last answers may come after the end.
    assert!((900..=1000).contains(&record.duplicate_count));
}

#[test]
fn connections_the_peer_closes_are_opened_again() {
    for scheme in ["tcp", "tls"] {
        let server = Server::start(
            scheme,
            Arc::new(|position, query| match position % 100 {
                99 => Reaction::Close,
                _ => Reaction::Answer(vec![answer_to(query)]),
            }),
        );
        let record = run_checked(server.plan());
        assert_eq!(record.sent_count, 1000, "{scheme}");
        assert!(record.interrupted_count >= 9, "{scheme}");
        let closed = record.failures[&Failure::QueryConnectionClosed];
        assert_eq!(closed, record.interrupted_count);
        assert!(record.reconnect_count >= 5, "{}", record.reconnect_count);
        assert_eq!(record.handshake_count, 4 + record.reconnect_count);
    }
}

#[test]
fn error_codes_are_answers_and_counted_by_name() {
    let server = Server::start(
        "udp",
        Arc::new(|position, query| {
            let mut answer = answer_to(query);
            answer[3] = [0, 2, 3, 5][position as usize % 4];
            Reaction::Answer(vec![answer])
        }),
    );
    let record = run_checked(server.plan());
    for name in ["NOERROR", "SERVFAIL", "NXDOMAIN", "REFUSED"] {
        assert_eq!(record.rcodes[name], 250);
    }
}

#[test]
fn a_closed_udp_port_fails_queries_and_a_tcp_one_the_run() {
    let mut plan = Server::start("udp", answers_all()).plan();
    plan.timeout = Duration::from_millis(500);
    plan.extent = SendLimit::Count(100);
    let record = run_checked(plan);
    assert_eq!(record.completed_count, 0);
    assert!(record.failures[&Failure::QueryRefused] > 0);
    let plan = Server::start("tcp", answers_all()).plan();
    let error = run(plan).unwrap_err();
    assert!(matches!(error, LoadError::Connect { .. }), "{error}");
    assert!(error.to_string().contains("refused"), "{error}");
}

#[test]
fn a_server_that_dies_ends_a_run_of_a_count() {
    for scheme in ["tcp", "tls"] {
        let server = Server::start(scheme, answers_all());
        let mut plan = server.plan();
        plan.extent = SendLimit::Count(100_000_000);
        plan.timeout = Duration::from_millis(300);
        let record = run_until_the_server_dies(server, plan, 200);
        let failure = Some(Failure::TcpConnectRefused);
        assert_eq!(record.failure, failure, "{scheme} {record:?}");
        assert!(record.stopped_early && record.handshake_failure_count > 0);
        assert!(record.completed_count > 100, "{scheme} {record:?}");
    }
}

#[test]
fn a_run_of_a_duration_waits_for_a_server_all_of_it() {
    let server = Server::start("tcp", answers_all());
    let mut plan = server.plan();
    plan.extent = SendLimit::Duration(Duration::from_secs(2));
    plan.timeout = Duration::from_millis(100);
    let record = run_until_the_server_dies(server, plan, 200);
    assert!(record.run_ns >= 2_000_000_000, "{record:?}");
    assert_eq!((record.failure, record.stopped_early), (None, false));
}

#[test]
fn a_certificate_nobody_vouches_for_ends_the_run() {
    let (server, other) = (
        Server::start("tls", answers_all()),
        Server::start("tls", answers_all()),
    );
    let ca_file = other.ca_file();
    let error = run(server.plan_trusting(ca_file)).unwrap_err().to_string();
    assert!(error.contains("certificate"), "{error}");
}

#[test]
fn a_stop_cuts_off_what_waits() {
    let server = Server::start("tcp", Arc::new(|_, _| Reaction::Answer(Vec::new())));
    let stopped = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&stopped);
    let mut intervals = Vec::new();
    let record = resolab_load::run(
        server.plan(),
        &stopped,
        Duration::from_millis(50),
        &mut |interval| {
            stop.store(intervals.len() == 1, Ordering::Relaxed);
            intervals.push(interval);
        },
    )
    .unwrap();
    assert!(record.stopped_early);
    assert_eq!((record.sent_count, record.interrupted_count), (40, 40));
    assert_eq!(intervals[0].sent_count, 40);
    assert_eq!(intervals[1].interval_start_ns, intervals[0].interval_end_ns);
}
