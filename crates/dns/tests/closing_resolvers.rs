//! Queries that are under way when a resolver closes their connection are asked again on another one
//! (RFC 9113 sections 6.8 and 8.7, RFC 9114 section 5.2, RFC 7766 section 6.2.4), and their records say
//! how often.
#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::TestResolver;
use crate::support::closing::{ClosingResolver, Habit};
use crate::support::stub::start;
use futures_util::future::join_all;
use hickory_proto::op::ResponseCode;
use resolab_dns::{ClientOptions, DnsClient};
use resolab_record::{Failure, QueryRecord, TicketPolicy};

const SCHEMES: [&str; 5] = ["tcp", "tls", "https", "h3", "quic"];
const BATCHES_COUNT: u16 = 10;
const AT_A_TIME_COUNT: u16 = 8;

fn client(beside: &TestResolver, resolver: &ClosingResolver) -> DnsClient {
    let options = ClientOptions {
        ca_file: Some(beside.ca_file.clone()),
        ..ClientOptions::default()
    };
    support::client(&resolver.url, &options)
}

/// Eighty queries through a stub, eight at a time, all of which are answered; their records.
async fn ask_eighty(beside: &TestResolver, resolver: &ClosingResolver) -> Vec<QueryRecord> {
    let stub = start(client(beside, resolver), 5_000).await;
    for batch in 0..BATCHES_COUNT {
        let each = (0..AT_A_TIME_COUNT).map(|number| {
            let id = batch * AT_A_TIME_COUNT + number;
            let (name, stub) = (format!("n{id}.test"), &stub);
            async move { stub.ask(&name, id).await }
        });
        for reply in join_all(each).await {
            assert_eq!(reply.metadata.response_code, ResponseCode::NoError);
            assert_eq!(reply.answers.len(), 1);
        }
    }
    stub.records(usize::from(BATCHES_COUNT * AT_A_TIME_COUNT))
        .await
}

fn repeats(records: &[QueryRecord]) -> u32 {
    let counts = records
        .iter()
        .map(|record| record.connection_facts.repeat_count);
    counts.flatten().sum()
}

#[tokio::test]
async fn no_query_is_lost_to_a_resolver_that_closes_its_connections() {
    let beside = TestResolver::start(TicketPolicy::None).await;
    let habits = [
        Habit::SaysGoAway(3),
        Habit::ClosesAfterEach,
        Habit::ResetsAfter(3),
    ];
    let cases = SCHEMES
        .iter()
        .flat_map(|scheme| habits.map(|habit| (*scheme, habit)));
    for (scheme, habit) in cases {
        let resolver = ClosingResolver::start(&beside, scheme, habit).await;
        eprintln!("{scheme} {habit:?}");
        let records = ask_eighty(&beside, &resolver).await;
        for record in &records {
            assert_eq!(record.failure, None, "{scheme} {habit:?} {record:?}");
            let repeats = record.connection_facts.repeat_count.unwrap_or(0);
            assert_eq!(record.attempt_count, 1 + repeats, "{scheme} {habit:?}");
        }
        // Each batch meets an end before its last answer.
        let (connections, repeats) = (resolver.connection_count(), repeats(&records));
        assert!(repeats >= 10, "{scheme} {habit:?} {repeats}");
        assert!(connections >= 26, "{scheme} {habit:?} {connections}");
        assert!(connections <= 160, "{scheme} {habit:?} {connections}");
    }
}

#[tokio::test]
async fn no_query_is_lost_to_a_resolver_that_leaves_streams_out_for_an_error() {
    let beside = TestResolver::start(TicketPolicy::None).await;
    let resolver = ClosingResolver::start(&beside, "https", Habit::SaysCalmDown(3)).await;
    let records = ask_eighty(&beside, &resolver).await;
    for record in &records {
        assert_eq!(record.failure, None, "{record:?}");
    }
    let (connections, repeats) = (resolver.connection_count(), repeats(&records));
    assert!(repeats >= 10, "{repeats}");
    assert!((26..=160).contains(&connections), "{connections}");
}

#[tokio::test]
async fn no_query_is_lost_to_a_resolver_that_refuses_streams_and_stays_open() {
    let beside = TestResolver::start(TicketPolicy::None).await;
    for scheme in ["https", "h3"] {
        let resolver = ClosingResolver::start(&beside, scheme, Habit::RefusesAfter(3)).await;
        let records = ask_eighty(&beside, &resolver).await;
        for record in &records {
            assert_eq!(record.failure, None, "{scheme} {record:?}");
        }
        let (connections, repeats) = (resolver.connection_count(), repeats(&records));
        assert!(repeats >= 10, "{scheme} {repeats}");
        assert!((26..=160).contains(&connections), "{scheme} {connections}");
    }
}

#[tokio::test]
async fn a_resolver_that_refuses_every_stream_is_asked_twice_and_no_more() {
    let beside = TestResolver::start(TicketPolicy::None).await;
    for scheme in ["https", "h3"] {
        let resolver = ClosingResolver::start(&beside, scheme, Habit::RefusesAfter(0)).await;
        let stub = start(client(&beside, &resolver), 5_000).await;
        let reply = stub.ask("a.test", 1).await;
        assert_eq!(reply.metadata.response_code, ResponseCode::ServFail);
        assert_eq!(resolver.connection_count(), 2, "{scheme}");
    }
}

#[tokio::test]
async fn a_resolver_that_answers_nothing_on_a_new_connection_is_asked_twice_and_no_more() {
    let beside = TestResolver::start(TicketPolicy::None).await;
    for scheme in SCHEMES {
        let resolver = ClosingResolver::start(&beside, scheme, Habit::AnswersNothing).await;
        let stub = start(client(&beside, &resolver), 5_000).await;
        let reply = stub.ask("a.test", 1).await;
        assert_eq!(reply.metadata.response_code, ResponseCode::ServFail);
        let record = stub.records(1).await.remove(0);
        assert_eq!(record.failure, Some(Failure::QueryConnectionClosed));
        assert_eq!(record.connection_facts.repeat_count, Some(1), "{scheme}");
        assert_eq!(resolver.connection_count(), 2, "{scheme}");
    }
}

#[tokio::test]
async fn a_resolver_that_said_goaway_is_said_to_have() {
    let beside = TestResolver::start(TicketPolicy::None).await;
    let resolver = ClosingResolver::start(&beside, "https", Habit::AnswersNothing).await;
    let stub = start(client(&beside, &resolver), 5_000).await;
    stub.ask("a.test", 1).await;
    let record = stub.records(1).await.remove(0);
    let detail = record.failure_detail.unwrap();
    assert_eq!(detail, "the server sent GOAWAY");
}
