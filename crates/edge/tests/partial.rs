//! Several questions in one message, over every transport, asked by our own client.
#![allow(clippy::unwrap_used)]

use crate::support::Lab;
use crate::support::ours::{DELAY, NAMES, client, server};
use resolab_dns::edns::QueryEdns;
use resolab_dns::message::build_message;
use resolab_dns::{
    ClientOptions, ConnectionPolicy, ForgetScope, MessagePosition, Question, UdpRetryPolicy,
    Upstream,
};
use resolab_record::{Failure, HandshakeMode, QueryRecord};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(10);
const SCHEMES: [&str; 6] = ["udp", "tcp", "tls", "https", "h3", "quic"];

fn upstream(lab: &Lab, scheme: &str, options: ClientOptions) -> Upstream {
    let options = ClientOptions {
        udp_retry_policy: UdpRetryPolicy::None,
        ..options
    };
    let client = client(lab, scheme, server(lab, scheme), options);
    Upstream::new(client, ConnectionPolicy::default())
}

fn questions(labels: &[&str]) -> Vec<Question> {
    let question = |label: &&str| Question::parse(&format!("{label}.resolab.test"), "A").unwrap();
    labels.iter().map(question).collect()
}

async fn ask(upstream: &Upstream, labels: &[&str], deadline: Duration) -> Vec<QueryRecord> {
    let position = MessagePosition {
        first_sequence: 7,
        message_sequence: 3,
        one_by_one: false,
    };
    let records = upstream
        .ask_several(&questions(labels), position, deadline)
        .await;
    assert_eq!(records.len(), labels.len());
    for (place, (record, label)) in records.iter().zip(labels).enumerate() {
        assert_eq!(record.qname, format!("{label}.resolab.test."));
        assert_eq!(record.sequence, 7 + place as u64);
        let facts = &record.message_facts;
        assert_eq!(facts.message_sequence, Some(3));
        assert_eq!(facts.message_question_count, Some(labels.len() as u16));
    }
    records
}

#[tokio::test]
async fn answers_leave_as_they_are_known_over_every_transport() {
    let lab = Lab::start_with("", NAMES).await;
    for scheme in SCHEMES {
        let upstream = upstream(&lab, scheme, ClientOptions::default());
        let labels = ["a", "slow", "b", "nxdomain", "servfail"];
        let records = ask(&upstream, &labels, DEADLINE).await;
        let rcodes: Vec<_> = records
            .iter()
            .map(|record| record.rcode.as_deref().unwrap())
            .collect();
        let expected = ["NOERROR", "NOERROR", "NOERROR", "NXDOMAIN", "SERVFAIL"];
        assert_eq!(rcodes, expected, "{scheme}");
        let indexes: Vec<_> = records
            .iter()
            .map(|record| record.message_facts.partial_response_index.unwrap())
            .collect();
        assert_eq!(indexes, [0, 1, 0, 0, 0], "{scheme}");
        let end_ns = |place: usize| records[place].query_exchange_end_ns.unwrap();
        assert!(end_ns(1) - records[1].query_exchange_start_ns.unwrap() >= DELAY.as_nanos() as u64);
        assert_eq!(end_ns(0), end_ns(3), "{scheme}: one message");
        assert!(end_ns(0) < end_ns(1), "{scheme}");
        assert!(records.iter().all(|record| record.attempt_count == 1));
        assert!(
            records
                .iter()
                .all(|record| record.message_facts.asked_alone == Some(false))
        );
        upstream.close(ForgetScope::Nothing).await;
    }
}

#[tokio::test]
async fn each_question_has_its_record_on_the_edge() {
    let lab = Lab::start_with("", NAMES).await;
    for (round, scheme) in SCHEMES.into_iter().enumerate() {
        let upstream = upstream(&lab, scheme, ClientOptions::default());
        ask(&upstream, &["a", "slow", "b"], DEADLINE).await;
        let records = lab.queries(3 * (round + 1)).await;
        let ours = &records[3 * round..];
        let mut names: Vec<_> = ours.iter().map(|record| record.qname.as_str()).collect();
        names.sort_unstable();
        let expected = ["a.resolab.test.", "b.resolab.test.", "slow.resolab.test."];
        assert_eq!(names, expected, "{scheme}");
        assert!(ours.iter().all(|record| record.answered_ns.is_some()));
        upstream.close(ForgetScope::Nothing).await;
    }
}

#[tokio::test]
async fn what_is_never_answered_holds_up_no_other() {
    let lab = Lab::start_with("", NAMES).await;
    for scheme in SCHEMES {
        let upstream = upstream(&lab, scheme, ClientOptions::default());
        let deadline = Duration::from_millis(700);
        let records = ask(&upstream, &["a", "drop", "slow"], deadline).await;
        let failures: Vec<_> = records.iter().map(|record| record.failure).collect();
        assert_eq!(
            failures,
            [None, Some(Failure::QueryTimeout), None],
            "{scheme}"
        );
        upstream.close(ForgetScope::Nothing).await;
    }
}

#[tokio::test]
async fn what_does_not_fit_a_datagram_is_asked_alone_over_tcp() {
    let lab = Lab::start_with("", NAMES).await;
    let upstream = upstream(&lab, "udp", ClientOptions::default());
    let records = ask(&upstream, &["a", "truncated"], DEADLINE).await;
    assert_eq!(records[0].message_facts.asked_alone, Some(false));
    assert_eq!(records[1].message_facts.asked_alone, Some(true));
    assert_eq!(records[1].failure, None);
    assert_eq!(records[1].truncated, Some(false));
    assert_eq!(records[1].attempt_count, 2);
}

#[tokio::test]
async fn where_partial_responses_are_not_known_each_question_is_asked_alone() {
    let lab = Lab::start_with("partial_responses = false", NAMES).await;
    for scheme in SCHEMES {
        let upstream = upstream(&lab, scheme, ClientOptions::default());
        for attempt_count in [2, 1] {
            let records = ask(&upstream, &["a", "b"], DEADLINE).await;
            for record in records {
                assert_eq!(
                    record.failure, None,
                    "{scheme}: {:?}",
                    record.failure_detail
                );
                assert_eq!(record.message_facts.asked_alone, Some(true));
                assert_eq!(record.message_facts.partial_response_index, None);
                // Refused once, and not tried again.
                assert_eq!(record.attempt_count, attempt_count, "{scheme}");
            }
        }
        upstream.close(ForgetScope::Nothing).await;
    }
}

#[tokio::test]
async fn a_message_goes_as_early_data() {
    let lab = Lab::start_with("ticket_policy = \"early_data\"", NAMES).await;
    for scheme in ["tls", "https", "h3", "quic"] {
        let options = ClientOptions {
            handshake_mode: HandshakeMode::ZeroRtt,
            ..ClientOptions::default()
        };
        let upstream = upstream(&lab, scheme, options);
        let question = questions(&["a"]).remove(0);
        upstream.client.prime(&question, 0, DEADLINE).await.unwrap();
        let records = ask(&upstream, &["a", "slow", "b"], DEADLINE).await;
        assert_eq!(records[0].early_data_accepted, Some(true), "{scheme}");
        let indexes: Vec<_> = records
            .iter()
            .map(|record| record.message_facts.partial_response_index)
            .collect();
        assert_eq!(indexes, [Some(0), Some(1), Some(0)], "{scheme}");
        upstream.close(ForgetScope::Nothing).await;
    }
}

#[tokio::test]
async fn one_by_one_is_the_same_at_the_same_time_in_messages_of_their_own() {
    let lab = Lab::start_with("", NAMES).await;
    for scheme in SCHEMES {
        let upstream = upstream(&lab, scheme, ClientOptions::default());
        let position = MessagePosition {
            first_sequence: 0,
            message_sequence: 0,
            one_by_one: true,
        };
        let records = upstream
            .ask_several(&questions(&["a", "slow"]), position, DEADLINE)
            .await;
        assert_eq!(records[0].time_origin_ns, records[1].time_origin_ns);
        for record in &records {
            assert_eq!(record.failure, None, "{scheme}");
            assert_eq!(record.attempt_count, 1);
            assert_eq!(record.message_facts.asked_alone, Some(true));
        }
        assert!(records[0].query_response_time_ns < records[1].query_response_time_ns);
        upstream.close(ForgetScope::Nothing).await;
    }
}

#[tokio::test]
async fn a_message_with_a_bad_option_is_formerr_as_a_whole() {
    let lab = Lab::start_with("", NAMES).await;
    let edns = QueryEdns::default();
    let mut message = build_message(&questions(&["a", "b"]), 7, &edns).unwrap();
    // Partial responses wanted, and a cookie of five bytes.
    let options = [&[0xff, 0x8d, 0, 1, 1][..], &[0, 10, 0, 5, 1, 2, 3, 4, 5]].concat();
    let end = message.len();
    message[end - 2..].copy_from_slice(&(options.len() as u16).to_be_bytes());
    message.extend(options);
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket
        .send_to(&message, (lab.resolver, 8053))
        .await
        .unwrap();
    let mut response = [0; 512];
    let length = timeout(DEADLINE, socket.recv(&mut response));
    let length = length.await.unwrap().unwrap();
    assert_eq!((length, response[3] & 0x0f), (12, 1));
}
