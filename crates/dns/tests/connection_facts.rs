//! What records say of the connection a query travelled on.

#![allow(clippy::unwrap_used)]

mod support;

use resolab_dns::{Asking, ClientOptions, DnsClient, Question, Slot};
use resolab_record::{HandshakeMode, QueryPurpose, QueryRecord, TicketPolicy};
use std::time::Duration;
use support::TestResolver;

const DEADLINE: Duration = Duration::from_secs(5);
const CONNECTED: [&str; 5] = ["tcp", "tls", "https", "h3", "quic"];

async fn ask_in(client: &DnsClient, slot: &mut Slot) -> QueryRecord {
    let question = Question::parse("a.test", "A").unwrap();
    let asking = Asking::begin(client, &question);
    let outcome = asking.ask(slot, DEADLINE).await;
    let record = asking.record(&outcome, QueryPurpose::Measured, 0, None);
    assert_eq!(record.failure, None, "{:?}", record.failure_detail);
    record
}

async fn close(slot: Slot) {
    slot.unwrap().0.close().await;
}

#[tokio::test]
async fn every_connection_tells_of_its_path_and_counts_its_queries() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for scheme in CONNECTED {
        let client = resolver.client(scheme, ClientOptions::default());
        let mut slot = None;
        for index in 0..2 {
            let record = ask_in(&client, &mut slot).await;
            let facts = &record.connection_facts;
            let is_quic = matches!(scheme, "h3" | "quic");
            assert_eq!(facts.quic_version, is_quic.then_some(1), "{scheme}");
            assert_eq!(facts.quic_retry, is_quic.then_some(false), "{scheme}");
            let min_rtt_ns = facts.connection_min_rtt_ns.unwrap();
            assert!(min_rtt_ns > 0, "{scheme}");
            assert!(facts.connection_rtt_ns.unwrap() >= min_rtt_ns, "{scheme}");
            assert!(facts.retransmitted_count.is_some(), "{scheme}");
            let expected = record.query_response_time_ns.unwrap() as f64 / min_rtt_ns as f64;
            assert_eq!(facts.round_trip_count, Some(expected), "{scheme}");
            assert_eq!(
                (facts.connection_query_index, facts.outstanding_count),
                (Some(index), Some(0)),
                "{scheme}"
            );
            assert_eq!(facts.answered_early, None, "{scheme}");
            assert_eq!(facts.tcp_fast_open_accepted, None, "{scheme}");
        }
        close(slot).await;
    }
}

#[tokio::test]
async fn doudp_has_no_connection_to_tell_of() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let client = resolver.client("udp", ClientOptions::default());
    let record = ask_in(&client, &mut None).await;
    assert_eq!(
        record.connection_facts,
        resolab_record::ConnectionFacts::default()
    );
}

#[tokio::test]
async fn only_accepted_early_data_can_be_answered_early() {
    for (policy, accepted) in [
        (TicketPolicy::EarlyData, true),
        (TicketPolicy::RejectEarlyData, false),
    ] {
        let resolver = TestResolver::start(TicketPolicy::EarlyData).await;
        for scheme in ["tls", "https", "h3", "quic"] {
            resolver.policies.set_policy(None, TicketPolicy::EarlyData);
            let options = ClientOptions {
                handshake_mode: HandshakeMode::ZeroRtt,
                ..ClientOptions::default()
            };
            let client = resolver.client(scheme, options);
            let question = Question::parse("a.test", "A").unwrap();
            client.prime(&question, 0, DEADLINE).await.unwrap();
            resolver.policies.set_policy(None, policy);
            let mut slot = None;
            let record = ask_in(&client, &mut slot).await;
            close(slot).await;
            assert_eq!(record.early_data_accepted, Some(accepted), "{scheme}");
            // Which of the two a server on loopback did, its processor decides.
            assert_eq!(
                record.connection_facts.answered_early.is_some(),
                accepted,
                "{scheme}"
            );
        }
    }
}
