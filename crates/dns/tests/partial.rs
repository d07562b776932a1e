//! Partial responses over UDP: what is lost is asked again, and nothing else.
#![allow(clippy::unwrap_used)]

use hickory_proto::op::Message;
use hickory_proto::rr::{RData, Record};
use resolab_dns::partial::{Room, Several};
use resolab_dns::{
    ClientOptions, ConnectionPolicy, DnsClient, MessagePosition, Question, UdpRetryPolicy, Upstream,
};
use resolab_record::{Bootstrap, Failure, QueryRecord};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::net::UdpSocket;

const ROOM: Room = Room {
    limit_bytes: 1_232,
    padding_block_bytes: 0,
};

fn respond(single: &[u8]) -> Vec<u8> {
    let query = Message::from_vec(single).unwrap();
    let mut response = Message::response(query.metadata.id, query.metadata.op_code);
    let name = query.queries[0].name().clone();
    let data = RData::A(Ipv4Addr::new(192, 0, 2, 7).into());
    response.answers.push(Record::from_rdata(name, 60, data));
    response.queries = query.queries;
    response.edns = query.edns;
    response.to_vec().unwrap()
}

/// Messages received, and for each those of its questions that are answered: each in a message of its own.
async fn serve(socket: &UdpSocket, answered: &[&[usize]]) -> Vec<usize> {
    let mut counts = Vec::new();
    for answered in answered {
        let mut query = vec![0; 4_096];
        let (length, from) = socket.recv_from(&mut query).await.unwrap();
        let Some(several) = Several::read(&query[..length]) else {
            // One that is left is a query like any other.
            counts.push(1);
            let response = respond(&query[..length]);
            socket.send_to(&response, from).await.unwrap();
            continue;
        };
        let responses: Vec<_> = several.singles().map(|single| respond(&single)).collect();
        counts.push(responses.len());
        for place in *answered {
            for message in several.combine(&[&responses[*place]], false, ROOM) {
                socket.send_to(&message.message, from).await.unwrap();
            }
        }
    }
    counts
}

fn upstream(at: SocketAddr, retries: UdpRetryPolicy) -> Upstream {
    let options = ClientOptions {
        udp_retry_policy: retries,
        ..ClientOptions::default()
    };
    let resolver = format!("udp://{at}").parse().unwrap();
    let client = DnsClient::new(resolver, (at, Bootstrap::Given), &options).unwrap();
    Upstream::new(client, ConnectionPolicy::default())
}

async fn ask(at: SocketAddr, count: usize, retries: UdpRetryPolicy) -> Vec<QueryRecord> {
    let deadline = Duration::from_secs(10);
    ask_by(&upstream(at, retries), count, deadline).await
}

async fn ask_by(upstream: &Upstream, count: usize, deadline: Duration) -> Vec<QueryRecord> {
    let questions: Vec<_> = (0..count)
        .map(|number| Question::parse(&format!("q{number}.test"), "A").unwrap())
        .collect();
    let position = MessagePosition {
        first_sequence: 0,
        message_sequence: 0,
        one_by_one: false,
    };
    upstream.ask_several(&questions, position, deadline).await
}

#[tokio::test]
async fn what_is_missing_after_a_try_is_asked_again_and_nothing_else() {
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let at = server.local_addr().unwrap();
    let retries = UdpRetryPolicy::Custom {
        timeout: Duration::from_millis(200),
        try_count: 3,
    };
    // Of four, the second and the last are lost at first, and of those two the first again.
    let serving = serve(&server, &[&[2, 0], &[1], &[0]]);
    let (records, counts) = tokio::join!(ask(at, 4, retries), serving);
    assert_eq!(counts, [4, 2, 1]);
    let attempts: Vec<_> = records.iter().map(|record| record.attempt_count).collect();
    assert_eq!(attempts, [1, 3, 1, 2]);
    for record in &records {
        assert_eq!(record.failure, None, "{:?}", record.failure_detail);
        assert_eq!(record.addresses.len(), 1);
    }
    let indexes: Vec<_> = records
        .iter()
        .map(|record| record.message_facts.partial_response_index)
        .collect();
    assert_eq!(indexes, [Some(1), Some(3), Some(0), Some(2)]);
}

#[tokio::test]
async fn a_resolver_that_says_nothing_to_several_questions_is_asked_one_by_one() {
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let at = server.local_addr().unwrap();
    let serving = async {
        for number in 0..3 {
            let mut query = vec![0; 4_096];
            let (length, from) = server.recv_from(&mut query).await.unwrap();
            if number > 0 {
                let response = respond(&query[..length]);
                server.send_to(&response, from).await.unwrap();
            }
        }
    };
    let (records, ()) = tokio::join!(ask(at, 2, UdpRetryPolicy::None), serving);
    for record in records {
        assert_eq!(record.failure, None, "{:?}", record.failure_detail);
        assert_eq!(record.message_facts.asked_alone, Some(true));
        assert!(record.query_response_time_ns.unwrap() >= 2_000_000_000);
    }
}

#[tokio::test]
async fn a_resolver_that_gave_partial_responses_is_silent_and_does_not_refuse() {
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let upstream = upstream(server.local_addr().unwrap(), UdpRetryPolicy::None);
    let serving = serve(&server, &[&[0, 1], &[], &[1, 0]]);
    let asking = async {
        let mut failures = Vec::new();
        for deadline_ms in [5_000, 200, 5_000] {
            let deadline = Duration::from_millis(deadline_ms);
            for record in ask_by(&upstream, 2, deadline).await {
                assert_eq!(record.message_facts.asked_alone, Some(false));
                failures.push(record.failure);
            }
        }
        failures
    };
    let (failures, counts) = tokio::join!(asking, serving);
    let silent = Some(Failure::QueryTimeout);
    assert_eq!(failures, [None, None, silent, silent, None, None]);
    assert_eq!(counts, [2, 2, 2]);
}
