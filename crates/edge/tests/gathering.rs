//! The stub that gathers queries into one message, in front of the edge.
#![allow(clippy::unwrap_used)]

use crate::support::ours::{NAMES, client, server};
use crate::support::{Lab, query_for};
use hickory_proto::op::Message;
use resolab_dns::ClientOptions;
use resolab_dns::stub::{Stub, StubOptions};
use resolab_record::{QueryRecord, Record};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(10);

struct Standing {
    socket: UdpSocket,
    stub: Arc<Stub>,
    records: Receiver<Record>,
}

/// A stub over DoQ whose clients' queries wait for each other, and a client of it.
async fn start(lab: &Lab) -> Standing {
    let client = client(lab, "quic", server(lab, "quic"), ClientOptions::default());
    let options = StubOptions {
        gather: Some(Duration::from_millis(100)),
        ..StubOptions::from(DEADLINE)
    };
    let (sender, records) = channel();
    let listen = "127.0.0.1:0".parse().unwrap();
    let stub = Arc::new(Stub::bind(listen, client, options, sender).await.unwrap());
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket
        .connect(stub.listen_address().unwrap())
        .await
        .unwrap();
    let serving = Arc::clone(&stub);
    tokio::spawn(async move { serving.serve().await });
    Standing {
        socket,
        stub,
        records,
    }
}

impl Standing {
    /// Ids of the responses to queries for these names, numbered from 1, in the order they came.
    async fn ask(&self, labels: &[&str]) -> Vec<u16> {
        for (id, label) in (1..).zip(labels) {
            let query = query_for(&format!("{label}.resolab.test"), id);
            self.socket.send(&query).await.unwrap();
        }
        let mut ids = Vec::new();
        for _ in labels {
            let mut buffer = vec![0; 2_000];
            let received = timeout(DEADLINE, self.socket.recv(&mut buffer)).await;
            let response = Message::from_vec(&buffer[..received.unwrap().unwrap()]).unwrap();
            assert_eq!(response.answers.len(), 1);
            ids.push(response.metadata.id);
        }
        ids
    }

    async fn records(&self) -> Vec<QueryRecord> {
        timeout(DEADLINE, self.stub.queries_ended()).await.unwrap();
        let records = self.records.try_iter();
        let mut queries: Vec<_> = records
            .filter_map(|record| {
                let Record::Query(query) = record else {
                    return None;
                };
                Some(*query)
            })
            .collect();
        queries.sort_by_key(|query| query.sequence);
        queries
    }
}

#[tokio::test]
async fn queries_that_come_together_leave_together_and_each_is_answered_as_soon_as_it_can_be() {
    let lab = Lab::start_with("", NAMES).await;
    let standing = start(&lab).await;
    let ids = standing.ask(&["a", "slow", "b"]).await;
    assert_eq!(ids[2], 2, "the slow one holds up no other: {ids:?}");
    let records = standing.records().await;
    let facts: Vec<_> = records
        .iter()
        .map(|record| {
            let facts = &record.message_facts;
            (
                facts.message_sequence,
                facts.message_question_count,
                facts.partial_response_index,
                facts.asked_alone,
            )
        })
        .collect();
    let in_message = |index| (Some(0), Some(3), Some(index), Some(false));
    assert_eq!(facts, [in_message(0), in_message(1), in_message(0)]);
    assert!(records.iter().all(|record| record.forwarded_for.is_some()));
    let openers = records
        .iter()
        .filter(|record| record.quic_handshake_start_ns.is_some());
    assert_eq!(openers.count(), 1);
    assert_eq!(lab.queries(3).await.len(), 3);
    // The next one begins another message, and is alone in it.
    assert_eq!(standing.ask(&["c"]).await, [1]);
    let facts = standing.records().await.remove(0).message_facts;
    assert_eq!(facts.message_sequence, Some(1));
    assert_eq!(facts.message_question_count, Some(1));
    assert_eq!(facts.asked_alone, Some(true));
}

#[tokio::test]
async fn a_resolver_that_refuses_is_asked_one_by_one_and_not_waited_for_again() {
    let lab = Lab::start_with("partial_responses = false", NAMES).await;
    let standing = start(&lab).await;
    assert_eq!(standing.ask(&["a", "b"]).await.len(), 2);
    for record in standing.records().await {
        assert_eq!(record.failure, None);
        assert_eq!(record.message_facts.asked_alone, Some(true));
        assert_eq!(record.attempt_count, 2);
    }
    assert_eq!(standing.ask(&["c", "d"]).await.len(), 2);
    for record in standing.records().await {
        let facts = record.message_facts;
        assert_eq!(facts.message_sequence, None);
        assert_eq!(facts.message_question_count, Some(1));
        assert_eq!(facts.asked_alone, Some(true));
        assert_eq!(record.attempt_count, 1);
    }
    // Closing forgets it, whether tickets are kept or not.
    for forget_tickets in [false, true] {
        standing.stub.close_connections(forget_tickets).await;
        assert_eq!(standing.ask(&["a", "b"]).await.len(), 2);
        for record in standing.records().await {
            assert_eq!(record.message_facts.message_question_count, Some(2));
            assert_eq!(record.attempt_count, 2);
        }
    }
}
