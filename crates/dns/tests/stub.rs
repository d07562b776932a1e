//! The stub between a plain DNS client and a resolver on loopback.

#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::stub::{edns_query, has_setup, plain_query, start};
use crate::support::{PAUSE, TestResolver, client};
use hickory_proto::op::{Message, ResponseCode};
use resolab_dns::stub::{Stub, StubOptions};
use resolab_dns::{ClientOptions, UdpRetryPolicy};
use resolab_record::{
    ConnectionEnd, ConnectionState, Failure, HandshakeMode, QueryPurpose, QueryRecord, TicketPolicy,
};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

#[tokio::test]
async fn two_queries_at_once_share_one_connection() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for scheme in ["tcp", "tls", "https", "h3", "quic"] {
        let before = resolver.connections();
        let stub = start(resolver.client(scheme, ClientOptions::default()), 5000).await;
        let (first, second) = tokio::join!(stub.ask("A.tEst", 7), stub.ask("b.test", 7));
        assert_eq!(first.queries[0].name().to_ascii(), "A.tEst.");
        assert_eq!((first.metadata.id, first.answers.len()), (7, 1), "{scheme}");
        assert_eq!(second.answers.len(), 1, "{scheme}");
        assert!(first.edns.is_none());
        let records = stub.records(2).await;
        for record in &records {
            assert_eq!(
                record.failure, None,
                "{scheme}: {:?}",
                record.failure_detail
            );
            assert_eq!(record.purpose, QueryPurpose::Forwarded);
            // A TCP connect on loopback may be over before the second query is read.
            let is_cold = record.connection == Some(ConnectionState::Cold);
            assert!(
                is_cold || (scheme == "tcp" && !has_setup(record)),
                "{scheme}"
            );
            let answered_ns = record.forwarded_for.as_ref().unwrap().answered_ns;
            assert!(answered_ns > record.query_response_time_ns, "{scheme}");
        }
        let opened = records.iter().filter(|record| has_setup(record)).count();
        assert_eq!(opened, 1, "{scheme}");
        stub.ask("c.test", 8).await;
        let record = stub.records(1).await.remove(0);
        assert_eq!(
            (record.connection, record.sequence),
            (Some(ConnectionState::Warm), 2)
        );
        assert!(!has_setup(&record));
        assert_eq!(resolver.connections(), before + 1, "{scheme}");
    }
}

#[tokio::test]
async fn a_dead_upstream_is_servfail_within_the_deadline() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let options = ClientOptions {
        ca_file: Some(resolver.ca_file.clone()),
        ..ClientOptions::default()
    };
    for (url, failure) in [
        ("udp://127.0.0.1:9", Failure::QueryRefused),
        ("tls://127.0.0.1:9", Failure::TcpConnectRefused),
        ("quic://127.0.0.1:9", Failure::QuicHandshakeTimeout),
    ] {
        let stub = start(client(url, &options), 300).await;
        let begun = Instant::now();
        let (first, second) = tokio::join!(stub.ask("a.test", 1), stub.ask("b.test", 2));
        assert!(begun.elapsed() < Duration::from_millis(1500), "{url}");
        for reply in [first, second] {
            assert_eq!(
                reply.metadata.response_code,
                ResponseCode::ServFail,
                "{url}"
            );
            assert_eq!(reply.queries.len(), 1);
        }
        for record in stub.records(2).await {
            assert_eq!(
                record.failure,
                Some(failure),
                "{url}: {:?}",
                record.failure_detail
            );
            assert!(record.forwarded_for.unwrap().answered_ns.is_some());
        }
    }
}

#[tokio::test]
async fn a_silent_upstream_is_servfail_and_its_connection_not_used_again() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let stub = start(resolver.client("quic", ClientOptions::default()), 300).await;
    stub.ask("a.test", 1).await;
    let reply = stub.ask("silent.test", 2).await;
    assert_eq!(reply.metadata.response_code, ResponseCode::ServFail);
    stub.ask("a.test", 3).await;
    let records = stub.records(3).await;
    assert_eq!(records[1].failure, Some(Failure::QueryTimeout));
    assert_eq!(records[1].connection, Some(ConnectionState::Warm));
    assert_eq!(records[2].connection, Some(ConnectionState::Cold));
    let end = records[2].connection_facts.previous_connection_end;
    assert_eq!(end, Some(ConnectionEnd::AfterFailure));
    assert_eq!(resolver.connections(), 2);
}

#[tokio::test]
async fn upstream_codes_are_passed_on() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let stub = start(resolver.client("udp", ClientOptions::default()), 5000).await;
    let reply = stub.ask("servfail.test", 1).await;
    assert_eq!(reply.metadata.response_code, ResponseCode::ServFail);
    let record = stub.records(1).await.remove(0);
    assert_eq!(record.failure, Some(Failure::DnsRcode));
    assert_eq!(record.rcode.as_deref(), Some("SERVFAIL"));
}

#[tokio::test]
async fn what_does_not_fit_is_had_by_tcp() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let stub = start(resolver.client("https", ClientOptions::default()), 5000).await;
    let cut = stub.ask("large.test", 1).await;
    assert!(cut.metadata.truncation && cut.answers.is_empty());
    let mut stream = TcpStream::connect(stub.address).await.unwrap();
    for id in [1_u16, 2] {
        let query = plain_query("large.test", id);
        stream.write_u16(query.len() as u16).await.unwrap();
        stream.write_all(&query).await.unwrap();
    }
    for _ in 0..2 {
        let mut reply = vec![0; usize::from(stream.read_u16().await.unwrap())];
        stream.read_exact(&mut reply).await.unwrap();
        let reply = Message::from_vec(&reply).unwrap();
        assert!(matches!(reply.metadata.id, 1 | 2) && !reply.metadata.truncation);
        assert_eq!(reply.answers.len(), 10);
    }
    stub.records(3).await;
}

#[tokio::test]
async fn closing_makes_the_next_query_open_and_forgetting_makes_it_full() {
    let resolver = TestResolver::start(TicketPolicy::EarlyData).await;
    for scheme in ["tls", "https", "h3", "quic"] {
        let options = ClientOptions {
            handshake_mode: HandshakeMode::ZeroRtt,
            ..ClientOptions::default()
        };
        let stub = start(resolver.client(scheme, options), 5000).await;
        let mut modes = Vec::new();
        for (id, forget_tickets) in [(1, false), (2, true), (3, false)] {
            stub.ask("a.test", id).await;
            let record = stub.records(1).await.remove(0);
            assert_eq!(record.connection, Some(ConnectionState::Cold), "{scheme}");
            modes.push(record.handshake_mode.unwrap());
            // Tickets follow the answer.
            tokio::time::sleep(Duration::from_millis(100)).await;
            stub.stub.close_connections(forget_tickets).await;
        }
        let expected = [
            HandshakeMode::Full,
            HandshakeMode::ZeroRtt,
            HandshakeMode::Full,
        ];
        assert_eq!(modes, expected, "{scheme}");
    }
}

#[tokio::test]
async fn closing_fails_what_waits_at_once() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for scheme in ["tls", "https", "h3", "quic"] {
        let stub = start(resolver.client(scheme, ClientOptions::default()), 3000).await;
        let close = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            stub.stub.close_connections(false).await;
        };
        let begun = Instant::now();
        let (reply, ()) = tokio::join!(stub.ask("silent.test", 1), close);
        assert_eq!(reply.metadata.response_code, ResponseCode::ServFail);
        assert!(begun.elapsed() < Duration::from_millis(1500), "{scheme}");
        let failure = stub.records(1).await.remove(0).failure;
        assert_eq!(failure, Some(Failure::QueryConnectionClosed), "{scheme}");
    }
}

#[tokio::test]
async fn closing_does_not_wait_for_a_connection_that_is_being_opened() {
    const DEADLINE_MS: u64 = 4_000;
    // Accepts, and then says nothing.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let silent = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let quic_port = silent.local_addr().unwrap().port();
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let options = ClientOptions {
        ca_file: Some(resolver.ca_file.clone()),
        ..ClientOptions::default()
    };
    for (scheme, port) in [("tls", port), ("quic", quic_port)] {
        let url = format!("{scheme}://{}:{port}", support::HOST);
        let stub = start(client(&url, &options), DEADLINE_MS).await;
        let close = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let begun = Instant::now();
            stub.stub.close_connections(true).await;
            begun.elapsed()
        };
        let begun = Instant::now();
        let (first, second, closing) =
            tokio::join!(stub.ask("a.test", 1), stub.ask("b.test", 2), close);
        let within = Duration::from_millis(DEADLINE_MS / 2);
        assert!(closing < within, "{scheme}: {closing:?}");
        assert!(begun.elapsed() < within, "{scheme}");
        for reply in [first, second] {
            assert_eq!(reply.metadata.response_code, ResponseCode::ServFail);
        }
        for record in stub.records(2).await {
            let failure = Some(Failure::QueryConnectionClosed);
            assert_eq!(record.failure, failure, "{scheme}");
            assert_eq!(record.connection, Some(ConnectionState::Cold));
            assert_eq!(record.query_exchange_start_ns, None);
        }
    }
}

#[tokio::test]
async fn a_query_that_closing_sends_to_a_new_connection_leaves_none_open() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for scheme in ["tls", "https", "h3", "quic"] {
        let stub = start(resolver.client(scheme, ClientOptions::default()), 3000).await;
        stub.ask("a.test", 1).await;
        let close = async {
            tokio::time::sleep(PAUSE / 3).await;
            stub.stub.close_connections(false).await;
            stub.ask("b.test", 3).await
        };
        let (late, _) = tokio::join!(stub.ask("late.test", 2), close);
        assert_eq!(late.answers.len(), 1, "{scheme}");
        let of_last = stub.records(3).await.remove(2);
        assert_eq!(of_last.qname, "b.test.");
        assert_eq!(of_last.connection, Some(ConnectionState::Cold), "{scheme}");
    }
}

#[tokio::test]
async fn closing_forgets_the_round_trips_learnt() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let options = ClientOptions {
        udp_retry_policy: UdpRetryPolicy::Modern,
        ..ClientOptions::default()
    };
    // Longer than a retry takes on loopback, shorter than one where nothing is known.
    let stub = start(resolver.client("udp", options), 600).await;
    for (forget_tickets, sent_count) in [(None, 3), (Some(false), 1), (Some(true), 1)] {
        for id in 0..20 {
            stub.ask("a.test", id).await;
        }
        stub.records(20).await;
        if let Some(forget_tickets) = forget_tickets {
            stub.stub.close_connections(forget_tickets).await;
        }
        stub.ask("silent.test", 1).await;
        let record = stub.records(1).await.remove(0);
        assert_eq!(record.attempt_count, sent_count, "{forget_tickets:?}");
    }
}

/// In order, those of the set-up first.
fn phases(record: &QueryRecord) -> [(Option<u64>, Option<u64>); 3] {
    [
        (record.tcp_connect_start_ns, record.tcp_connect_end_ns),
        (record.tls_handshake_start_ns, record.tls_handshake_end_ns),
        (record.query_exchange_start_ns, record.query_exchange_end_ns),
    ]
}

#[tokio::test]
async fn the_exchange_of_a_query_that_found_its_connection_dead_begins_on_the_next_one() {
    const SILENCE: Duration = Duration::from_millis(100);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("tcp://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        // The first connection takes a second query and ends, late, without an answer.
        for answer_count in [1, 2] {
            let (mut stream, _) = listener.accept().await.unwrap();
            for number in 0..2 {
                let Ok(length) = stream.read_u16().await else {
                    return;
                };
                let mut query = vec![0; usize::from(length)];
                stream.read_exact(&mut query).await.unwrap();
                if number == answer_count {
                    tokio::time::sleep(SILENCE).await;
                    break;
                }
                let answer = support::answer(&query, false).unwrap();
                stream.write_u16(answer.len() as u16).await.unwrap();
                stream.write_all(&answer).await.unwrap();
            }
        }
    });
    let stub = start(client(&url, &ClientOptions::default()), 5000).await;
    stub.ask("a.test", 1).await;
    stub.ask("b.test", 2).await;
    let record = stub.records(2).await.remove(1);
    assert_eq!((record.failure, record.attempt_count), (None, 2));
    assert_eq!(record.connection, Some(ConnectionState::Cold));
    let mut before_ns = SILENCE.as_nanos() as u64;
    for (start_ns, end_ns) in phases(&record)
        .into_iter()
        .filter(|phase| phase.0.is_some())
    {
        assert!(start_ns >= Some(before_ns), "{record:?}");
        before_ns = end_ns.unwrap();
    }
    assert!(record.query_response_time_ns >= Some(before_ns));
}

#[tokio::test]
async fn a_connection_the_resolver_closed_is_opened_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("tcp://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        // One answer a connection.
        while let Ok((mut stream, _)) = listener.accept().await {
            let Ok(length) = stream.read_u16().await else {
                continue;
            };
            let mut query = vec![0; usize::from(length)];
            stream.read_exact(&mut query).await.unwrap();
            let answer = support::answer(&query, false).unwrap();
            stream.write_u16(answer.len() as u16).await.unwrap();
            stream.write_all(&answer).await.unwrap();
        }
    });
    let stub = start(client(&url, &ClientOptions::default()), 5000).await;
    for id in 1..4 {
        let reply = stub.ask("a.test", id).await;
        assert_eq!(reply.metadata.response_code, ResponseCode::NoError);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for (index, record) in stub.records(3).await.into_iter().enumerate() {
        assert_eq!(record.connection, Some(ConnectionState::Cold));
        let end = record.connection_facts.previous_connection_end;
        let expected = (index > 0).then_some(ConnectionEnd::PeerClosed);
        assert_eq!(end, expected);
    }
}

#[tokio::test]
async fn what_is_no_question_is_refused_or_passed_over() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let stub = start(resolver.client("udp", ClientOptions::default()), 5000).await;
    let mut update = plain_query("a.test", 9);
    update[2] |= 5 << 3;
    let reply = stub.ask_raw(&update).await;
    assert_eq!(reply.metadata.response_code, ResponseCode::NotImp);
    let mut future = Message::from_vec(&edns_query("a.test", 9, 1232)).unwrap();
    future.edns.as_mut().unwrap().set_version(1);
    let reply = stub.ask_raw(&future.to_vec().unwrap()).await;
    // 16 is BADVERS in an OPT record, BADSIG elsewhere.
    assert_eq!(u16::from(reply.metadata.response_code), 16);
    assert_eq!(reply.edns.unwrap().version(), 0);
    let mut chaos = plain_query("a.test", 9);
    *chaos.last_mut().unwrap() = 3;
    let reply = stub.ask_raw(&chaos).await;
    // Not FORMERR: nothing is wrong with it (RFC 1035 section 4.1.1).
    assert_eq!(reply.metadata.response_code, ResponseCode::NotImp);
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let mut response = plain_query("a.test", 9);
    response[2] |= 0x80;
    for nonsense in [&b"nonsense"[..], &response] {
        socket.send_to(nonsense, stub.address).await.unwrap();
    }
    let waited = tokio::time::timeout(Duration::from_millis(100), socket.recv(&mut [0; 64])).await;
    assert!(waited.is_err());
}

#[tokio::test]
async fn what_is_under_way_when_the_stub_ends_has_a_record() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for (scheme, failure) in [
        ("udp", Failure::Other),
        ("tcp", Failure::QueryConnectionClosed),
        ("quic", Failure::QueryConnectionClosed),
    ] {
        let stub = start(resolver.client(scheme, ClientOptions::default()), 30_000).await;
        let end = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let begun = Instant::now();
            stub.stub.end().await;
            // Its deadline is far away.
            assert!(begun.elapsed() < Duration::from_secs(10), "{scheme}");
            // Handed over already.
            stub.records.try_recv().unwrap()
        };
        let (reply, record) = tokio::join!(stub.ask("silent.test", 1), end);
        assert_eq!(reply.metadata.response_code, ResponseCode::ServFail);
        let resolab_record::Record::Query(record) = record else {
            panic!("{record:?}");
        };
        assert_eq!(record.qname, "silent.test.");
        assert_eq!(record.failure, Some(failure), "{scheme}");
    }
}

#[tokio::test]
async fn a_stub_on_every_address_answers_from_the_one_that_was_asked() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let client = resolver.client("tcp", ClientOptions::default());
        let (sender, _records) = std::sync::mpsc::channel();
        let options = StubOptions::from(Duration::from_secs(5));
        let stub = Stub::bind(listen.parse().unwrap(), client, options, sender);
        let stub = Arc::new(stub.await.unwrap());
        let port = stub.listen_address().unwrap().port();
        let serving = Arc::clone(&stub);
        tokio::spawn(async move { serving.serve().await });
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        // The kernel drops what comes from elsewhere.
        socket.connect(("127.0.0.9", port)).await.unwrap();
        socket.send(&plain_query("a.test", 1)).await.unwrap();
        let mut reply = [0; 512];
        let received = socket.recv(&mut reply);
        let received = tokio::time::timeout(Duration::from_secs(5), received).await;
        assert!(received.unwrap().unwrap() > 12, "{listen}");
    }
}
