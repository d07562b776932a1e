//! The stub between a plain DNS client and a resolver on loopback.

#![allow(clippy::unwrap_used)]

mod support;

use hickory_proto::op::{Edns, Message, ResponseCode};
use hickory_proto::rr::rdata::opt::{ClientSubnet as SubnetOption, EdnsCode, EdnsOption};
use resolab_dns::edns::QueryEdns;
use resolab_dns::message::{build_query, check_echo};
use resolab_dns::stub::{ConnectionPolicy, Stub, StubOptions};
use resolab_dns::{ClientOptions, DnsClient, EdnsOptions, Question};
use resolab_record::{
    ConnectionEnd, ConnectionState, CookieState, Failure, HandshakeMode, QueryPurpose, QueryRecord,
    Record, TicketPolicy,
};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use support::{TestResolver, client};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::mpsc;

struct Running {
    stub: Arc<Stub>,
    address: SocketAddr,
    records: Receiver<Record>,
}

async fn start(client: DnsClient, deadline_ms: u64) -> Running {
    start_with(client, deadline_ms, ConnectionPolicy::default()).await
}

async fn start_with(client: DnsClient, deadline_ms: u64, connections: ConnectionPolicy) -> Running {
    let (sender, records) = channel();
    let listen = "127.0.0.1:0".parse().unwrap();
    let options = StubOptions {
        deadline: Duration::from_millis(deadline_ms),
        connections,
    };
    let stub = Arc::new(Stub::bind(listen, client, options, sender).await.unwrap());
    let address = stub.listen_address().unwrap();
    let serving = Arc::clone(&stub);
    tokio::spawn(async move { serving.serve().await });
    Running {
        stub,
        address,
        records,
    }
}

impl Running {
    async fn ask(&self, name: &str, id: u16) -> Message {
        self.ask_raw(&plain_query(name, id)).await
    }

    async fn ask_raw(&self, query: &[u8]) -> Message {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.send_to(query, self.address).await.unwrap();
        let mut buffer = vec![0; 4096];
        let received = tokio::time::timeout(Duration::from_secs(5), socket.recv(&mut buffer));
        let length = received.await.unwrap().unwrap();
        check_echo(query, &buffer[..length]).unwrap();
        Message::from_vec(&buffer[..length]).unwrap()
    }

    async fn records(&self, count: usize) -> Vec<QueryRecord> {
        let mut found = Vec::new();
        let give_up = Instant::now() + Duration::from_secs(5);
        while found.len() < count && Instant::now() < give_up {
            match self.records.try_recv() {
                Ok(Record::Query(record)) => found.push(*record),
                _ => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
        assert_eq!(found.len(), count);
        found
    }
}

/// As an old stub resolver asks: no EDNS.
fn plain_query(name: &str, id: u16) -> Vec<u8> {
    let question = Question::parse(name, "A").unwrap();
    let mut query =
        Message::from_vec(&build_query(&question, id, &QueryEdns::default()).unwrap()).unwrap();
    query.edns = None;
    query.to_vec().unwrap()
}

fn has_setup(record: &QueryRecord) -> bool {
    record.tcp_connect_end_ns.is_some() || record.quic_handshake_end_ns.is_some()
}

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
async fn a_cold_stub_opens_a_connection_for_each_query() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let policy = ConnectionPolicy {
        is_cold: true,
        ..ConnectionPolicy::default()
    };
    for scheme in ["tcp", "tls", "https", "h3", "quic"] {
        let before = resolver.connections();
        let client = resolver.client(scheme, ClientOptions::default());
        let stub = start_with(client, 5000, policy).await;
        let (first, second) = tokio::join!(stub.ask("a.test", 1), stub.ask("b.test", 2));
        let third = stub.ask("c.test", 3).await;
        for reply in [first, second, third] {
            assert_eq!(reply.answers.len(), 1, "{scheme}");
        }
        for record in stub.records(3).await {
            assert_eq!(record.connection, Some(ConnectionState::Cold), "{scheme}");
            assert!(has_setup(&record), "{scheme}");
            assert_eq!(record.connection_facts.previous_connection_end, None);
        }
        assert_eq!(resolver.connections(), before + 3, "{scheme}");
    }
}

#[tokio::test]
async fn a_connection_has_so_many_queries_and_no_more() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let policy = ConnectionPolicy {
        max_queries_count: NonZeroU32::new(2),
        ..ConnectionPolicy::default()
    };
    for scheme in ["tcp", "https", "quic"] {
        let before = resolver.connections();
        let client = resolver.client(scheme, ClientOptions::default());
        let stub = start_with(client, 5000, policy).await;
        for id in 0..5 {
            assert_eq!(stub.ask("a.test", id).await.answers.len(), 1, "{scheme}");
        }
        let records = stub.records(5).await;
        let opened: Vec<_> = records.iter().map(has_setup).collect();
        assert_eq!(opened, [true, false, true, false, true], "{scheme}");
        let end = records[2].connection_facts.previous_connection_end;
        assert_eq!(end, Some(ConnectionEnd::QueryLimit), "{scheme}");
        assert_eq!(resolver.connections(), before + 3, "{scheme}");
    }
}

/// Answers any number of queries a connection; sends how long after its last answer the client closed
/// each.
async fn tcp_resolver(ends: mpsc::UnboundedSender<Duration>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("tcp://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let ends = ends.clone();
            tokio::spawn(async move {
                let mut last = Instant::now();
                while let Ok(length) = stream.read_u16().await {
                    let mut query = vec![0; usize::from(length)];
                    stream.read_exact(&mut query).await.unwrap();
                    let answer = support::answer(&query, false).unwrap();
                    stream.write_u16(answer.len() as u16).await.unwrap();
                    stream.write_all(&answer).await.unwrap();
                    last = Instant::now();
                }
                ends.send(last.elapsed()).unwrap();
            });
        }
    });
    url
}

#[tokio::test]
async fn connections_are_closed_when_idle_and_after_a_cold_query() {
    const IDLE: Duration = Duration::from_millis(400);
    for (is_cold, least) in [(false, IDLE.mul_f64(0.9)), (true, Duration::ZERO)] {
        let (ends, mut closed) = mpsc::unbounded_channel();
        let client = client(&tcp_resolver(ends).await, &ClientOptions::default());
        let policy = ConnectionPolicy {
            is_cold,
            idle_timeout: Some(IDLE),
            ..ConnectionPolicy::default()
        };
        let stub = start_with(client, 5000, policy).await;
        for (id, pause_ms) in [(1, 0), (2, 100)] {
            tokio::time::sleep(Duration::from_millis(pause_ms)).await;
            stub.ask("a.test", id).await;
        }
        let idle = tokio::time::timeout(Duration::from_secs(5), closed.recv()).await;
        let idle = idle.unwrap().unwrap();
        assert!(idle >= least, "{is_cold} {idle:?}");
        stub.ask("a.test", 3).await;
        let record = stub.records(3).await.remove(2);
        assert_eq!(record.connection, Some(ConnectionState::Cold));
        let end = record.connection_facts.previous_connection_end;
        let expected = (!is_cold).then_some(ConnectionEnd::IdleTimeout);
        assert_eq!(end, expected);
    }
}

/// A query with all that a client may say in it.
fn edns_query(name: &str, id: u16, payload_bytes: u16) -> Vec<u8> {
    let question = Question::parse(name, "A").unwrap();
    let plain = build_query(&question, id, &QueryEdns::default()).unwrap();
    let mut query = Message::from_vec(&plain).unwrap();
    query.metadata.checking_disabled = true;
    let edns = query.edns.as_mut().unwrap();
    edns.set_max_payload(payload_bytes).set_dnssec_ok(true);
    let subnet = SubnetOption::new([192, 0, 2, 0].into(), 24, 0);
    edns.options_mut().insert(EdnsOption::Subnet(subnet));
    let cookie = EdnsOption::Unknown(EdnsCode::Cookie.into(), b"private!".to_vec());
    edns.options_mut().insert(cookie);
    query.to_vec().unwrap()
}

#[tokio::test]
async fn what_a_client_says_goes_upstream_but_for_its_cookie() {
    let upstream = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let url = format!("udp://{}", upstream.local_addr().unwrap());
    let stub = start(client(&url, &ClientOptions::default()), 5000).await;
    for (payload_bytes, forwarded_bytes) in [(4096, 1232), (700, 700), (100, 512)] {
        let serve = async {
            let mut buffer = [0; 4096];
            let (length, from) = upstream.recv_from(&mut buffer).await.unwrap();
            let seen = Message::from_vec(&buffer[..length]).unwrap();
            let mut answer = Message::from_vec(&support::answer(&buffer[..length], true).unwrap());
            let answer = answer.as_mut().unwrap();
            answer.metadata.authentic_data = true;
            let mut edns = Edns::new();
            let subnet = SubnetOption::new([192, 0, 2, 0].into(), 24, 20);
            edns.options_mut().insert(EdnsOption::Subnet(subnet));
            answer.edns = Some(edns);
            upstream
                .send_to(&answer.to_vec().unwrap(), from)
                .await
                .unwrap();
            seen
        };
        let query = edns_query("A.tEst", 7, payload_bytes);
        let (reply, seen) = tokio::join!(stub.ask_raw(&query), serve);
        assert_eq!(seen.queries[0].name().to_ascii(), "A.tEst.");
        assert!(seen.metadata.checking_disabled);
        let edns = seen.edns.unwrap();
        assert!(edns.flags().dnssec_ok);
        assert_eq!(edns.max_payload(), forwarded_bytes);
        let subnet = SubnetOption::new([192, 0, 2, 0].into(), 24, 0);
        let codes: Vec<_> = edns
            .options()
            .options
            .iter()
            .map(|(_, o)| o.clone())
            .collect();
        assert_eq!(codes, [EdnsOption::Subnet(subnet)]);
        assert!(reply.metadata.authentic_data && reply.metadata.checking_disabled);
        let edns = reply.edns.unwrap();
        assert!(edns.flags().dnssec_ok);
        let Some(EdnsOption::Subnet(subnet)) = edns.option(EdnsCode::Subnet) else {
            panic!("the reply has no client subnet");
        };
        assert_eq!(subnet.scope_prefix(), 20);
        let record = stub.records(1).await.remove(0);
        assert_eq!(record.edns_udp_payload_bytes, Some(forwarded_bytes));
        assert_eq!(record.ecs_sent.as_deref(), Some("192.0.2.0/24"));
        assert_eq!(record.cookie_sent, None);
    }
}

#[tokio::test]
async fn the_stub_s_own_subnet_is_for_those_who_give_none() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let options = ClientOptions {
        edns: EdnsOptions {
            client_subnet: Some("198.51.100.0/24".parse().unwrap()),
            has_cookie: true,
            ..EdnsOptions::default()
        },
        ..ClientOptions::default()
    };
    let stub = start(resolver.client("quic", options), 5000).await;
    let reply = stub.ask("a.test", 1).await;
    assert!(reply.edns.is_none());
    stub.ask_raw(&edns_query("a.test", 2, 700)).await;
    let records = stub.records(2).await;
    assert_eq!(records[0].ecs_sent.as_deref(), Some("198.51.100.0/24"));
    assert_eq!(records[1].ecs_sent.as_deref(), Some("192.0.2.0/24"));
    for record in records {
        assert_eq!(record.cookie_sent, Some(CookieState::ClientOnly));
        assert_eq!(record.edns_udp_payload_bytes, Some(1232));
        assert_eq!(record.query_bytes, 128);
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
    assert_eq!(reply.metadata.response_code, ResponseCode::FormErr);
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let mut response = plain_query("a.test", 9);
    response[2] |= 0x80;
    for nonsense in [&b"nonsense"[..], &response] {
        socket.send_to(nonsense, stub.address).await.unwrap();
    }
    let waited = tokio::time::timeout(Duration::from_millis(100), socket.recv(&mut [0; 64])).await;
    assert!(waited.is_err());
}
